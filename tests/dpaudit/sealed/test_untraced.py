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
from dpaudit.sealed import Sealed, unseal
from dpaudit.sealed.array import Untraced, dependence

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
        lambda x, spy: np.piecewise(x, [x > 0], [np.vectorize(spy.__radd__), 0]),
        lambda x, spy: np.apply_along_axis(np.vectorize(spy.__radd__), 0, x),
        lambda x, spy: np.apply_along_axis(np.frompyfunc(spy.__radd__, 1, 1), 0, x),
        lambda x, spy: np.apply_over_axes(spy.__radd__, x, 0),
        lambda x, spy: np.apply_along_axis(type("Kept", (list,), {"__init__": lambda self, *a: spy.__radd__(a)}), 0, x),
        lambda x, spy: np.apply_along_axis(np.put, 0, np.zeros(3, int), [0], x),
        lambda x, spy: np.pad(x, 1, mode=lambda *a: spy.__radd__(a)),
        lambda x, spy: np.vectorize(spy.__radd__, signature="(n)->()")(x),
        lambda x, spy: np.fromfunction(lambda i: spy.__radd__(np.asarray(x)), (1,)),
        lambda x, spy: max(x, key=float),
        lambda x, spy: np.arctan2(x, spy),
        lambda x, spy: np.hypot(x, np.array([spy] * 3, dtype=object)),
    ],
)
def test_no_python_function_or_object_is_shown_plain_values(records: Any, show: Any) -> None:
    spy = Spy()
    with pytest.raises(Leak):
        show(records, spy)
    assert not [value for value in spy.seen if not isinstance(value, Sealed)]


class SpyNumber(float):
    """A number that answers for the other side of an operator."""

    __array_priority__ = 1000
    seen: list[Any] = []  # noqa: RUF012

    def __radd__(self, other: Any) -> Any:
        self.seen.append(other)
        return 0.0

    __rsub__ = __rmul__ = __rtruediv__ = __gt__ = __lt__ = __ge__ = __le__ = __radd__


class SpyList(list):  # type: ignore[type-arg]
    """A list that keeps what it is made of."""

    made_of: list[Any] = []  # noqa: RUF012

    def __init__(self, parts: Any) -> None:
        super().__init__(parts)
        self.made_of += list(self)


def test_neither_numbers_nor_lists_of_a_foreign_type_are_shown_anything_but_sealed_data(records: Any) -> None:
    spy, both = SpyNumber(0.5), SpyList([records, records])
    np.percentile(records, spy)
    np.gradient(records, spy)
    np.nan_to_num(np.sort(records), nan=spy)
    np.interp(records, [0.0, spy], [0.0, 1.0])
    np.concatenate(both)
    np.concatenate(both, dtype=np.float32)
    assert all(isinstance(value, Sealed) for value in [*spy.seen, *both.made_of])


def test_arithmetic_with_a_foreign_object_shows_it_nothing(records: Any) -> None:
    spy = Spy()
    result = np.add(records, spy), np.multiply(records, spy), np.power(records, np.array([spy] * 3, dtype=object))
    assert all(isinstance(part, Sealed) for part in result)
    assert not [value for value in spy.seen if not isinstance(value, Sealed)]


UNTRACED: dict[str, Act] = {
    "median": np.median,
    "sort": np.sort,
    "place of the greatest": lambda x: x.argmax(),
    "unique": np.unique,
    "std": lambda x: x.std(),
    "var": np.var,
    "half precision": lambda x: x.astype(np.float16),
    "other records": lambda x: x * x[::-1],
    "square of a sum": lambda x: x.sum() ** 2,
    "whole division by a negative number": lambda x: x // -2,
    "remainder of a negative number": lambda x: x % -1,
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
    assert isinstance(result, Sealed)
    found = dependence(result) if not result._private.hidden else result._private.trace
    assert isinstance(found, Untraced)
    assert found.where.startswith(Path(__file__).name)
    assert np.array_equal(unseal(result), operate(unseal(records)))


NUMBERS: list[Act] = [
    np.median,
    np.std,
    np.max,
    lambda x: x.min(),
    lambda x: np.quantile(x, 0.5),
    lambda x: x[0],
    lambda x: np.unique(x).sum(),
]


@pytest.mark.parametrize("operate", NUMBERS)
def test_one_number_of_records_that_can_be_removed_is_untraced_and_no_leak(removable: Any, operate: Act) -> None:
    result = operate(removable)
    assert (result.shape, result.dtype) == ((), float)
    assert isinstance(dependence(result), Untraced)


def test_the_first_lost_operation_is_the_one_that_is_named(records: Any) -> None:
    found = dependence(np.sort(records)[0] * 2)
    assert isinstance(found, Untraced)
    assert "sort" in found.operation


def test_operations_with_several_results_give_several_sealed_ones(records: Any) -> None:
    fraction, whole = np.modf(records)
    assert isinstance(fraction, Sealed)
    assert isinstance(whole, Sealed)
    assert all(isinstance(part, Sealed) for part in np.split(records, 3))
    assert isinstance(np.linalg.svd(np.outer(records, records)).S, Sealed)


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


def test_an_error_that_depends_on_the_data_shows_nothing_of_it(records: Any) -> None:
    """numpy says: index 437 is out of bounds."""
    with pytest.raises(Leak) as leak:
        np.unravel_index((1000 * records).astype(int), (3, 3))
    assert "437" not in str(leak.value)
    assert leak.value.__context__ is leak.value.__cause__ is None


ERRORS: dict[str, tuple[Act, type[Exception]]] = {
    "axis": (lambda x: np.sort(x, axis=3), np.exceptions.AxisError),
    "axis of a sum": (lambda x: x.sum(axis=1), np.exceptions.AxisError),
    "shapes": (lambda x: x + np.ones(7), ValueError),
    "reshape": (lambda x: x.reshape(2, 2), ValueError),
    "place": (lambda x: x[3], IndexError),
    "places": (lambda x: np.take(x, [7]), IndexError),
    "option": (lambda x: np.median(x, nothing=1), TypeError),
    "negative whole powers": (lambda x: (x > 2).astype(int) ** -1, ValueError),
}


@pytest.mark.parametrize(("act", "error"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_that_comes_whatever_the_data_is_numpys_own(records: Any, act: Act, error: type[Exception]) -> None:
    with pytest.raises(error) as sealed:
        act(records)
    with pytest.raises(error) as plain:
        act(unseal(records))
    assert str(sealed.value) == str(plain.value)
