"""`dpaudit` alone looks at the folder."""

from __future__ import annotations

from pathlib import Path

from dpaudit.commands.start.next_steps import next_steps


def first(folder: Path) -> str:
    return next_steps(folder).splitlines()[2].strip()


def test_the_first_step_is_the_next_one(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # so that nothing above is looked at
    assert first(tmp_path).startswith("dpaudit init")
    (tmp_path / "mine.py").write_text("import dpaudit as dp\n@dp.subject(claim=None)\ndef f(): ...\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("x = 1\n", encoding="utf-8")
    told = next_steps(tmp_path)
    assert "dpaudit audit mine.py" in told
    assert "other.py" not in told
    table = '[tool.dpaudit.budgets.mine]\nsubject = "mine.py:f"\nepsilon = "1"\ndelta = "0"\n'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert first(tmp_path).startswith("dpaudit check")


def test_a_configuration_that_is_wrong_is_to_be_mended_first(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.dpaudit]\nbudgts = 1\n", encoding="utf-8")
    assert next_steps(tmp_path).startswith("first mend pyproject.toml")
