"""Releases read by their frame are those that reading them in full gives."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.ledger import Cohort, MemoryLedger, Release
from dpaudit.ledger.errors import InvalidRecord
from dpaudit.ledger.records.entry_texts import charge_text, release_text
from dpaudit.ledger.store.release_reader import ReleaseReader

COHORTS: list[Any] = [range(5), [7], None, "p1", ["p1", "p2"], [1, 3], [], range(-4, 3)]


def releases() -> list[Release]:
    return [
        Release(
            f"batch {i} \u00e9" if i % 3 else f"batch {i}", "laplace", Fraction(2), {"scale": "2" if i % 4 else "3"},
            epsilon=Fraction(1), cohort=Cohort.of(COHORTS[i % len(COHORTS)]), steps=4, tags={"0": 3} if i % 5 == 0 else {},
            values=None if i % 11 == 7 else [i, -i] if i % 2 else [[i], [2]] if i % 6 == 2 else list(range(99)) if i == 12 else i,
        )
        for i in range(60)
    ]  # fmt: skip


def test_every_release_is_read_as_in_full_and_its_charge_too() -> None:
    reader = ReleaseReader()
    for i, release in enumerate(releases()):
        entry = release_text(release, i + 1) if i % 2 else release_text(release, key=f"k{i}")
        found, full = reader.read(entry), Release.from_json(json.loads(entry)["release"])
        assert found == full == release
        assert found is not None
        assert found.charge() == release.charge()
        assert reader.read(charge_text(release.charge(), None)) is None


def test_a_ledger_gives_its_releases_as_they_were_stored() -> None:
    ledger, stored = MemoryLedger(), releases()
    for release in stored:
        ledger.append(release)
    assert list(ledger.releases()) == stored


def test_what_is_no_release_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        ReleaseReader().read(b'{"entry":"release","release":{"cohort":null,"name":"a"}}')
