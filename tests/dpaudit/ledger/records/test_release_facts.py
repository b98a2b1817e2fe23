"""Facts of a release are fields in memory and texts in a record, whose bytes do not change."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import account
from dpaudit.claims import InvalidValue
from dpaudit.ledger import InvalidRecord, Release, canonical, open_ledger
from dpaudit.ledger.records.release_facts import FACTS
from dpaudit.ledger.spending.zcdp_sums import gaussian_rho

# Written by the version before facts were fields: every kind of release that a door makes, and two that were appended.
BEFORE = Path(__file__).with_name("data") / "before_typed_facts.jsonl"
STEP = 2**20

READ = {
    "plain sum": (STEP, 1, None, None, None),
    "sealed sum": (2 * STEP, 1, None, None, "replace-one"),
    "vector": (STEP + 2, 3, None, None, None),
    "local bits": (1, 1, 4, None, None),
    "sums": (2 * STEP, 1, 1, "sums", None),
    "shuffled": (2 * STEP, 1, 60, None, None),
    "shuffled sealed": (2 * STEP, 1, 10, None, "replace-one"),
    "told": (2 * STEP, None, None, None, None),
    "told too": (12, 3, None, None, "replace-one"),
}


def test_an_earlier_ledger_reads_back_with_its_facts_as_fields() -> None:
    with open_ledger(BEFORE, readonly=True) as ledger:
        releases = list(ledger.releases())
    known = ("steps", "coordinates", "crowd", "read", "relation")
    assert {release.name: tuple(getattr(release, name) for name in known) for release in releases} == READ
    assert all(release.count is None and release.sampling is None for release in releases)
    assert [release.extra for release in releases if release.extra] == [{"note": "from another tool"}]


def test_an_earlier_ledger_is_written_again_byte_for_byte() -> None:
    entries = [line for line in BEFORE.read_bytes().splitlines() if b'"release":' in line]
    assert len(entries) == len(READ)
    for entry in entries:
        data = json.loads(entry)
        assert canonical({**data, "release": Release.from_json(data["release"]).to_json()}) == entry


def test_an_earlier_ledger_costs_what_it_did() -> None:
    bound = account(BEFORE)
    before = Fraction("3.635540223072199")
    assert bound.delta == Fraction(1, 1000)
    assert 0 <= before - bound.epsilon < Fraction(1, 10**11)  # of its last digits, closed forms may take some off


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("steps", "coordinates", "crowd"), st.integers(0, 2**80)),
            **dict.fromkeys(("read", "relation"), st.text("abc -", max_size=5)),
            "extra": st.dictionaries(st.text("xyz", min_size=1), st.text("xyz")),
        },
    )
)
def test_facts_and_notes_come_back_from_a_record(facts: dict[str, object]) -> None:
    release = Release("a", "laplace", Fraction(1), **facts)  # type: ignore[arg-type]
    again = Release.from_json(json.loads(canonical(release.to_json())))
    assert again == release
    for name in (*FACTS, "extra"):
        assert getattr(again, name) == getattr(release, name)


@pytest.mark.parametrize("text", ["012", "+12", "-1", "1.0", "", " 1", "١", "many", "9" * 5000, 12, None])
def test_a_record_that_writes_a_count_otherwise_is_refused(text: object) -> None:
    record = Release("a", "laplace", Fraction(1), steps=12).to_json()
    assert record["extra"] == {"steps": "12"}
    with pytest.raises(InvalidRecord, match="line 3: extra must be"):
        Release.from_json({**record, "extra": {"steps": text}}, 3)


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_has_one_place(name: str) -> None:
    record = Release("a", "laplace", Fraction(1), parameters={"scale": "1"}).to_json()
    with pytest.raises(InvalidRecord, match="a known field"):
        Release.from_json({**record, name: "1"})
    with pytest.raises(InvalidValue, match="a field of its own"):
        Release("a", "laplace", Fraction(1), extra={name: "1"})


@pytest.mark.parametrize(
    ("name", "value"), [("steps", -1), ("steps", True), ("crowd", "4"), ("coordinates", 1.0), ("read", 1), ("relation", "a\n")]
)
def test_a_fact_of_the_wrong_kind_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidValue, match=name):
        Release("a", "laplace", Fraction(1), **{name: value})  # type: ignore[arg-type]


def test_nothing_outside_the_records_computes_from_notes() -> None:
    """``.extra`` of a release holds no fact: whoever looks one up there would silently find nothing."""
    root = Path(__file__).resolve().parents[4]
    for package in ("dpaudit", "algorithms", "proofs_checks"):
        for file in (root / package).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            assert not [name for name in FACTS for form in (f'extra["{name}"]', f'extra.get("{name}"') if form in text], file


@pytest.mark.parametrize("fields", [{"sampling": "2"}, {"sampling": "0"}, {"sampling": "often"}, {"count": 0}, {"count": "3"}])
def test_a_rate_is_a_probability_and_a_count_is_positive(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        Release("sum", "gaussian", Fraction(1), {"sigma": "1"}, **fields)  # type: ignore[arg-type]


def test_an_entry_of_several_releases_is_charged_for_all_of_them() -> None:
    one = Release("sum", "gaussian", Fraction(1), {"sigma": "1"}).charge()
    three = Release("sum", "gaussian", Fraction(1), {"sigma": "1"}, count=3).charge()
    assert three.facts["count"] == "3"
    assert gaussian_rho(three) == 3 * gaussian_rho(one) == Fraction(3, 2)


def test_a_sample_counts_for_nothing_where_rho_is_added_up() -> None:
    sampled = Release("sum", "gaussian", Fraction(1), {"sigma": "1"}, sampling="0.1").charge()
    assert sampled.facts["sampling"] == "0.1"
    assert gaussian_rho(sampled) == Fraction(1, 2)
