"""DPA006, porous noise: do the last bits of a float output tell data sets apart that its coarse value does not?

Training outputs choose one event of last bits (``event_choice``); fresh ones test it, by Clopper–Pearson bounds on both sides.

- It refutes a claim about floats when, at the refuting level, P(S|D) > e^ε P(S|D') + δ.
- It is called porous only when at equal coarse values too, runs matched cell by cell, it is more than ``FACTOR`` times as
  frequent on D as on D': a mechanism that merely breaks its claim, on a coarse grid, is not called porous.

Where there is nothing to find: far from zero a sum is rounded to units u that are wider than the steps s of the noise, and an
output that n = u/s noises lead to is at most (n+1)/(n−1) times as telling as its density. Laplace noise of scale b has steps
b·2^-52·e^t at t scales from its centre: of scale 1 around 10^6, n is 500,000 at the centre and falls to 1 at thirteen scales,
where one run in 500,000 goes. numpy's normal noise of scale 1 around 1000 has at least 140 noises for each output up to 3.65
scales, in each strip of its table (Marsaglia and Tsang 2000), so that last bits add less than 0.015 to ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.auditors.floats.event_choice import Choice, Limit, choose_event, distinct
from dpaudit.auditors.floats.low_bits import LowBitEvent
from dpaudit.auditors.floats.matched_outputs import CELLS, Comparison, at_least, at_most, coarse_edges
from dpaudit.auditors.floats.preimage import Additive
from dpaudit.claims import Finding, InvalidValue, Number, positive, show

RULE = "DPA006"
TRAINING, MOST_TRAINING = 0.2, 10_000  # share of the runs that chooses the event, and the most runs per side that do


@dataclass(frozen=True)
class EventCounts:
    """In how many fresh runs the event happened, on the data set where it is the more frequent and on the other."""

    hits: int
    runs: int
    other_hits: int
    other_runs: int

    def turned(self) -> EventCounts:
        """The same with the two data sets in the other order."""
        return EventCounts(self.other_hits, self.other_runs, self.hits, self.runs)

    def epsilon(self, alpha: float, delta: float) -> float:
        """The least ε at which (ε,δ) allows such probabilities, but for an error of ``alpha``: half of it for each bound."""
        low = float(at_least(self.hits, self.runs, alpha / 2)) - delta
        return max(math.log(low / float(at_most(self.other_hits, self.other_runs, alpha / 2))), 0.0) if low > 0 else 0.0


@dataclass(frozen=True)
class EventTest:
    """An event, the runs that tested it, and the cells of their coarse values. ``turned``: it is the neighbour's."""

    event: LowBitEvent
    turned: bool
    fresh: Comparison

    def counts(self) -> EventCounts:
        here, there = (self.event.holds(side) for side in (self.fresh.first, self.fresh.second))
        return EventCounts(int(here.sum()), len(here), int(there.sum()), len(there))

    def porous(self, alpha: float) -> bool:
        """Does it break the claim, and is it more frequent at equal coarse values too? The error is shared by four bounds."""
        here, there = (self.event.holds(side) for side in (self.fresh.first, self.fresh.second))
        ratio = self.fresh.excess(here[:, None], there[:, None], alpha / 4)
        return bool(ratio[0, 0] > 0) and distinct(self.fresh.first[here])

    def message(self) -> str:
        """For a person. D is the data set where the event is the more frequent."""
        counts = self.counts()
        shares = f"{counts.hits / counts.runs:.2%} of the runs on D, {counts.other_hits / counts.other_runs:.2%} on D'"
        return f"porous noise: {self.event.words()} are {shares}"


def choose_and_test(
    sides: Sequence[tuple[np.ndarray, np.ndarray]], noises: Sequence[Sequence[Additive]], epsilon: float, delta: float
) -> EventTest | None:
    """The best event of all columns (outputs on D, on D'), chosen on training runs and counted on the rest."""
    factor = math.exp(min(epsilon, 700.0))
    best: tuple[Choice, int] | None = None
    for column, ((first, second), guesses) in enumerate(zip(sides, noises, strict=True)):
        ends = _training(first), _training(second)
        limit = Limit(factor, delta, max(len(first) - ends[0], 1) / max(ends[0], 1))
        choice = choose_event(first[: ends[0]], second[: ends[1]], guesses, limit, column)
        if choice is not None and (best is None or choice.promise > best[0].promise):
            best = choice, column
    if best is None:
        return None
    choice, column = best
    first, second = sides[column][:: -1 if choice.turned else 1]
    ends = _training(first), _training(second)
    edges = coarse_edges(*(side[:end][np.isfinite(side[:end])] for side, end in zip((first, second), ends, strict=True)))
    fresh = Comparison.of(first[ends[0] :], second[ends[1] :], edges, factor, delta)
    return EventTest(choice.event, choice.turned, fresh)


def _training(side: np.ndarray) -> int:
    return min(int(TRAINING * len(side)), MOST_TRAINING)


def porosity(
    values: ArrayLike,
    others: ArrayLike,
    *,
    alpha: float = 0.01,
    grid: Number | None = None,
    epsilon: float = 0.0,
    delta: float = 0.0,
    noises: Sequence[Additive] = (),
    where: str = "returned value",
) -> Finding | None:
    """The finding DPA006, or None, from independent outputs on D and on D', one number each.

    ``epsilon``, ``delta``: what the mechanism claims; with it, an honest one is flagged with probability at most ``alpha``,
    and without it one whose loss varies by at most log 8 within a sixteenth of its outputs. ``grid``: the declared step, if
    any. ``noises``: guesses beyond those made here. Raises ``InvalidValue`` for what is not a list of numbers.
    """
    first, second = _column(values), _column(others)
    if not 0 < alpha < 1:
        raise InvalidValue("alpha", alpha, "between 0 and 1")
    if grid is not None and (off := _off_lattice(first, second, positive(grid, "grid"))):
        return Finding(RULE, off, where)
    if min(len(first), len(second)) < 2 * CELLS:
        return None
    test = choose_and_test([(first, second)], [noises], epsilon, delta)
    return Finding(RULE, test.message(), where) if test is not None and test.porous(alpha) else None


def _column(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidValue("values", f"{array.dtype} of shape {array.shape}", "one number per run")
    return array.astype(np.float64)


def _off_lattice(first: np.ndarray, second: np.ndarray, grid: Fraction) -> str:
    """No error rate. NaN and infinities are off every lattice."""
    both = np.concatenate([first, second])
    ordinary = np.where(np.isfinite(both), both, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is far beyond any grid
        steps = np.rint(ordinary * float(grid.denominator) / float(grid.numerator))
        on = (steps * float(grid.numerator) / float(grid.denominator) == ordinary) & np.isfinite(both)
    off = int((~on).sum())
    return f"{off} of {len(both)} outputs are not multiples of the declared step {show(grid)}" if off else ""
