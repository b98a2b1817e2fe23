"""Entries written from a shared frame are the canonical JSON of their records, letter by letter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, Release, canonical
from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.records.entry_texts import charge_text, prepare, release_text
from dpaudit.ledger.records.printable_text import is_plain

plain_texts = st.text(min_size=1, max_size=20).filter(is_plain)
numbers = st.fractions(min_value=0, max_value=9, max_denominator=50)
cohorts = st.sampled_from([None, range(5), [1, 3, 9], "p1", ["p 2", 'a"b'], [], range(-4, 2), [7, "é"]]).map(Cohort.of)
values = st.none() | st.integers(-(2**62), 2**62) | st.lists(st.integers(-(2**62), 2**62), max_size=80)
optional: dict[str, st.SearchStrategy[Any]] = {
    "derived": numbers, "delta": st.just(Fraction(1, 10**6)), "kind": st.just("reports"), "n": st.integers(0, 9),
    "theorem": plain_texts, "tags": st.dictionaries(plain_texts, st.integers(0, 9), max_size=3), "steps": st.integers(0, 9),
    "extra": st.dictionaries(st.sampled_from(["note", "mark"]), plain_texts), "relation": st.just("replace-one"),
    "sampling": st.just("1/2"), "count": st.integers(1, 5), "to": st.just("actions"),
}  # fmt: skip
releases = st.fixed_dictionaries(
    {
        "name": plain_texts, "mechanism": plain_texts, "sensitivity": numbers, "epsilon": st.none() | numbers,
        "parameters": st.dictionaries(plain_texts, plain_texts, max_size=3), "cohort": cohorts, "values": values,
    },
    optional=optional,
).map(lambda fields: Release(**fields))  # fmt: skip


def in_full(release: Release, charge: int | None, key: str | None) -> bytes:
    data = {"entry": "release", "release": release.to_json(), "charge": charge, "key": key}
    return canonical({name: value for name, value in data.items() if value is not None})


@given(releases, st.none() | st.integers(1, 2**40), st.none() | plain_texts)
def test_both_entries_are_the_canonical_text_of_their_data(release: Release, charge: int | None, key: str | None) -> None:
    assert release_text(release, charge, key) == in_full(release, charge, key)
    assert charge_text(release.charge(), key) == canonical(charge_to_json(release.charge(), key))


@given(releases, plain_texts, cohorts, st.integers(-9, 9))
def test_a_release_made_from_another_is_as_one_made_alone(release: Release, name: str, cohort: Cohort, value: int) -> None:
    made = prepare(release).about(name, cohort).with_values(np.int64(value))
    fields = {each: getattr(release, each) for each in Release.__dataclass_fields__}
    alone = Release(**fields | {"name": name, "cohort": cohort, "values": value})
    assert made == alone
    assert made.charge() == alone.charge()
    assert release_text(made, 3) == in_full(alone, 3, None)
    assert charge_text(made.charge(), "k") == canonical(charge_to_json(alone.charge(), "k"))


@pytest.mark.parametrize(("name", "cohort"), [("", None), ("a\x1b", None), (7, None), ("a", "p\x00")])
def test_a_name_or_pseudonym_that_no_release_may_have_is_refused_there_too(name: Any, cohort: Any) -> None:
    release = Release("x", "laplace", Fraction(1), {"scale": "2"}, epsilon=Fraction(1))
    with pytest.raises(InvalidValue):
        release.about(name, Cohort.of(cohort))
