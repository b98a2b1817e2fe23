"""A target runs from its source: bytecode of other code, forged or stale, is not run in its place."""

from __future__ import annotations

import importlib.util
import marshal
import os
import py_compile
import sys
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.subjects.bytecode import foreign_bytecode, is_installed
from dpaudit.subjects.targets import TargetError, subjects_of

SUBJECT = """
import dpaudit as dp
from forged_helper import SCALE

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=100, low=-1, high=1))
def noisy_sum(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=SCALE), sensitivity=2)
"""
LEAKY, HONEST = "SCALE = 1\n", "SCALE = 2\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A helper with too little noise. It is imported anew by each test."""
    monkeypatch.delitem(sys.modules, "forged_helper", raising=False)
    (tmp_path / "mine.py").write_text(SUBJECT, encoding="utf-8")
    (tmp_path / "forged_helper.py").write_text(LEAKY, encoding="utf-8")
    return tmp_path


def forge(file: Path, source: str, kind: str) -> Path:
    """Bytecode of another source, which Python takes for that of the file."""
    cache = Path(importlib.util.cache_from_source(str(file)))
    cache.parent.mkdir(exist_ok=True)
    real, facts = file.read_bytes(), file.stat()
    head = {
        "time": bytes(4) + int(facts.st_mtime).to_bytes(4, "little") + facts.st_size.to_bytes(4, "little"),
        "unchecked": (1).to_bytes(4, "little") + bytes(8),
        "checked": (3).to_bytes(4, "little") + importlib.util.source_hash(real),
    }[kind]
    cache.write_bytes(importlib.util.MAGIC_NUMBER + head + marshal.dumps(compile(source, str(file), "exec")))
    return cache


@pytest.mark.parametrize("kind", ["time", "unchecked", "checked"])
def test_forged_bytecode_of_an_imported_module_is_refused(
    project: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = forge(project / "forged_helper.py", HONEST, kind)
    assert foreign_bytecode([project / "forged_helper.py"]) == project / "forged_helper.py"
    assert main(["audit", str(project / "mine.py"), "--seed", "1"]) == 2
    assert "bytecode of forged_helper.py" in capsys.readouterr().err
    cache.unlink()  # the twin: its source is refuted
    monkeypatch.delitem(sys.modules, "forged_helper")
    assert main(["audit", str(project / "mine.py"), "--seed", "1"]) == 1


@pytest.mark.parametrize("kind", ["time", "unchecked", "checked"])
def test_forged_bytecode_of_the_target_is_not_even_read(project: Path, kind: str) -> None:
    forge(project / "mine.py", SUBJECT.replace('"1"', '"9"'), kind)
    (subject,) = subjects_of(str(project / "mine.py"))
    assert subject.claim.epsilon == 1


@pytest.mark.parametrize("kind", ["time", "unchecked", "checked"])
def test_bytecode_beside_a_source_that_cannot_be_compiled_is_refused(project: Path, kind: str) -> None:
    helper = project / "forged_helper.py"
    helper.write_text("SCALE = = 2\n", encoding="utf-8")
    assert foreign_bytecode([helper]) is None  # the twin: an import fails, and says so
    forge(helper, HONEST, kind)
    with pytest.raises(TargetError, match=r"bytecode of forged_helper\.py"):
        subjects_of(str(project / "mine.py"))


def test_bytecode_of_the_source_and_stale_bytecode_are_no_reason(project: Path) -> None:
    helper = project / "forged_helper.py"
    py_compile.compile(str(helper), doraise=True)
    assert foreign_bytecode([helper]) is None
    helper.write_text(HONEST + "# longer\n", encoding="utf-8")  # Python compiles this anew
    assert foreign_bytecode([helper]) is None
    assert len(subjects_of(str(project / "mine.py"))) == 1


def test_an_edit_within_the_same_second_is_noticed(project: Path) -> None:
    helper = project / "forged_helper.py"
    py_compile.compile(str(helper), doraise=True)
    facts = helper.stat()
    helper.write_text(HONEST, encoding="utf-8")
    os.utime(helper, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with pytest.raises(TargetError, match=r"bytecode of forged_helper\.py"):
        subjects_of(str(project / "mine.py"))


def test_what_is_installed_is_the_lock_file_s_business(project: Path) -> None:
    assert is_installed(Path(pytest.__file__).resolve())
    assert is_installed(Path(os.__file__).resolve())
    assert not is_installed(project / "mine.py")
