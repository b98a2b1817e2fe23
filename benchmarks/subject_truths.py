"""What a random program truly costs: enumeration of every pair of neighbouring data, beside and without dpaudit's own accounting.

A ``Truth`` encloses the least ε for which the program is (ε, δ)-DP. Sums of Laplace losses and of randomised responses are exact
(Fractions); Gaussian noise is that of the continuous law, with δ moved by 1 % either way for the lattice that is drawn from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scipy.optimize import brentq
from scipy.stats import norm

Record = tuple[Fraction, ...]
Data = tuple[Record, ...]
Pair = tuple[Data, Data]
Measure = Callable[[Data], tuple[Fraction, ...]]
Law = Literal["laplace", "gaussian", "response", "kary"]
Branch = Literal["any", "above", "below"]
NEAR_ZERO = Fraction(1, 2**17)  # a few steps of any lattice used here: some output above 0 is at most this


@dataclass(frozen=True)
class Step:
    """One release: what is measured, the law of its noise, and that law's scale, sigma or ε0."""

    measure: Measure
    law: Law
    size: Fraction
    categories: int = 2


@dataclass(frozen=True)
class Truth:
    """The least ε lies in [low, high]; infinite where the program leaks."""

    low: float | Fraction
    high: float | Fraction

    def exceeds(self, claim: Fraction) -> bool:
        """Surely more than the claim. A scale within 2^-50 of the claim's is raised to it by the door."""
        return self.low > claim * (1 + Fraction(1, 2**49))

    def within(self, claim: Fraction) -> bool:
        return self.high <= claim


LEAK = Truth(math.inf, math.inf)


def neighbouring_pairs(n: int, values: tuple[Record, ...], *, removal: bool) -> Iterator[Pair]:
    """Every ordered pair: one record replaced by another value, or (``removal``) missing from one of both."""
    for data in itertools.product(values, repeat=n):
        for place in range(n):
            rest = (data[:place], data[place + 1 :])
            if removal:
                yield data, rest[0] + rest[1]
                yield rest[0] + rest[1], data
            else:
                for value in values:
                    if value != data[place]:
                        yield data, (*rest[0], value, *rest[1])


def pure_loss(step: Step, pair: Pair, branch: Branch = "any", edge: Fraction = Fraction(0)) -> Fraction:
    """The largest log p(o|D) − log p(o|D') over outputs o of the branch.

    Branches are "above 0" and "at most 0", of one number. Laplace: the loss is monotone in o between both queries and constant
    beyond, so that it is largest at an end of the branch; ``edge`` is the least output above 0.
    """
    first, second = step.measure(pair[0]), step.measure(pair[1])
    if step.law in ("response", "kary"):
        if branch == "any":
            return step.size * sum(a != b for a, b in zip(first, second, strict=True))
        outputs = range(1, step.categories) if branch == "above" else range(1)
        return max(step.size * ((first[0] == o) - (second[0] == o)) for o in outputs)
    if branch == "any":
        return sum((abs(a - b) for a, b in zip(first, second, strict=True)), Fraction(0)) / step.size
    (one,), (other,) = first, second
    far = (one - other) if branch == "above" else (other - one)
    end = edge if branch == "above" else Fraction(0)
    return max(far, abs(end - other) - abs(end - one)) / step.size


def squared_shift(step: Step, pair: Pair) -> Fraction:
    first, second = step.measure(pair[0]), step.measure(pair[1])
    return sum(((a - b) ** 2 for a, b in zip(first, second, strict=True)), Fraction(0)) / step.size**2


def gaussian_epsilon(squared: Fraction, delta: float) -> float:
    """The least ε ≥ 0 of a shift by μ standard deviations: δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle, Wang 2018, Thm 8)."""
    mu = math.sqrt(squared)
    if mu == 0:
        return 0.0

    def over(epsilon: float) -> float:
        tail = math.exp(min(700.0, epsilon + float(norm.logcdf(-mu / 2 - epsilon / mu))))
        return float(norm.cdf(mu / 2 - epsilon / mu)) - tail - delta

    return 0.0 if over(0.0) <= 0 else float(brentq(over, 0.0, mu * mu / 2 + 40 * mu + 1, xtol=1e-12))


def paths_of(above: list[Step] | None, below: list[Step] | None) -> list[tuple[Branch, list[Step]]]:
    """What is released after the first steps, by the branch of the last of them."""
    if above is None or below is None:
        return [("any", [])]
    return [("above", above), ("below", below)]


def truth_of(pairs: list[Pair], first: list[Step], above: list[Step] | None, below: list[Step] | None, delta: Fraction) -> Truth:
    """Steps of ``first`` always; then those of ``above`` where the last output is above 0, and of ``below`` where it is not."""
    every = [*first, *(above or []), *(below or [])]
    gaussian = [step for step in every if step.law == "gaussian"]
    if not gaussian and delta == 0:
        return Truth(*(_pure(pairs, first, above, below, edge) for edge in (NEAR_ZERO, Fraction(0))))
    moved = max((squared_shift(step, pair) for step in gaussian for pair in pairs), default=Fraction(0))
    if delta == 0:
        return LEAK if moved else _bounded(pairs, every)
    if len(gaussian) == len(every) and above is None:
        squared = max(sum((squared_shift(step, pair) for step in every), Fraction(0)) for pair in pairs)
        return Truth(*(gaussian_epsilon(squared, float(delta) * factor) for factor in (1.01, 0.99)))
    return _apart(pairs, every, float(delta))


def _pure(pairs: list[Pair], first: list[Step], above: list[Step] | None, below: list[Step] | None, edge: Fraction) -> Fraction:
    worst = Fraction(0)
    for pair in pairs:
        for branch, later in paths_of(above, below):
            fixed = sum((pure_loss(step, pair) for step in [*first[:-1], *later]), Fraction(0))
            worst = max(worst, fixed + pure_loss(first[-1], pair, branch, edge))
    return worst


def _bounded(pairs: list[Pair], every: list[Step]) -> Truth:
    """No Gaussian step moves: between the costliest release and the sum of all."""
    costs = [max(pure_loss(step, pair) for pair in pairs) for step in every if step.law != "gaussian"]
    return Truth(Fraction(0), sum(costs, Fraction(0)))


def _apart(pairs: list[Pair], every: list[Step], delta: float) -> Truth:
    """At least what the first release costs alone; at most all pure costs and one Gaussian of all shifts."""
    pure = [max(pure_loss(step, pair) for pair in pairs) for step in every if step.law != "gaussian"]
    shifts = [max(squared_shift(step, pair) for pair in pairs) for step in every if step.law == "gaussian"]
    high = float(sum(pure)) + gaussian_epsilon(sum(shifts, Fraction(0)), delta * 0.99)
    if every[0].law == "gaussian":
        low = gaussian_epsilon(max(squared_shift(every[0], pair) for pair in pairs), delta * 1.01)
    elif every[0].law == "laplace" and len(every[0].measure(pairs[0][0])) == 1:
        low = float(pure[0]) + 2 * math.log1p(-1.01 * delta)  # δ(ε) = 1 − e^((ε − ε0)/2) of one Laplace number
    else:
        low = 0.0
    return Truth(max(0.0, low - 1e-5), high + 1e-9)
