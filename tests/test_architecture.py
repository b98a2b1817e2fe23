"""ARCHITECTURE.md is true: its folders and layers are those of the tree, and each row of "To add" has a test that follows it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
TOOLKIT = ROOT / "dpaudit"


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    section = PAGE.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_folder_of_the_toolkit_has_its_sentence() -> None:
    folders = {folder.name for folder in TOOLKIT.iterdir() if folder.is_dir() and (folder / "__init__.py").exists()}
    assert {row[0] for row in rows("The folders of dpaudit/")} == folders - {"schemas"}


def test_the_layers_are_those_that_the_linter_holds() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    held = [{name.removeprefix("dpaudit.") for name in re.split(r"\s*\|\s*", layer)} for layer in layers]
    text = " ".join(PAGE.split("## Layers", 1)[1].split("\n## ", 1)[0].split())
    shown = re.search(r"hold.*?: (cli.*?claims)\.", text)
    assert shown is not None
    assert [set(re.split(r"\s*[,|]\s*", layer)) for layer in shown[1].split(" → ")] == held


@pytest.mark.parametrize("row", rows("To add …"), ids=lambda row: row[0])
def test_each_way_to_extend_names_real_places_and_a_test_that_follows_it(row: list[str]) -> None:
    _, touch, shown = row
    places = [place for place in re.findall(r"`([\w./]+)`", touch) if place != "known"]
    assert places
    assert all((ROOT / place).exists() for place in places)
    test = (ROOT / shown.strip("`")).read_text(encoding="utf-8")
    assert re.search(r"def test_\w*(new|toy|registered|somebody)\w*", test)


def test_the_page_fits_a_page() -> None:
    """A map that scrolls is none: what it says in words stays under a hundred lines."""
    assert len(PAGE.split("## The tree in figures", 1)[0].splitlines()) <= 100


def test_every_module_that_the_page_names_is_there() -> None:
    prose = PAGE.split("## The folders", 1)[1].split("## Layers", 1)[0]
    named = set(re.findall(r"`([\w/]+\.py)`", prose))
    modules = [file.relative_to(ROOT).as_posix() for file in TOOLKIT.rglob("*.py")]
    assert len(named) > 8
    assert [name for name in named if not any(module.endswith(f"/{name}") for module in modules)] == []
