"""The documentation: every example runs, and every subject in it has the verdict that its comment says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dpaudit as dp
from dpaudit.subjects.targets import NothingToCheck, subjects_of

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATED = re.compile(r"^def (\w+)\(.*?# (certified|refuted|unproven)$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"\.verdict\)  # (certified|refuted|unproven)$", re.MULTILINE)
PAGES = sorted(
    str(page.relative_to(DOCS))
    for page in DOCS.rglob("*.md")
    if not {"guide", "reference", "tutorial.md"} & set(page.parts)
    and BLOCK.search(page.read_text(encoding="utf-8"))  # the guide and the tutorial: test_readme.py
)
FILED = re.compile(r"<!-- (?:example|append): (\w+\.py) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_and_its_verdicts_are_true(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n\n".join(BLOCK.findall((DOCS / page).read_text(encoding="utf-8")))
    (tmp_path / "page.py").write_text(source, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "page.py")]
    (tmp_path / "run").mkdir()  # its ledgers stay there: loaded again for its subjects, the page starts with new ones
    done = subprocess.run(
        command,
        cwd=tmp_path / "run",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = [line for line in done.stdout.splitlines() if line in {"certified", "refuted", "unproven"}]
    assert printed == PRINTED.findall(source)
    monkeypatch.chdir(tmp_path)
    stated = dict(STATED.findall(source))
    try:
        subjects = {subject.name: subject for subject in subjects_of("page.py")} if stated else {}
    except NothingToCheck:
        subjects = {}
    assert set(stated) == set(subjects)
    for name, verdict in stated.items():
        assert dp.audit(subjects[name], samples=100, seed=1).verdict == verdict, name


@pytest.mark.slow
def test_the_subjects_of_the_tutorial_have_the_verdicts_that_their_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, str] = {}
    for name, code in FILED.findall((DOCS / "tutorial.md").read_text(encoding="utf-8")):
        files[name] = files.get(name, "") + "\n\n" + code
    monkeypatch.chdir(tmp_path)
    found = {}
    for name, source in files.items():
        stated = dict(STATED.findall(source))
        Path(name).write_text(source, encoding="utf-8")
        for subject in subjects_of(name) if stated else []:
            found[subject.name] = stated[subject.name], dp.audit(subject, samples=1000, seed=1).verdict
    assert len(found) == 6
    assert all(stated == verdict for stated, verdict in found.values()), found


VARIES = re.compile(r"\d+(\.\d+)? ?s\b|\b[0-9a-f]{16}…|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")  # seconds, keys, times of signing


def load(name: str) -> ModuleType:
    """A script of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ci_gate", "engineer", "reviewer"])
def test_a_notebook_runs_and_shows_what_its_cells_print(name: str) -> None:
    path = DOCS / "notebooks" / f"{name}.ipynb"
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    shown = ["".join("".join(output["text"]) for output in cell["outputs"]) for cell in cells]
    assert [VARIES.sub("…", text) for text in shown] == [VARIES.sub("…", text) for text in load("run_notebooks").outputs(path)]


def test_a_cell_is_run_as_jupyter_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_cell, names = load("run_notebooks").run_cell, {}
    assert run_cell("%%writefile a.txt\ntwo\nlines", names) == "Writing a.txt\n"
    assert run_cell("!cat a.txt\n!false", names) == "two\nlines\n"
    assert run_cell("x = 3\nprint('x')\nx + 1", names) == "x\n4\n"
    assert run_cell("x = 4", names) == ""
    with pytest.raises(ZeroDivisionError):
        run_cell("1 / 0", names)


def test_the_reference_has_every_public_name_with_a_text() -> None:
    build = load("build")
    page = build.python_names()
    entries = dict(re.findall(r"^#{2,3} ([\w.]+)\n\n```text\n.*?\n```\n\n(.*?)$", page, re.MULTILINE | re.DOTALL))
    assert {f"dp.{name}" for name in dp.__all__} <= set(entries)
    assert {"channel.release", "channel.above", "dp.Verdict.to_json", "dpaudit.training.recorded"} <= set(entries)
    assert not [name for name, text in entries.items() if not text.strip()]
    assert {f"rules/{rule}.md" for rule in ("DPA001", "DPA009", "certified")} <= set(build.rules())


RECIPES = (
    "count", "histogram", "mean", "quantile", "noisy max", "sparse vector", "group-by", "tree", "survey", "RAPPOR", "regression",
    "DP-SGD", "bandit", "another library",
)  # fmt: skip


def test_every_mechanism_that_people_write_has_a_recipe_that_is_certified() -> None:
    index = (DOCS / "recipes" / "index.md").read_text(encoding="utf-8")
    listed = {name: (page, anchor) for name, page, anchor in re.findall(r"\[([\w -]+)\]\((\w+\.md)#([\w-]+)\)", index)}
    assert set(listed) == set(RECIPES)
    assert {page for page, _ in listed.values()} == {page.name for page in (DOCS / "recipes").glob("*.md")} - {"index.md"}
    for name, (page, anchor) in listed.items():
        sections = re.split(r"^## (.*)$", (DOCS / "recipes" / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
        texts = {
            re.sub(r"[^\w]+", "-", title.lower()).strip("-"): text
            for title, text in zip(sections[1::2], sections[2::2], strict=True)
        }
        assert "# certified" in texts[anchor], name
