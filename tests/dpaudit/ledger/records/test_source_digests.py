"""A ledger says which code wrote it: digests of sources that anybody can recompute, and no path."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import dpaudit
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger, TamperedLedger, canonical, export_jsonl, open_ledger, verify
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.records.source_digests import _own_digest, digest, sources
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.memory import MemoryEntries


def a_folder(path: Path, text: str) -> Path:
    (path / "part").mkdir(parents=True)
    (path / "b.py").write_text(text)
    (path / "part" / "a.py").write_text("x = 2\n")
    (path / "notes.txt").write_text("not code")
    return path


def test_the_digest_of_a_folder_is_as_documented(tmp_path: Path) -> None:
    folder, whole = a_folder(tmp_path / "one", "x = 1\n"), hashlib.sha256()
    for name, text in (("b.py", b"x = 1\n"), ("part/a.py", b"x = 2\n")):
        whole.update(name.encode() + b"\0" + hashlib.sha256(text).digest())
    assert digest(folder) == whole.hexdigest()
    assert digest(folder / "b.py") == hashlib.sha256(b"x = 1\n").hexdigest()
    assert digest(a_folder(tmp_path / "two", "x = 3\n")) != digest(folder)  # the twin


def test_the_first_entry_names_version_and_code() -> None:
    ledger = MemoryLedger(kind="deployment")
    assert ledger.sources == sources()
    assert _own_digest.__wrapped__() == digest(Path(dpaudit.__file__).parent)  # computed now; a process computes its own once
    assert f'"version":"{dpaudit.__version__}"'.encode() in next(ledger.entries())


def test_other_code_is_noted_once_and_nothing_else_is_written(tmp_path: Path) -> None:
    path, first, second = tmp_path / "a.ledger", tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("x = 1\n")
    second.write_text("x = 2\n")
    with open_ledger(path, code=first) as ledger:
        assert ledger.sources["subject"] == digest(first)
        assert ledger.head().size == 1
    for code, size in ((first, 1), (None, 1), (second, 2), (second, 2), (first, 3)):
        with open_ledger(path, code=code) as ledger:
            assert ledger.head().size == size
            assert ledger.sources["subject"] == digest(code or first)
    found = verify(path)
    assert (found.sources["subject"], found.version) == (digest(first), dpaudit.__version__)
    with open_ledger(path, readonly=True) as ledger:
        export_jsonl(ledger, tmp_path / "a.jsonl")
    assert verify(tmp_path / "a.jsonl").size == 3
    assert str(tmp_path).encode() not in path.read_bytes()
    assert b"first" not in path.read_bytes()


def test_code_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="code"):
        open_ledger(tmp_path / "a.ledger", code=tmp_path / "missing.py")
    assert not (tmp_path / "a.ledger").exists()


@pytest.mark.parametrize("wrong", [{"dpaudit": "00"}, {"dpaudit": 5}, {"home": "0" * 64}, [], {"dpaudit": "G" * 64}])
def test_digests_of_another_form_are_reported(wrong: object) -> None:
    entry = {"entry": "code", "sources": wrong, "version": "1"}
    entries = [*MemoryLedger().entries()]
    replay(MemoryEntries([*entries, canonical({**entry, "sources": sources()})]), PureSums)
    with pytest.raises(TamperedLedger, match="entry 1"):
        replay(MemoryEntries([*entries, canonical(entry)]), PureSums)
