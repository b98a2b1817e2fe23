"""Every change of a record is reported: flipped bytes, cut tails, moved or replayed entries."""

from __future__ import annotations

import random
import sqlite3
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpaudit.claims import InvalidValue
from dpaudit.ledger import (
    Charge,
    Cohort,
    LedgerUnavailable,
    MemoryLedger,
    Release,
    TamperedLedger,
    UnreadableLedger,
    canonical,
    checkpoint,
    export_jsonl,
    import_jsonl,
    load_releases,
    open_ledger,
    verify,
    verify_checkpoint,
)
from dpaudit.ledger.store.merkle import tree_root
from dpaudit.ledger.store.sqlite import create

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def a_release(i: int) -> Release:
    values: Any = [i, -i]
    return Release(
        f"release {i}",
        "laplace",
        Fraction(2),
        {"scale": "2"},
        epsilon=Fraction(1),
        cohort=Cohort.of(range(i)),
        values=values,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "small.ledger"
    with open_ledger(path, budget="9") as ledger:
        for i in range(3):
            ledger.append(a_release(i), key=f"key {i}")
        ledger.charge(Charge(Fraction(1, 2), Fraction(0), Cohort.of("somebody")))
    return path


def entries_of(path: Path) -> list[bytes]:
    with open_ledger(path, readonly=True) as ledger:
        return list(ledger.entries())


def test_a_flipped_byte_of_the_file_leaves_all_entries_equal_or_is_reported(
    path: Path, tmp_path: Path, faults: ModuleType
) -> None:
    """700 seeded flips: header, bytes in use, slack. A reader without hashes is fooled by some of them."""
    original, chooser = path.read_bytes(), random.Random(7)
    used = [i for i in range(100, len(original)) if original[i]]
    slack = [i for i in range(100, len(original)) if not original[i]]
    places = [*range(100), *chooser.sample(used, 500), *chooser.sample(slack, 100)]
    found = faults.flip(path, tmp_path / "changed.ledger", places, seed=7)
    assert found.flips == 700
    assert (found.silent, found.untyped) == (0, 0)
    assert found.reported > 300
    assert found.fooled > 100


def test_every_flipped_bit_of_an_export_is_reported(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    with open_ledger(path, readonly=True) as ledger:
        export_jsonl(ledger, export)
    original, chooser = export.read_bytes(), random.Random(8)
    assert verify(export).releases == 3
    for place in range(len(original)):
        changed = bytearray(original)
        changed[place] ^= 1 << chooser.randrange(8)
        export.write_bytes(changed)
        with pytest.raises((TamperedLedger, UnreadableLedger)):
            verify(export)


def test_an_export_cut_anywhere_or_extended_is_reported(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    with open_ledger(path, readonly=True) as ledger:
        export_jsonl(ledger, export)
    original = export.read_bytes()
    lines = original.splitlines(keepends=True)
    swapped = [lines[0], lines[2], lines[1], *lines[3:]]
    changed = [original[:i] for i in range(0, len(original), 7)]
    changed += [original + b"\n", original + lines[-1], b"".join(lines[:-2]) + lines[-1], b"".join(swapped)]
    changed += [original.replace(b"\n", b"\r\n"), b"".join(lines[:2] + lines[1:])]
    for data in changed:
        export.write_bytes(data)
        with pytest.raises((TamperedLedger, UnreadableLedger)):
            verify(export)


def test_an_export_reads_as_the_ledger_and_imports_to_the_same_head(path: Path, tmp_path: Path) -> None:
    export, again = tmp_path / "export.jsonl", tmp_path / "again.ledger"
    with open_ledger(path) as ledger:
        export_jsonl(ledger, export)
        head = ledger.head()
    assert load_releases(export) == [a_release(i) for i in range(3)]
    with import_jsonl(export, again) as ledger:
        assert ledger.head() == head
        assert ledger.append(a_release(1).with_values([0, 0]), key="key 1") == a_release(1)
    with pytest.raises(LedgerUnavailable, match="exists"):
        import_jsonl(export, again)
    with open_ledger(export, readonly=True) as ledger, pytest.raises(LedgerUnavailable):
        ledger.append(a_release(4))
    assert export.read_bytes().splitlines()[:-1] == entries_of(path)


def test_a_ledger_cut_at_an_entry_shows_against_a_checkpoint_only(path: Path, tmp_path: Path) -> None:
    with open_ledger(path) as ledger:
        mark = checkpoint(ledger, KEY)
    entries, cut = entries_of(path), tmp_path / "cut.ledger"
    for size in range(1, len(entries)):
        create(cut, entries[:size])
        assert verify(cut).size == size  # without a checkpoint it looks like a younger ledger
        with pytest.raises(TamperedLedger, match=f"{len(entries)} entries, {size} are left"):
            verify(cut, mark, KEY.public_key())
        cut.unlink()


def test_a_history_rewritten_with_valid_hashes_shows_against_a_checkpoint(path: Path, tmp_path: Path) -> None:
    with open_ledger(path) as ledger:
        mark = checkpoint(ledger, KEY)
    entries, forged = entries_of(path), tmp_path / "forged.ledger"
    entries[3] = entries[3].replace(b'"values":[1,-1]', b'"values":[2,-1]')
    create(forged, entries)
    assert verify(forged).size == len(entries)
    with pytest.raises(TamperedLedger, match="changed"):
        verify(forged, mark)


def test_a_checkpoint_holds_while_the_ledger_grows(path: Path) -> None:
    with open_ledger(path) as ledger:
        marks = [checkpoint(ledger, KEY)]
        for _ in range(5):
            ledger.append(a_release(0))
            marks.append(checkpoint(ledger, KEY))
    for mark in marks:
        found = verify(path, mark, KEY.public_key())
        assert (found.checkpoint_size, found.trusted) == (mark["size"], True)
        assert not verify(path, mark).trusted
    assert not verify(path).trusted


@pytest.mark.parametrize("field", ["ledger", "size", "root", "signature", "key"])
def test_a_changed_or_foreign_checkpoint_is_refused(path: Path, field: str) -> None:
    with open_ledger(path) as ledger:
        mark = checkpoint(ledger, KEY)
    other = Ed25519PrivateKey.generate()
    foreign = checkpoint(MemoryLedger(), other)
    with pytest.raises(TamperedLedger):
        verify_checkpoint({**mark, field: foreign[field]})
    with pytest.raises(TamperedLedger, match="another key"):
        verify_checkpoint(mark, other.public_key())
    with pytest.raises(TamperedLedger, match="another ledger"):
        verify(path, foreign)
    with pytest.raises(InvalidValue):
        verify_checkpoint({**mark, field: None})


@pytest.mark.parametrize("wrong", [{}, {"schema": "other"}, {"key": "zz"}, {"signature": "00zz"}, {"key": "00"}])
def test_what_is_no_checkpoint_is_bad_input(wrong: dict[str, Any]) -> None:
    mark = checkpoint(MemoryLedger(), KEY)
    with pytest.raises(InvalidValue, match="checkpoint"):
        verify_checkpoint({**mark, **wrong} if wrong else {})


def forged(tmp_path: Path, entries: list[bytes]) -> Path:
    path = tmp_path / "forged.ledger"
    create(path, entries)
    return path


@pytest.mark.parametrize(
    "case",
    [
        "replayed",
        "twice the key",
        "over budget",
        "wider budget",
        "no charge",
        "another charge",
        "two ledgers",
        "no header",
        "not JSON",
        "unknown entry",
        "float",
        "nothing",
    ],
)
def test_entries_that_no_ledger_writes_are_reported_even_with_valid_hashes(path: Path, tmp_path: Path, case: str) -> None:
    entries = entries_of(path)  # ledger, budget, three releases with keys, one open charge at place 5
    release = a_release(0).to_json()
    charged = {**release, "epsilon": "0.5", "name": "late", "cohort": {"ids": ["somebody"], "intervals": []}}
    close = canonical({"entry": "release", "charge": 5, "release": charged})
    assert verify(forged(tmp_path, [*entries, close])).releases == 4
    (tmp_path / "forged.ledger").unlink()
    changed = {
        "replayed": [*entries, close, close],
        "twice the key": [*entries, entries[2]],
        "over budget": [
            *entries,
            *[canonical({"entry": "release", "release": {**release, "cohort": None}})] * 10,
        ],
        "wider budget": [*entries, entries[1].replace(b'"9"', b'"10"')],
        "no charge": [*entries, canonical({"entry": "release", "charge": 2, "release": charged})],
        "another charge": [
            *entries,
            canonical({"entry": "release", "charge": 5, "release": {**charged, "epsilon": "0.1"}}),
        ],
        "two ledgers": [*entries, entries[0]],
        "no header": entries[1:],
        "not JSON": [*entries, b"{"],
        "unknown entry": [*entries, b'{"entry":"note"}'],
        "float": [*entries, canonical({"entry": "release", "release": {**release, "epsilon": 0.5}})],
        "nothing": [],
    }[case]
    target = forged(tmp_path, changed)
    for attempt in (verify, open_ledger, load_releases):
        with pytest.raises(TamperedLedger, match="DPA007"):
            attempt(target)


NO_RELEASES: dict[str, Any] = {
    "no values that are numbers": {"values": ["x"]},
    "values that are not rectangular": {"values": [[1], [1, 2]]},
    "a value beyond 64 bits": {"values": [2**63]},
    "packed values of another length": {"values": {"data": "AAAA", "least": 0, "shape": [100], "width": 1}},
    "an unknown field": {"reward": 0.5},
    "a number that is no text": {"sensitivity": 2},
    "a negative sensitivity": {"sensitivity": "-1"},
    "a sensitivity in another form": {"sensitivity": "2.0"},
    "parameters that are no texts": {"parameters": {"scale": 2}},
    "tags that are no counts": {"tags": {"a": -1}},
    "tags that are true": {"tags": {"a": True}},
    "another kind": {"kind": "other", "n": 3},
    "a count that is none": {"kind": "reports", "n": -3},
    "nothing": {"mechanism": None},
    "a control character in the name": {"name": "\x1b[2Jx"},
    "a control character in an id": {"cohort": {"ids": ["\x07"], "intervals": []}},
}


@pytest.mark.parametrize("case", NO_RELEASES)
@pytest.mark.parametrize("behind", [False, True])
def test_verify_reads_every_release_as_an_accountant_would(path: Path, tmp_path: Path, case: str, behind: bool) -> None:
    """Alone, and behind an equal release that was read before it."""
    entries, good = entries_of(path), a_release(0).to_json()
    first = [canonical({"entry": "release", "release": good})] * behind
    assert verify(forged(tmp_path, [*entries, *first])).releases == 3 + behind
    (tmp_path / "forged.ledger").unlink()
    bad = canonical({"entry": "release", "release": {**good, **NO_RELEASES[case]}})
    target = forged(tmp_path, [*entries, *first, bad])
    for attempt in (verify, open_ledger, load_releases):
        with pytest.raises(TamperedLedger, match=f"entry {6 + behind} "):
            attempt(target)


def test_a_row_before_the_first_is_reported(path: Path) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("INSERT INTO entries VALUES (-1, '{}')")
    connection.close()
    for attempt in (verify, open_ledger, load_releases):
        with pytest.raises(TamperedLedger, match="before the first"):
            attempt(path)


def test_the_root_is_the_rfc_6962_root_of_the_canonical_entries(path: Path) -> None:
    assert verify(path).root == tree_root(entries_of(path)).hex()


def test_a_report_of_verify_is_plain_json(path: Path) -> None:
    report = verify(path).to_json()
    assert report["schema"] == "dpaudit.verify/1"
    assert canonical(report)
    assert (report["kind"], report["size"], report["releases"]) == ("deployment", 6, 3)
