"""The best of a random number of runs, against exact enumeration."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpaudit.accountants.selection.repeated_selection import poisson_renyi, repeated_epsilon, repeated_renyi
from dpaudit.claims import InvalidValue


def _generating(x: float, gamma: float, shape: float) -> float:
    """E x^K of the truncated negative binomial law."""
    if shape == 0:
        return math.log1p(-(1 - gamma) * x) / math.log(gamma)
    return ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)


def _best_of(law: list[float], gamma: float, shape: float) -> list[float]:
    below = [sum(law[:k]) for k in range(len(law) + 1)]
    values = [_generating(min(at, 1.0), gamma, shape) for at in below]
    return [b - a for a, b in itertools.pairwise(values)]


def _neighbours(draw: random.Random, size: int, epsilon: float) -> tuple[list[float], list[float]]:
    """Two laws whose ratios are e^{±ε} (randomised response on a random half), in a random order of outcomes."""
    base = [draw.random() ** 3 + 1e-3 for _ in range(size)]
    side = [draw.random() < 0.5 for _ in range(size)]
    p = [b * (math.exp(epsilon) if s else 1) for b, s in zip(base, side, strict=True)]
    q = [b * (1 if s else math.exp(epsilon)) for b, s in zip(base, side, strict=True)]
    return [x / sum(p) for x in p], [x / sum(q) for x in q]


@pytest.mark.parametrize("shape", ["-1/2", "0", "1", "2"])
def test_no_outcome_is_told_apart_better_than_the_bound(shape: str) -> None:
    draw, worst = random.Random(5), 0.0
    for _ in range(1500):
        p, q = _neighbours(draw, draw.randint(2, 4), draw.choice([0.1, 1.0, 2.0]))
        own = max(1e-9, *(abs(math.log(a / b)) for a, b in zip(p, q, strict=True)))
        gamma = draw.choice([1e-4, 0.01, 0.3])
        a, b = (_best_of(law, gamma, float(Fraction(shape))) for law in (p, q))
        shown = max(abs(math.log(x / y)) for x, y in zip(a, b, strict=True))
        worst = max(worst, shown / float(repeated_epsilon(own, shape)))
    assert worst <= 1 + 1e-6
    assert worst > 0.6  # the search comes near it: a smaller factor would be caught


def test_shapes_that_have_no_law_are_refused() -> None:
    with pytest.raises(InvalidValue):
        repeated_epsilon(1, -1)
    assert repeated_epsilon("0.1", 1) == Fraction(3, 10)


def _divergence(p: list[float], q: list[float], order: float) -> float:
    """The larger of D_α(P‖Q) and D_α(Q‖P)."""
    if order == 1:
        return max(sum(a * math.log(a / b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    sums = (sum(a * (a / b) ** (order - 1) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    return max(1e-12, *(math.log(each) / (order - 1) for each in sums))


@pytest.mark.parametrize("shape", ["0", "1", "3"])
def test_renyi_divergences_of_the_best_run_stay_below_the_bound(shape: str) -> None:
    """Over 1,500 mechanisms with all outcomes listed; without the mean number of runs the bound would be broken."""
    draw, worst, without = random.Random(6), 0.0, 0.0
    for _ in range(1500):
        p, q = _neighbours(draw, draw.randint(2, 4), draw.choice([0.1, 1.0, 2.0]))
        gamma, order, second = draw.choice(["0.001", "0.1", "0.5", "1"]), draw.choice([1.5, 3.0, 20.0]), draw.choice([1, 4, 30])
        one, other = _divergence(p, q, order), _divergence(p, q, second)
        bound = float(repeated_renyi(order, one, gamma, shape, (second, other)))
        a, b = (p, q) if gamma == "1" else (_best_of(law, float(gamma), float(shape)) for law in (p, q))
        shown = _divergence(a, b, order)
        worst = max(worst, shown / bound)
        without = max(without, shown / (one + (1 + float(shape)) * (1 - 1 / second) * other))
    assert worst <= 1 + 1e-6
    assert without > 1


def test_gaussian_runs_have_the_closed_form_of_the_corollary() -> None:
    """Papernot & Steinke 2022, Cor. 4: the best other order is √(ln(1/γ)/ρ)."""
    rho, gamma, shape, order = 0.25, 0.1, 2.0, 6.0
    rare, mean = -math.log(gamma), shape * (1 - gamma) / (gamma * (1 - gamma**shape))
    second = math.sqrt(rare / rho)
    found = repeated_renyi(order, rho * order, "0.1", 2, (second, rho * second))
    expected = rho * (order - 1) + math.log(mean) / (order - 1) + 2 * (1 + shape) * math.sqrt(rho * rare) - shape * rho
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_a_poisson_number_of_runs_is_bounded_too() -> None:
    """e^{μ(x − 1)} is E x^K; no run shows an outcome below all others."""
    draw, worst = random.Random(7), 0.0
    for _ in range(1500):
        epsilon = draw.choice([0.1, 0.5, 1.0])
        p, q = _neighbours(draw, draw.randint(2, 4), epsilon)
        own = max(1e-9, *(abs(math.log(a / b)) for a, b in zip(p, q, strict=True)))
        if own < 0.01:  # the same law twice
            continue
        order, mean = 1 + draw.uniform(0.1, 0.999) / math.expm1(own), draw.choice([1.0, 5.0, 100.0])
        bound = poisson_renyi(order, _divergence(p, q, order), mean, (own, 0))
        laws = []
        for law in (p, q):
            below = [0.0, *(min(1.0, sum(law[: k + 1])) for k in range(len(law)))]
            values = [0.0, *(math.exp(mean * (at - 1)) for at in below)]
            laws.append([b - a for a, b in itertools.pairwise(values)])
        if min(map(min, laws)) > 1e-290:
            worst = max(worst, _divergence(*laws, order) / float(bound))
    assert 0.3 < worst <= 1 + 1e-6


@pytest.mark.parametrize(
    "call",
    [
        lambda: repeated_renyi(1, "0.1", "0.5", 1),
        lambda: repeated_renyi(2, "0.1", "1.5", 1),
        lambda: repeated_renyi(2, "0.1", "0.5", -2),
        lambda: repeated_renyi(2, "0.1", "0.5", 1, ("1/2", "0.1")),
        lambda: poisson_renyi(3, "0.1", 2, ("0.6", 0)),
    ],
)
def test_what_the_theorems_do_not_cover_is_refused(call: Callable[[], Fraction]) -> None:
    with pytest.raises(InvalidValue):
        call()
