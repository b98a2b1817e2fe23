"""Releases: exact, in one canonical form, read back; the hand-written form; packed values."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, InvalidRecord, Release, canonical, load_releases
from dpaudit.ledger.records.grid_values import as_units, units_from_json, units_to_json
from dpaudit.ledger.records.handwritten import flat_fields
from dpaudit.ledger.records.printable_text import is_plain
from dpaudit.noise import written_forms

FORMS = written_forms()

fractions = st.fractions(min_value=0, max_value=100)
texts = st.text(min_size=1, max_size=5).filter(is_plain)
shapes = st.sampled_from([(), (0,), (3,), (2, 3), (0, 4), (70,), (9, 9)])
int64 = st.integers(-(2**63), 2**63 - 1)
arrays = shapes.flatmap(
    lambda s: st.lists(int64, min_size=int(np.prod(s)), max_size=int(np.prod(s))).map(
        lambda v: np.array(v, dtype=np.int64).reshape(s)
    )
)
releases = st.builds(
    Release,
    name=texts,
    mechanism=st.sampled_from(["laplace", "gaussian", "something new"]),
    sensitivity=fractions,
    parameters=st.dictionaries(texts, texts),
    derived=st.none() | fractions,
    epsilon=st.none() | fractions,
    delta=st.fractions(min_value=0, max_value=Fraction(1, 2)),
    cohort=st.one_of(st.none(), st.sets(st.integers(0, 9)), st.sets(texts)).map(Cohort.of),
    to=st.sampled_from(["server", "actions", "shuffled"]),
    kind=st.sampled_from(["release", "reports", "shuffled"]),
    n=st.integers(0, 10**9),
    values=st.none() | arrays,
    theorem=st.none() | texts,
    tags=st.dictionaries(texts, st.integers(0, 9)),
    extra=st.dictionaries(texts, texts),
)


def floats_in(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(floats_in, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float)


@settings(deadline=None)
@given(releases)
def test_a_release_reads_back_equal_and_holds_no_float(release: Release) -> None:
    text = canonical(release.to_json())
    back = Release.from_json(json.loads(text))
    assert back == release
    assert hash(back) == hash(release)
    assert canonical(back.to_json()) == text
    assert not floats_in(release.to_json())


@settings(deadline=None)
@given(arrays)
def test_units_read_back_with_shape_and_every_bit(units: Any) -> None:
    back = units_from_json(json.loads(canonical(units_to_json(as_units(units)))))
    assert back.shape == units.shape
    assert back.dtype == np.int64
    assert (back == units).all()


def test_a_million_reports_take_a_few_bytes_each() -> None:
    values = np.rint(np.random.default_rng(0).laplace(scale=2 * 2**20, size=10**6)).astype(np.int64)
    assert len(canonical(units_to_json(as_units(values)))) < 6 * 10**6


@pytest.mark.parametrize(
    "change",
    [
        {"width": 0},
        {"width": 9},
        {"shape": [-70]},
        {"shape": [71]},
        {"least": 2**63},
        {"data": "*"},
        {"least": 1.5},
        {"more": 1},
    ],
)
def test_damaged_packed_values_are_refused(change: dict[str, Any]) -> None:
    packed = units_to_json(as_units(range(70)))
    with pytest.raises(InvalidRecord, match="values"):
        units_from_json({**packed, **change})


@pytest.mark.parametrize("wrong", [[271828.5], [[271828], [1, 2]], ["271828"], [True], [271828 * 10**18], {"a": 271828}])
def test_values_that_are_no_integers_are_refused_unprinted(wrong: Any) -> None:
    with pytest.raises(InvalidValue) as refusal:
        Release("sum", "laplace", Fraction(1), values=wrong)
    assert "271828" not in str(refusal.value)
    with pytest.raises(InvalidRecord) as refused:
        units_from_json(wrong)
    assert "271828" not in str(refused.value)


def test_stored_values_cannot_be_changed_through_the_callers_array() -> None:
    mine = np.array([1, 2, 3])
    release = Release("sum", "laplace", Fraction(1), values=mine)
    mine[0] = 7
    assert release.values is not None
    assert release.values[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        release.values[0] = 9


def test_with_values_keeps_all_else() -> None:
    release = Release("sum", "laplace", Fraction(1), {"scale": "2"}, epsilon=Fraction(1, 2), cohort=Cohort.of(3))
    drawn = release.with_values(5)
    assert drawn.to_json() == {**release.to_json(), "values": 5}


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("name", ""),
        ("mechanism", 5),
        ("sensitivity", -1),
        ("sensitivity", "x"),
        ("epsilon", "-1"),
        ("delta", "1"),
        ("kind", "other"),
        ("n", -1),
        ("n", True),
        ("to", ""),
        ("tags", {"a": -1}),
        ("tags", {"a": "1"}),
        ("extra", {"a": 1}),
        ("parameters", {"a": 2.0}),
        ("theorem", 3),
    ],
)
def test_a_field_outside_its_range_is_refused_by_name(field: str, wrong: Any) -> None:
    fields: dict[str, Any] = {"name": "sum", "mechanism": "laplace", "sensitivity": "1", field: wrong}
    with pytest.raises(InvalidValue) as refusal:
        Release(**fields)
    assert refusal.value.name == field


# --- the hand-written form ---


def test_three_fields_are_enough() -> None:
    release = Release.from_json({"mechanism": "laplace", "scale": "2", "sensitivity": "2"}, line=4, forms=FORMS)
    assert release == Release("line 4", "laplace", Fraction(2), {"scale": "2"}, epsilon=Fraction(1))


@pytest.mark.parametrize(
    ("line", "epsilon"),
    [
        ({"mechanism": "laplace", "scale": "3", "sensitivity": "2"}, Fraction(2, 3)),
        ({"mechanism": "laplace", "scale": 0.1, "sensitivity": 0.1}, Fraction(1)),
        (
            {"mechanism": "laplace", "scale": "1", "sensitivity": "1/3", "grid": "1/4"},
            Fraction(1, 2),
        ),  # rounded up
        ({"mechanism": "laplace", "scale": "2", "sensitivity": "2", "epsilon": "3/2"}, Fraction(3, 2)),
        ({"mechanism": "randomized-response", "epsilon": "0.7"}, Fraction(7, 10)),
        ({"mechanism": "gaussian", "sigma": "2", "sensitivity": "1"}, None),
        (
            {"mechanism": "gaussian", "sigma": "2", "sensitivity": "1", "epsilon": "3", "delta": "1e-6"},
            Fraction(3),
        ),
    ],
)
def test_the_charge_is_worked_out_exactly(line: dict[str, Any], epsilon: Fraction | None) -> None:
    assert Release.from_json(line, forms=FORMS).epsilon == epsilon


def test_every_optional_field_is_read() -> None:
    line = {
        "mechanism": "laplace",
        "scale": "2",
        "sensitivity": "2",
        "name": "batch",
        "cohort": [[0, 100]],
        "to": "shuffled",
        "n": 100,
        "grid": "1/2",
        "epsilon": "0.1",
        "delta": "1e-6",
        "theorem": "clone",
    }
    release = Release.from_json(line, forms=FORMS)
    assert (release.name, release.to, release.kind, release.n) == ("batch", "shuffled", "shuffled", 100)
    assert (release.cohort, release.delta, release.theorem) == (
        Cohort.of(range(100)),
        Fraction(1, 10**6),
        "clone",
    )
    assert (release.epsilon, release.parameters) == (Fraction(1, 10), {"scale": "2", "grid": "0.5"})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"mechanism": "geometric"}, "mechanism"),
        ({"mechanism": 3}, "mechanism"),
        ({"scale": None}, "scale"),
        ({"scale": "0"}, "scale"),
        ({"scale": [1]}, "scale"),
        ({"scale": True}, "scale"),
        ({"sensitivity": "-1"}, "sensitivity"),
        ({"sensitivity": {}}, "sensitivity"),
        ({"n": 1.5}, "n"),
        ({"n": 0}, "n"),
        ({"delta": "1"}, "delta"),
        ({"epsilon": "x"}, "epsilon"),
        ({"cohort": [3]}, "cohort"),
        ({"name": 5}, "name"),
        ({"to": 5}, "to"),
        ({"grid": "-1"}, "grid"),
        ({"sigma": "1"}, "'sigma'"),
        ({"theorem": 1}, "theorem"),
        ({"epsilon": "1/2"}, "epsilon"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(change: dict[str, Any], field: str, tmp_path: Path) -> None:
    good = {"mechanism": "laplace", "scale": "2", "sensitivity": "2"}
    path = tmp_path / "releases.jsonl"
    path.write_bytes(canonical(good) + b"\n" + canonical({**good, **change}) + b"\n")
    with pytest.raises(InvalidRecord) as refusal:
        load_releases(path, FORMS)
    assert (refusal.value.line, refusal.value.field) == (2, field)


@pytest.mark.parametrize("missing", ["scale", "sensitivity", "mechanism"])
def test_a_missing_field_is_named(missing: str) -> None:
    line = {"mechanism": "laplace", "scale": "2", "sensitivity": "2"}
    del line[missing]
    with pytest.raises(InvalidRecord, match=missing):
        Release.from_json(line, forms=FORMS)


@pytest.mark.parametrize(
    "change",
    [
        {"sensitivity": 1.5},
        {"epsilon": 1},
        {"unknown": 1},
        {"n": "1"},
        {"values": [0.5]},
        {"cohort": "all"},
        {"name": None},
        {"to": "nobody"},
        {"to": None},
    ],
)
def test_the_canonical_form_is_read_strictly(change: dict[str, Any]) -> None:
    good = Release("sum", "laplace", Fraction(1), {"scale": "2"}).to_json()
    assert Release.from_json(good).name == "sum"
    with pytest.raises(InvalidRecord):
        Release.from_json({**good, **change})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sampling": "fixed"}, "samples of a fixed size are another mechanism"),
        ({"sampling": "without replacement"}, "samples of a fixed size are another mechanism"),
        ({"batch_size": "256", "population": "60000"}, "samples of a fixed size are another mechanism"),
        ({"sampling": "0.01", "relation": "replace-one"}, "account --group 2"),
        ({"sampling": "0.01", "adjacency": "add"}, "account --group 2"),
        ({"sampling": "0.01", "colour": "red"}, "no field of a gaussian release"),
    ],
)
@pytest.mark.parametrize("mechanism", ["gaussian", "known"])
def test_what_sampling_does_not_cover_is_refused_with_the_reason(fields: dict[str, str], reason: str, mechanism: str) -> None:
    own = {"sigma": "1.5", "sensitivity": "1"} if mechanism == "gaussian" else {"epsilon": "1"}
    with pytest.raises(InvalidRecord, match=reason.replace("gaussian", mechanism)):
        flat_fields({"mechanism": mechanism, **own, **fields}, FORMS)
