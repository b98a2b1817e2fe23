"""The finite sum for equal Laplace releases against enumeration, high precision and the contour."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest

from dpaudit.accountants.losses.equal_laplace import MOST, EqualLaplace, equal_laplace_delta, equal_laplace_epsilon
from dpaudit.accountants.losses.laws.privacy_loss import LaplaceLoss
from dpaudit.accountants.losses.loss_contour import Contour
from dpaudit.accountants.losses.loss_plans import plan, saddle_at
from dpaudit.claims.balls import lower, precision, upper

DELTA = Fraction(1, 10**6)


def enumerated(epsilon: Fraction, steps: int, count: int, level: Fraction) -> mpmath.mpf:
    """δ over all outputs of ``count`` releases; each loss is ε − 2ao with o = 0 … steps."""
    with mpmath.workdps(40):
        a = mpmath.mpf(epsilon.numerator) / epsilon.denominator / steps
        r = mpmath.exp(-a)
        ends = [1 / (1 + r)] + [mpmath.tanh(a / 2) * r**o for o in range(1, steps)] + [mpmath.exp(-a * steps) / (1 + r)]
        total, top = mpmath.mpf(0), mpmath.mpf(level.numerator) / level.denominator
        for outputs in product(range(steps + 1), repeat=count):
            loss = a * (steps * count - 2 * sum(outputs))
            if loss > top:
                total += mpmath.fprod(ends[o] for o in outputs) * (1 - mpmath.exp(top - loss))
        return total


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("level", ["0", "0.13", "0.5", "1.1"])
def test_delta_is_that_of_all_outputs(steps: int, count: int, level: str) -> None:
    epsilon = Fraction(2, 5)
    truth = enumerated(epsilon, steps, count, Fraction(level))
    low, high = equal_laplace_delta(LaplaceLoss(epsilon, steps), count, Fraction(level))
    with mpmath.workdps(40):
        assert mpmath.mpf(low.numerator) / low.denominator <= truth <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low <= Fraction(1, 10**10) * high


@pytest.mark.parametrize(
    ("count", "epsilon", "steps"), [(30, "0.1", 2**20), (100, "0.1", 2**20), (60, "0.5", 2**20), (40, "1", 3)]
)
def test_the_contour_encloses_the_same(count: int, epsilon: str, steps: int) -> None:
    law = LaplaceLoss(Fraction(epsilon), steps)
    low, high = equal_laplace_epsilon(law, count, DELTA)
    laws = ((law, count),)
    at = saddle_at(laws, math.log(DELTA), "log_delta")
    with precision(220):
        below, above = Contour(laws, at, plan(laws, at, inner=False)).delta(law.epsilon * count - high)
        least, most = lower(below), upper(above)
    found = equal_laplace_delta(law, count, high)
    assert least <= found[1]
    assert found[0] <= most
    assert high - low <= 1e-9 * high


def test_the_ends_are_on_either_side_of_delta() -> None:
    law = LaplaceLoss(Fraction(1, 10), 2**20)
    low, high = equal_laplace_epsilon(law, 30, DELTA)
    assert equal_laplace_delta(law, 30, high * (1 + Fraction(1, 10**12)))[1] <= DELTA
    assert equal_laplace_delta(law, 30, low * (1 - Fraction(1, 10**12)))[0] > DELTA


def test_known_figure_of_a_hundred() -> None:
    low, high = equal_laplace_epsilon(LaplaceLoss(Fraction(1, 10), 2**20), 100, DELTA)
    assert float(low) == pytest.approx(4.6926674146803, abs=1e-11)
    assert float(high) == pytest.approx(4.6926674146803, abs=1e-11)


@pytest.mark.parametrize("delta", ["1/10", "1/1000", "1e-12", "1e-30"])
def test_the_cell_holds_the_root_at_any_delta(delta: str) -> None:
    law = LaplaceLoss(Fraction(1, 4), 2**20)
    low, high = equal_laplace_epsilon(law, 25, Fraction(delta))
    assert 0 < low <= high <= law.epsilon * 25
    assert equal_laplace_delta(law, 25, high * (1 + Fraction(1, 10**12)))[1] <= Fraction(delta)


def test_a_large_delta_costs_nothing() -> None:
    assert equal_laplace_epsilon(LaplaceLoss(Fraction(1, 100), 2**20), 3, Fraction(1, 2)) == (0, 0)


def test_errors_of_sums_are_counted() -> None:
    """What is claimed of A and B holds for the same sums in exact numbers; a tenth of a thousandth of it would not."""
    equal = EqualLaplace(LaplaceLoss(Fraction(1, 10), 2**20), 40)
    cell = equal.cell_of(Fraction(2))
    sums = equal.sums(cell)
    with mpmath.workdps(60):
        small = mpmath.tanh(mpmath.mpf(1) / 10 / 2**20 / 2)
        total = mpmath.mpf(0)
        for j in range(cell // 2**20 + 1):
            n = cell - 2**20 * j
            powers = [mpmath.mpf(1), (2 * n + 1) * small]
            for p in range(1, 130):
                powers.append(((2 * n + 1) * small * powers[p] + p * small**2 * powers[p - 1]) / (p + 1))
            signs = _row(40, j, 130)
            total += math.comb(40, j) * mpmath.fsum(z * e for z, e in zip(signs, powers[1:], strict=False)) / mpmath.mpf(2) ** 39
        off = abs(total - sums.shifted)
    assert off <= sums.shifted_error
    assert off > sums.shifted_error / 10**5


def _row(count: int, j: int, columns: int) -> list[int]:
    """(1−w)^{j−1} (1+w)^{k−j−1} as a series."""
    row = [math.comb(count - j - 1, p) for p in range(columns)]
    for _ in range(j - 1):
        row = [value - (row[p - 1] if p else 0) for p, value in enumerate(row)]
    if j == 0:
        row = [sum(row[: p + 1]) for p in range(columns)]
    return row


@pytest.mark.parametrize("count", [1, MOST + 1])
def test_other_counts_are_left_to_the_contour(count: int) -> None:
    with pytest.raises(ArithmeticError):
        equal_laplace_epsilon(LaplaceLoss(Fraction(1, 10), 2**20), count, DELTA)
