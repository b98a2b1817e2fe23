"""Operations that no trace knows: their results stay sealed, and nothing and nobody gets hold of the plain values."""

from __future__ import annotations

import io
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Leak
from dpaudit.traced import Untraced, dependence

Act = Callable[[Any], Any]


@pytest.fixture
def records() -> Any:
    return dp.seal(np.array([0.4375, -0.5, 0.25]), -1, 1)


@pytest.fixture
def removable() -> Any:
    return dp.seal(np.array([0.4375, -0.5, 0.25]), -1, 1, removal=True)


WRITES: dict[str, Act] = {
    "out": lambda x: np.add(x, 1, out=np.zeros(3)),
    "out of a function": lambda x: np.median(x, out=np.zeros(())),
    "out of sum": lambda x: np.sum(x, out=np.zeros(())),
    "out of a method": lambda x: x.cumsum(out=np.zeros(3)),
    "in place": lambda x: operator.iadd(np.zeros(3), x),
    "ufunc.at": lambda x: np.add.at(np.zeros(3), [0, 1, 2], x),
    "copyto": lambda x: np.copyto(np.zeros(3), x),
    "put": lambda x: np.put(np.zeros(3), [0, 1, 2], x),
    "place": lambda x: np.place(np.zeros(3), np.ones(3, bool), x),
    "putmask": lambda x: np.putmask(np.zeros(3), np.ones(3, bool), x),
    "fill_diagonal": lambda x: np.fill_diagonal(np.zeros((3, 3)), x),
    "save": lambda x: np.save(io.BytesIO(), x),
    "savetxt": lambda x: np.savetxt(io.StringIO(), x),
    "tofile": lambda x: x.tofile("nowhere"),
    "array2string": lambda x: np.array2string(x),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_writing_sealed_data_into_a_plain_array_or_a_file_is_dpa002(
    records: Any, write: Act, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Leak):
        write(records)
    assert not list(tmp_path.iterdir())


def test_an_array_that_refused_sealed_data_holds_none_of_it(records: Any) -> None:
    for write in (lambda b: np.add(records, 1, out=b), lambda b: np.copyto(b, records), lambda b: operator.imul(b, records)):
        buffer = np.full(3, 7.0)
        with pytest.raises(Leak):
            write(buffer)
        assert np.array_equal(buffer, [7, 7, 7])


class Spy:
    """A public object that would keep whatever it is shown."""

    __array_priority__ = 1000

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __radd__(self, other: Any) -> Any:
        self.seen.append(other)
        return 0.0

    __rmul__ = __rpow__ = __radd__

    def __float__(self) -> float:
        return 2.0


@pytest.mark.parametrize(
    "show",
    [
        lambda x, spy: np.apply_along_axis(spy.__radd__, 0, x),
        lambda x, spy: np.piecewise(x, [np.ones(3, bool)], [spy.__radd__]),
        lambda x, spy: np.frompyfunc(spy.__radd__, 1, 1)(x),
        lambda x, spy: np.arctan2(x, spy),
        lambda x, spy: np.hypot(x, np.array([spy] * 3, dtype=object)),
    ],
)
def test_no_python_function_or_object_is_shown_plain_values(records: Any, show: Any) -> None:
    spy = Spy()
    with pytest.raises(Leak):
        show(records, spy)
    assert not [value for value in spy.seen if not isinstance(value, dp.Sealed)]


def test_arithmetic_with_a_foreign_object_shows_it_nothing(records: Any) -> None:
    spy = Spy()
    result = np.add(records, spy), np.multiply(records, spy), np.power(records, np.array([spy] * 3, dtype=object))
    assert all(isinstance(part, dp.Sealed) for part in result)
    assert not [value for value in spy.seen if not isinstance(value, dp.Sealed)]


UNTRACED: dict[str, Act] = {
    "median": np.median,
    "sort": np.sort,
    "greatest": lambda x: x.max(),
    "unique": np.unique,
    "std": lambda x: x.std(),
    "var": np.var,
    "half precision": lambda x: x.astype(np.float16),
    "other records": lambda x: x * x[::-1],
    "square of a sum": lambda x: x.sum() ** 2,
    "whole division": lambda x: x // 2,
    "remainder": lambda x: x % 1,
    "outer": lambda x: np.outer(x, x),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "root of negative": lambda x: x**-1,
    "masked sum": lambda x: np.sum(x, where=np.array([True, False, True])),
    "single precision": lambda x: (x > 0) * np.full(3, 0.1, np.float32),
    "array_equal": lambda x: np.array_equal(x, x),
    "apply": lambda x: np.apply_along_axis(np.median, 0, x),
    "norm": np.linalg.norm,
    "histogram": lambda x: np.histogram(x)[0],
}


@pytest.mark.parametrize("operate", UNTRACED.values(), ids=UNTRACED.keys())
def test_an_operation_that_is_not_known_is_untraced_and_no_leak(records: Any, operate: Act) -> None:
    result = operate(records)
    assert isinstance(result, dp.Sealed)
    found = dependence(result) if not result._private.hidden else result._private.trace
    assert isinstance(found, Untraced)
    assert found.where.startswith(Path(__file__).name)
    assert np.array_equal(dp.unseal(result), operate(dp.unseal(records)))


def test_the_first_lost_operation_is_the_one_that_is_named(records: Any) -> None:
    found = dependence(np.sort(records)[0] * 2)
    assert isinstance(found, Untraced)
    assert "sort" in found.operation


def test_operations_with_several_results_give_several_sealed_ones(records: Any) -> None:
    fraction, whole = np.modf(records)
    assert isinstance(fraction, dp.Sealed)
    assert isinstance(whole, dp.Sealed)
    assert all(isinstance(part, dp.Sealed) for part in np.split(records, 3))
    assert isinstance(np.linalg.svd(np.outer(records, records)).S, dp.Sealed)


COUNTS: dict[str, Act] = {
    "nonzero": lambda x: len(np.nonzero(x > 0)[0]),
    "flatnonzero": lambda x: np.flatnonzero(x > 0).size,
    "where": lambda x: np.where(x > 0)[0].shape,
    "unique": lambda x: len(np.unique(x)),
    "compress": lambda x: len(np.compress(x > 0, np.ones(3))),
    "repeat": lambda x: np.repeat(x, (4 * abs(x)).astype(int)).shape,
    "method": lambda x: (x > 0).nonzero()[0].size,
    "loop": lambda x: list(np.flatnonzero(x > 0)),
}


@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS.keys())
def test_a_shape_that_depends_on_the_data_is_as_private_as_the_data(records: Any, count: Act) -> None:
    with pytest.raises(Leak, match="length"):
        count(records)


def test_a_shape_that_depends_on_the_data_cannot_be_released(records: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(Leak, match="length"):
        channel.release("positive ones", np.flatnonzero(records > 0), dp.Laplace(1), sensitivity=3)
    assert not channel.events


def test_errors_that_depend_on_the_data_are_leaks(records: Any, removable: Any) -> None:
    with pytest.raises(Leak, match="error"):
        np.linalg.inv(np.outer(records, records) * 0)
    with pytest.raises(Leak, match="error"):
        np.take(records, (10 * records).astype(int))
    with pytest.raises(Leak, match="error"):
        np.maximum(removable, np.zeros(7))
