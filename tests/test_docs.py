"""The documentation: every example runs, and every subject in it has the verdict that its comment says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.subjects.targets import NothingToCheck, subjects_of

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATED = re.compile(r"^def (\w+)\(.*?# (certified|refuted|unproven)$", re.MULTILINE | re.DOTALL)
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if BLOCK.search(page.read_text(encoding="utf-8")))


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
    monkeypatch.chdir(tmp_path)
    stated = dict(STATED.findall(source))
    try:
        subjects = {subject.name: subject for subject in subjects_of("page.py")} if stated else {}
    except NothingToCheck:
        subjects = {}
    assert set(stated) == set(subjects)
    for name, verdict in stated.items():
        assert dp.audit(subjects[name], samples=100, seed=1).verdict == verdict, name


def test_every_recipe_is_listed() -> None:
    index = (DOCS / "recipes" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (DOCS / "recipes").glob("*.md")} - {"index.md"}
    assert set(re.findall(r"\((\w+\.md)\)", index)) == pages
