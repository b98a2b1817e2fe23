"""The figures of ``make tree``: counted right on a small tree, true in ARCHITECTURE.md, and within their limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
RENEW = "run `make tree`"
LINES = "lines in dpaudit/"
TOLERANCE = 0.02  # of the lines: they change with every commit

FILES = {
    "pyproject.toml": '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["dpaudit.top", "dpaudit.noise"]\n',
    "README.md": "Use `dp.audit`, or `seal`.",
    "tests/contract/test_face.py": 'PUBLIC = ["Claim"]\n',
    "dpaudit/__init__.py": '__all__ = ["Claim", "audit", "hidden", "seal"]\n',
    "dpaudit/cli.py": "class Plan: ...\n",
    "dpaudit/noise/__init__.py": "",
    "dpaudit/noise/laplace.py": 'class Laplace:\n    name: ClassVar[str] = "laplace"\n\nINSIDE = noise.name == "laplace"\n',
    "dpaudit/noise/bits.py": 'class Bits:\n    name = "bits"\n\nclass Nameless: ...\n',
    "dpaudit/top/__init__.py": "",
    "dpaudit/top/bits.py": "class Plan: ...\n",
    "dpaudit/top/switches.py": """
if noise.name == "laplace" or release.facts["mechanism"] != "bits": ...
if mechanism in ("other", "bits"): ...
if isinstance(noise, Laplace | int) or isinstance(noise, (int, noise.Bits)): ...
if type(noise) is Laplace: ...
match noise:
    case "bits" | "other": ...
    case Laplace(): ...
    case "other": ...
if noise.name == "other" or isinstance(noise, Nameless) or noise == Laplace(1): ...
""",
    "algorithms/bits.py": "class Plan: ...\n",
    "proofs_checks/paper/long.py": "def exactly():\n" + 39 * "    x\n" + "def more():\n" + 40 * "    x\n",
}


@pytest.fixture(scope="session")
def tree(benchmark_module: Callable[[str], ModuleType]) -> Any:
    return benchmark_module("tree")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_small_tree_is_counted_right(tree: Any, small: Path) -> None:
    rows = {row.measure: row for row in tree.measure(small)}
    assert {measure: row.now for measure, row in rows.items()} == {
        "loose modules in dpaudit/": 1,
        "modules in the largest folder": 2,
        "the same in proofs_checks/": 1,
        "layers, held by import-linter": 2,
        "functions of more than 40 lines": 1,
        "mechanism switches outside noise/": 8,
        "module stems twice in one package": 1,
        "class names twice in one package": 1,
        "public names (`dp.…`)": 4,
        "of them in neither contract nor README": 1,
        LINES: sum(len(text.splitlines()) for name, text in FILES.items() if name.startswith("dpaudit")),
    }
    assert rows["functions of more than 40 lines"].names == ("proofs_checks/paper/long.py: more (41)",)
    assert rows["class names twice in one package"].names == ("Plan: dpaudit/cli.py, dpaudit/top/bits.py",)
    assert rows["of them in neither contract nor README"].names == ("hidden",)
    assert rows["mechanism switches outside noise/"].names[0] == "dpaudit/top/switches.py:2"


def test_the_table_replaces_what_stands_between_the_markers(tree: Any) -> None:
    page = "above\n<!-- tree -->\nold\n<!-- /tree -->\nbelow\n"
    once = tree.put_into(page, "| new |")
    assert once == "above\n<!-- tree -->\n| new |\n<!-- /tree -->\nbelow\n"
    assert tree.put_into(once, "| new |") == once
    with pytest.raises(ValueError, match="<!-- tree -->"):
        tree.put_into("no markers", "| new |")


@pytest.fixture(scope="session")
def rows(tree: Any) -> dict[str, Any]:
    return {row.measure: row for row in tree.measure(ROOT)}


def test_the_table_in_the_page_is_that_of_this_tree(tree: Any, rows: dict[str, Any]) -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- tree -->")[2].partition("<!-- /tree -->")[0].strip().splitlines()
    now = tree.table(rows.values()).splitlines()
    assert [line for line in shown if LINES not in line] == [line for line in now if LINES not in line], RENEW
    written = next(int(line.split("|")[3].replace(",", "")) for line in shown if LINES in line)
    assert written == pytest.approx(rows[LINES].now, rel=TOLERANCE), RENEW


@pytest.mark.parametrize(
    ("measure", "limit"),
    [
        ("loose modules in dpaudit/", 8),
        ("modules in the largest folder", 12),
        ("the same in proofs_checks/", 12),
        ("functions of more than 40 lines", 9),
    ],
)
def test_the_tree_keeps_its_limits(measure: str, limit: int, rows: dict[str, Any]) -> None:
    assert rows[measure].limit == limit
    assert rows[measure].now <= limit, rows[measure].names
