"""Numbers near the ends of float64 and int64: what cannot be said of them is not said, and never that nothing moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Leak
from dpaudit.noise import GRID, to_units
from dpaudit.sealed import trace as traces
from dpaudit.sealed import unseal
from dpaudit.sealed.array import Untraced, dependence, seal_raw
from dpaudit.sealed.dependence import Dependence
from dpaudit.sealed.trace import Precision, Private, Spread, Unbounded
from dpaudit.sealed.traces import arithmetic

Program = Callable[[Any], Any]

OVERFLOWING: dict[str, Program] = {
    "weights": lambda x: (x.sum() * np.array([1, 1e308]) * np.array([1, 10.0]))[:1],
    "cumsum": lambda x: np.cumsum(np.concatenate([x, [1e308, 1e308]]))[2],
    "logarithm": lambda x: np.clip(np.nan_to_num(np.log(x)).sum(), -9, 9),
    "matrix": lambda x: (np.array([[1, 0, 0], [1e308, 1e308, 1e308]]) @ x)[:1],
    "twice": lambda x: (x.sum() * 1e308 * 1e308) * 0,
    "two wide moves": lambda x: np.stack([x.sum() * 6e307, x.sum() * 6e307]),
    "whole numbers": lambda x: (x > 0).sum() * 2**62 / 2.0**62,
    "whole numbers added": lambda x: ((x > 0).sum() + (2**63 - 1)) / 2.0**63,
    "whole numbers chosen": lambda x: np.where([True, True, False], (x > 0).astype(int), 2**62).sum() / 2.0**62,
}
VANISHING: dict[str, Program] = {
    "least number": lambda x: ((x.sum() + 8) * 5e-324 / 16) * 2.0**1000 * 2.0**74,
    "least weights": lambda x: (np.full(3, 5e-324) @ x / 16) * 2.0**1000 * 2.0**74,
    "divisor": lambda x: (x.sum() + 8) / 1.7e308 / 2.0**52 * 2.0**1000 * 2.0**74,
    "matrix of sums": lambda x: (np.array([[5e-324]]) @ np.stack([x.sum() / 16])) * 2.0**1000 * 2.0**74,
}
PROGRAMS = {**OVERFLOWING, **VANISHING}


def charged_and_moved(program: Program) -> tuple[int | None, int]:
    """Steps charged, None where untraced, and the largest move of one of three records; in steps of the grid."""
    found = dependence(program(dp.seal([0.0, 0.5, 0.25], -1, 1)))
    units = [to_units(unseal(program(dp.seal([v, 0.5, 0.25], -1, 1))), GRID) for v in (-1, 0, 0.37, 1)]
    moved = max(int(np.abs(a - b).sum()) for a in units for b in units)
    return None if isinstance(found, Untraced) else found.steps(GRID, 1), moved


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_numbers_that_overflow_or_vanish_are_untraced_or_charged(program: Program) -> None:
    charged, moved = charged_and_moved(program)
    assert charged is None or moved <= charged


@pytest.mark.parametrize("program", [*OVERFLOWING.values()][:6], ids=[*OVERFLOWING][:6])
def test_numbers_that_overflow_are_untraced_and_their_release_is_no_error(program: Program) -> None:
    assert charged_and_moved(program)[0] is None
    with dp.simulate(1) as channel:
        channel.release("value", program(dp.seal([0.0, 0.5, 0.25], -1, 1)), dp.Laplace(1), sensitivity=1)
    assert channel.untraced


def test_raw_records_of_any_size_cannot_be_summed_with_a_trace() -> None:
    raw = seal_raw([1.0, np.nan, 3.0])
    assert isinstance(dependence(np.where(np.isfinite(raw), raw, 0).sum()), Untraced)
    assert isinstance(dependence(np.where(np.isfinite(raw), raw, 0)), Untraced)


def old_combine(self: Precision, bits: int, size: float, terms: int) -> Precision:
    if self.slop == 0.0 and math.isfinite(size) and math.frexp(size)[1] + bits <= 52:
        return Precision(bits, size)
    return Precision(bits, size, self.slop * max(1.0, size / max(self.size, 1e-300)) + terms * 2.0**-52 * size)


@pytest.fixture
def old_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that took these numbers for exact."""
    monkeypatch.setattr(Precision, "combine", old_combine)
    monkeypatch.setattr(traces, "_bounded", lambda *_: True)
    monkeypatch.setattr(arithmetic, "vanishing", lambda *_: False)
    monkeypatch.setattr(Dependence, "finite", True)


@pytest.mark.usefixtures("old_rules")
def test_the_rules_that_took_these_for_exact_charge_too_little() -> None:
    charged, moved = charged_and_moved(PROGRAMS["least number"])
    assert charged is not None
    assert moved > charged


@pytest.mark.usefixtures("old_rules")
@pytest.mark.parametrize("name", ["weights", "cumsum"])
def test_the_rules_that_took_these_for_exact_meet_what_is_no_number(name: str) -> None:
    """The twin: 0·∞ is no number, and no charge can be worked out from it."""
    with pytest.raises(ValueError, match="NaN"):
        charged_and_moved(PROGRAMS[name])


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_no_trace_holds_a_number_that_is_not_finite(wrong: float) -> None:
    ids, sound = np.array([0]), Precision(0, 1.0)
    with pytest.raises(Unbounded):
        Private(np.zeros(1), Spread(ids, np.array([[wrong]])), sound, False)
    for precision in (Precision(0, wrong), Precision(0, 1.0, wrong)):
        with pytest.raises(Unbounded):
            Private(np.zeros(1), Spread(ids, np.ones((1, 1))), precision, False)
    Private(np.zeros(1), Spread(ids, np.ones((1, 1))), sound, False)


OPTIONS: dict[str, Program] = {
    "small whole numbers": lambda x: np.concatenate([x * 200, x * 200], dtype=np.int8, casting="unsafe").sum(),
    "truth": lambda x: np.stack([x, x], dtype=bool, casting="unsafe").sum(),
    "order in memory": lambda x: np.ravel(np.stack([x, 2 * x]).T, order="K")[:2],
    "order of the method": lambda x: np.stack([x, 2 * x]).T.flatten("K")[:2],
    "reshaped in memory": lambda x: np.stack([x, 2 * x]).T.reshape(6, order="A")[:2],
    "places beyond the end": lambda x: np.take(x, [0, 5], mode="clip"),
    "sum in half precision": lambda x: x.sum(dtype=np.float16),
}


@pytest.mark.parametrize("program", OPTIONS.values(), ids=OPTIONS.keys())
def test_an_option_that_is_not_known_loses_the_trace(program: Program) -> None:
    assert isinstance(dependence(program(dp.seal([0.5, 0.25, 0.0], -1, 1))), Untraced)


class Fickle:
    """A place that is another one each time it is asked."""

    asked = 0

    def __index__(self) -> int:
        self.asked += 1
        return self.asked % 3


PICKS: list[Program] = [lambda x: x[Fickle() :][:1], lambda x: np.take(x, [Fickle()]), lambda x: np.roll(x, Fickle())[:1]]


@pytest.mark.parametrize("pick", PICKS)
def test_an_option_is_read_once_for_value_and_trace(pick: Program) -> None:
    picked = pick(dp.seal([0.0, 0.25, 0.5], 0, 1))
    found = dependence(picked)
    assert not isinstance(found, Untraced)
    assert list(found.cohort) == [int(unseal(picked)[0] * 4)]


def test_a_sum_of_a_sum_is_itself_as_numpy_has_it() -> None:
    x = dp.seal([0.5, 0.25], -1, 1)
    for total in (x.sum().sum(axis=0), x.sum().sum(axis=-1), x.sum().mean(), np.sum(x.sum())):
        assert (unseal(total), charged_and_moved(lambda v, total=total: total)[0]) == (0.75, 2 * 2**20)


def test_an_average_by_public_weights_is_traced() -> None:
    charged, moved = charged_and_moved(lambda x: np.average(x, weights=[2, 1, 1]))
    assert charged == moved == 2**20
    table = dp.seal([[1.0, 0.5], [0.25, 1.0]], 0, 1)
    for axis in (0, None, 1):
        weights = [3, 1] if axis is not None else [[1, 2], [3, 4]]
        assert np.array_equal(unseal(np.average(table, axis, weights)), np.average(unseal(table), axis, weights))


def test_weights_that_add_up_to_nothing_are_a_plain_error_and_private_ones_a_leak() -> None:
    x = dp.seal([0.5, 0.25, 0.0], -1, 1)
    with pytest.raises(ZeroDivisionError):
        np.average(x, weights=[1, 2, -3])
    with pytest.raises(Leak):
        np.average([1.0, 2.0, 3.0], weights=x * 0)
