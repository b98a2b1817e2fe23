"""Sealed data: what may be known of it, what may not, and that whoever tries is named by file and line."""

from __future__ import annotations

import copy
import inspect
import json
import math
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue, Leak
from dpaudit.sealed import Sealed, seal_sums, snap, unseal
from dpaudit.sealed.array import Untraced, dependence, gathered

SECRET = 0.4375
Act = Callable[[Any], Any]


@pytest.fixture
def records() -> Any:
    return dp.seal(np.array([SECRET, -0.5, 0.25]), -1, 1)


@pytest.fixture
def removable() -> Any:
    return dp.seal(np.array([SECRET, -0.5, 0.25]), -1, 1, removal=True)


CONVERSIONS: dict[str, Act] = {
    "bool": lambda x: bool(x[0] > 0),
    "if": lambda x: 1 if x.sum() > 0 else 2,
    "any": lambda x: bool((x > 0).any()),
    "in": lambda x: 0.5 in x,
    "max": lambda x: max(x),
    "sorted": lambda x: sorted(x),
    "int": lambda x: int(x[0]),
    "float": lambda x: float(x[0]),
    "complex": lambda x: complex(x[0]),
    "round": lambda x: round(x[0]),
    "math": lambda x: math.sqrt(x[0]),
    "percent": lambda x: "%f" % x[0],  # noqa: UP031
    "index": lambda x: [1, 2, 3][x[0]],
    "operator.index": lambda x: operator.index(x[0]),
    "range": lambda x: range(x[0]),
    "places": lambda x: np.arange(3)[x],
    "own places": lambda x: x[x],
    "mask": lambda x: x[x > 0],
    "shape": lambda x: np.zeros(x.sum()),
    "array": lambda x: np.array(x),
    "asarray": lambda x: np.asarray(x, dtype=float),
    "array of entries as numbers": lambda x: np.array([x[0], x[1]], dtype=float),
    "nditer": lambda x: np.nditer(x),
    "vectorize": lambda x: np.vectorize(lambda v: v)(x),
    "item": lambda x: x.item(0),
    "tolist": lambda x: x.tolist(),
    "tobytes": lambda x: x.tobytes(),
    "pickle": lambda x: pickle.dumps(x),
    "assignment": lambda x: operator.setitem(np.zeros(3), slice(None), x),
    "generator": lambda x: np.random.default_rng(1).permutation(x),
    "seed": lambda x: np.random.default_rng(1).binomial(10, x),
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_turning_sealed_data_into_plain_values_is_dpa002_at_the_users_line(records: Any, convert: Act) -> None:
    with pytest.raises(Leak, match="DPA002") as leak:
        convert(records)
    _, line = inspect.getsourcelines(convert)
    assert leak.value.where == f"{Path(__file__).name}:{line}"
    assert str(SECRET) not in str(leak.value)


def test_assigning_a_sealed_number_to_a_plain_entry_is_refused_and_the_leak_named_as_the_cause(records: Any) -> None:
    """numpy puts an error of its own before it."""
    buffer = np.zeros(3)
    with pytest.raises(ValueError, match="setting an array element") as refused:
        buffer[0] = records[0]
    assert isinstance(refused.value.__cause__, Leak)
    assert not buffer.any()


def test_an_array_of_sealed_numbers_holds_them_and_never_becomes_numbers(records: Any) -> None:
    entries = np.array([records[0], 2 * records[1]])
    assert isinstance((entries / 2)[1], Sealed)
    assert isinstance(np.zeros(2) + gathered(entries), Sealed)
    with pytest.raises(ValueError, match="setting an array element") as refused:
        entries.astype(float)
    assert isinstance(refused.value.__cause__, Leak)
    with pytest.raises(Leak, match="a branch"):
        assert entries[0] > 0
    assert str(SECRET) not in repr(entries)


@pytest.mark.parametrize("name", ["T", "flat", "real", "imag"])
def test_attributes_that_hold_the_values_come_back_sealed(records: Any, name: str) -> None:
    assert isinstance(getattr(records, name), Sealed)


@pytest.mark.parametrize("name", ["data", "flags", "base", "ctypes", "strides", "nbytes", "itemsize"])
def test_attributes_that_lead_to_the_memory_are_dpa002(records: Any, name: str) -> None:
    with pytest.raises(Leak, match=name):
        getattr(records, name)


@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__", "__dict__", "_value", "nothing"])
def test_other_attributes_do_not_exist(records: Any, name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(records, name)


def test_printing_sealed_data_shows_none_of_it(records: Any) -> None:
    for text in (str(records), repr(records), f"{records}", f"{records[0]:.3f}", f"{[records]}"):
        assert "sealed" in text
        assert "4375" not in text
    with pytest.raises(TypeError):
        json.dumps(records)


def test_copies_stay_sealed_and_keep_their_trace(records: Any) -> None:
    for twin in (copy.copy(records), copy.deepcopy(records), records.copy()):
        assert isinstance(twin, Sealed)
        assert not isinstance(dependence(twin), Untraced)


CHANGES: dict[str, Act] = {
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(1),
    "fill": lambda x: x.fill(0),
    "put": lambda x: x.put(0, 1),
    "resize": lambda x: x.resize(2),
    "byteswap": lambda x: x.byteswap(inplace=True),
    "setfield": lambda x: x.setfield(0, np.int8),
    "view": lambda x: x.view(np.int64),
    "setflags": lambda x: x.setflags(write=True),
    "np.put": lambda x: np.put(x, 0, 1),
    "np.copyto": lambda x: np.copyto(x, 0),
    "np.place": lambda x: np.place(x, [True] * 3, 0),
    "np.putmask": lambda x: np.putmask(x, [True] * 3, 0),
    "np.fill_diagonal": lambda x: np.fill_diagonal(x[None], 0),
    "np.put_along_axis": lambda x: np.put_along_axis(x, np.array([0]), 1, 0),
    "np.nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "np.add.at": lambda x: np.add.at(x, [0], 1),
    "np.add out": lambda x: np.add(x[:1], x[1:2], out=x[2:]),
}


@pytest.mark.parametrize("act", CHANGES.values(), ids=CHANGES.keys())
def test_sealed_data_cannot_be_changed_in_place(records: Any, act: Act) -> None:
    """Entries would belong to other records than their trace says: after a sort, the first is the least of all."""
    with pytest.raises(Leak):
        act(records)
    assert np.array_equal(unseal(records), [SECRET, -0.5, 0.25])


@pytest.mark.parametrize("act", [lambda x: operator.setitem(x, 0, 1), lambda x: operator.setitem(x.flat, slice(None), 1)])
def test_assigning_to_sealed_data_is_refused_with_what_to_do_instead(records: Any, act: Act) -> None:
    with pytest.raises(TypeError, match=r"in place; np\.where"):
        act(records)
    for name in ("shape", "dtype", "flat", "data"):
        with pytest.raises(AttributeError):
            setattr(records, name, 1)
    assert np.array_equal(unseal(records), [SECRET, -0.5, 0.25])


def test_sealed_data_does_not_follow_later_changes_of_what_was_sealed() -> None:
    values = np.array([1.0, 0.0])
    x, sums = dp.seal(values, -1, 1), seal_sums(values, np.array([0, 1]), np.array([1, 2]), 2.0, 1.0)
    values[0] = 0.5
    assert unseal(x)[0] == unseal(sums)[0] == 1


def test_bounds_may_be_exact_texts_which_are_rounded_inward() -> None:
    """0.1 is no multiple of 2^-20: the range that counts is the one inside, for texts as for floats."""
    for low, high in (("0.1", "0.9"), (Fraction(1, 10), Fraction(9, 10)), (["0.1", 0], ("0.9", 1))):
        texts = dp.seal([[0.0, 0.0], [1.0, 1.0]] if isinstance(low, list) else [0.0, 1.0], low, high)
        first = unseal(texts).ravel()[0]
        assert first == np.ceil(0.1 * 2**20) / 2**20
        assert dependence(texts[0]).sensitivity(1) <= (0.8 if not isinstance(low, list) else 1.8)
    with pytest.raises(dp.DpauditError, match="low, high"):
        dp.seal([0.0], "much", "more")


def test_a_shape_that_cannot_depend_on_the_data_is_public(records: Any) -> None:
    shapes = [records, records[1:], np.sort(records), records > 0, np.eye(2, 3) @ records, np.outer(records, records)]
    assert [np.shape(x) for x in shapes] == [(3,), (2,), (3,), (3,), (2,), (3, 3)]
    assert (len(records), records.ndim, records.size, np.size(records)) == (3, 1, 3, 3)
    assert [isinstance(entry, Sealed) for entry in records] == [True] * 3


LENGTHS: dict[str, Act] = {
    "len": len,
    "shape": lambda x: x.shape,
    "size": lambda x: np.size(x),
    "iteration": list,
    "comparison": lambda x: (x > 0).shape,
    "sorted": lambda x: len(np.sort(x)),
    "place": lambda x: x[5],
    "weights": lambda x: len(x * np.ones(3)),
    "slice": lambda x: len(x[:2]),
}


@pytest.mark.parametrize("ask", LENGTHS.values(), ids=LENGTHS.keys())
def test_the_number_of_removable_records_is_private(removable: Any, ask: Act) -> None:
    with pytest.raises(Leak, match="length"):
        ask(removable)


def test_removable_records_can_be_summed_but_not_released_one_by_one(removable: Any) -> None:
    with dp.simulate(1) as channel:
        assert np.shape(channel.release("sum", removable.sum(), dp.Laplace(1), sensitivity=1)) == ()
        with pytest.raises(Leak, match="length"):
            channel.release("all", removable, dp.Laplace(1), sensitivity=1)
        with pytest.raises(Leak, match="length"):
            channel.reports("each", removable, dp.Laplace(1), sensitivity=1)


@pytest.mark.parametrize("raised", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_records_that_are_not_numbers_or_out_of_range_are_clipped(raised: float) -> None:
    snapped = unseal(dp.seal([raised, 0.0], -0.1, 0.1))
    assert np.all(np.abs(snapped) <= 0.1)
    assert np.all(snapped * 2**20 == np.round(snapped * 2**20))


def test_bounds_are_snapped_inward_to_the_grid() -> None:
    ends = snap([-5, 5], -0.1, 0.1)
    assert np.array_equal(ends * 2**20, [-104857, 104857])


@pytest.mark.parametrize("bounds", [(1, 1), (1, -1), (np.nan, 1), (0, np.inf), (-1e300, 1e300), (1e-9, 2e-9), (-(2.0**33), 0)])
def test_bounds_that_are_none_are_refused(bounds: Any) -> None:
    with pytest.raises(InvalidValue):
        dp.seal([0.0], *bounds)


@pytest.mark.parametrize("values", [1.0, np.zeros((1, 1, 1)), ["a"], [None], [1j]])
def test_data_that_are_not_one_number_or_row_per_record_are_refused(values: Any) -> None:
    with pytest.raises(InvalidValue):
        dp.seal(values, 0, 1)


def test_columns_may_have_bounds_of_their_own() -> None:
    table = dp.seal([[5.0, -5.0], [0.5, 0.25]], [0, -1], [1, 3])
    assert np.array_equal(unseal(table), [[1, -1], [0.5, 0.25]])
    with pytest.raises(InvalidValue, match="column"):
        dp.seal([[1.0, 2.0]], [0, 0, 0], [1, 1, 1])


def test_a_message_about_bad_data_shows_none_of_it() -> None:
    with pytest.raises(InvalidValue) as refused:
        dp.seal(["patient 4711"], 0, 1)
    assert "4711" not in str(refused.value)


def test_empty_data_can_be_summed_and_released() -> None:
    empty = dp.seal([], -1, 1)
    with dp.simulate(1) as channel:
        channel.release("sum", empty.sum(), dp.Laplace(2), sensitivity=2)
        channel.release("all", empty, dp.Laplace(2), sensitivity=2)
        channel.release("mean", empty.mean(), dp.Laplace(2), sensitivity=2)
    assert [event.query.shape for event in channel.events] == [(), (0,), ()]
