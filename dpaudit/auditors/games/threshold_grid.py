"""Rules by fractions: guess 1 for the highest so many of all scores, 0 for the lowest. Which fractions, training decides.

Thresholds are order statistics of the scores that the bound is computed from, coins unseen; guess_bounds.py says why they may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr

from dpaudit.auditors.games.guess_bounds import Form, Guesses, bounds, forms
from dpaudit.auditors.games.guessing_game import LEVEL, Counted
from dpaudit.auditors.games.score_tally import Groups

STEPS = 22  # fractions on each side, beside none at all
FEWEST = 12  # runs beyond a threshold, at least
SHADE = 2.0  # standard errors of training counts by which a rule must be better: 1 chases luck, 3 misses tails
DOUBT = 3.0  # standard errors of what a model expects, beyond which it is not believed
SECOND = 1.005, 0.003  # times and more that guesses on both sides must promise: a handful of right ones on a side is luck
MOVES = (-5, -4, -3, -2, -1, 1, 2)  # steps along the grid to the rules that hedge the chosen one
CHOSEN = 0.3  # its share of α when it is hedged


@dataclass(frozen=True)
class FractionRule:
    """Fractions of the highest and of the lowest scores, at places of the grid; 0 for none."""

    high: int
    low: int
    form: Form
    share: float = 1.0

    @property
    def sides(self) -> int:
        return int(self.high > 0) + int(self.low > 0)


@dataclass(frozen=True)
class Plan:
    """The chosen rule first, then those that hedge it; and about the bound that it promises."""

    fractions: np.ndarray
    rules: tuple[FractionRule, ...]
    promise: float
    seen: Guesses  # of the chosen rule, in training
    grid: Grid

    def count(self, groups: Groups) -> tuple[Counted, ...]:
        """The guesses of each rule, the fewest first; a later rule guesses all that an earlier one does, and alike."""
        ends = _Ends.of(groups, self.fractions)
        counts, tops, bottoms = [], 0, 0
        for rule in sorted(self.rules, key=lambda rule: (rule.high, rule.low)):
            tops = min(int(ends.top[rule.high]), len(groups.ones) - bottoms)
            bottoms = min(int(ends.bottom[rule.low]), len(groups.ones) - tops)
            right = ends.ones_above[tops] + ends.zeros_below[bottoms]
            wrong = ends.zeros_above[tops] + ends.ones_below[bottoms]
            counts.append(Counted(Guesses(int(right), int(wrong), groups.runs, rule.sides), rule.form, rule.share))
        return tuple(counts)


def fraction_grid(runs: int) -> np.ndarray:
    """Of a game with so many runs: none, then from a dozen of them to half of them."""
    return np.concatenate([[0.0], np.geomspace(min(FEWEST / max(runs, 1), 0.5), 0.5, STEPS)])


@dataclass(frozen=True)
class _Ends:
    """How many groups from the top, and from the bottom, hold each fraction (ties all in); and who is in so many groups."""

    top: np.ndarray
    bottom: np.ndarray
    ones_above: np.ndarray
    zeros_above: np.ndarray
    ones_below: np.ndarray
    zeros_below: np.ndarray

    @classmethod
    def of(cls, groups: Groups, fractions: np.ndarray) -> _Ends:
        wanted = np.maximum(np.round(fractions * groups.runs), 1)
        sides = []
        for step in (-1, 1):
            ones, zeros = (np.concatenate([[0], np.cumsum(part[::step])]) for part in (groups.ones, groups.zeros))
            least = np.minimum(np.searchsorted(ones + zeros, wanted), len(groups.ones))
            sides.append((np.where(fractions > 0, least, 0), ones, zeros))
        (top, ones_above, zeros_above), (bottom, ones_below, zeros_below) = sides
        return cls(top, bottom, ones_above, zeros_above, ones_below, zeros_below)


@dataclass(frozen=True)
class Grid:
    """Counts of every pair of fractions, (high, low), over several parts of the training runs."""

    right: np.ndarray
    wrong: np.ndarray
    apart: np.ndarray  # do the highest and the lowest not overlap?

    @classmethod
    def of(cls, parts: Sequence[Groups], fractions: np.ndarray) -> Grid:
        tables = []
        for groups in parts:
            e = _Ends.of(groups, fractions)
            right = e.ones_above[e.top][:, None] + e.zeros_below[e.bottom]
            wrong = e.zeros_above[e.top][:, None] + e.ones_below[e.bottom]
            tables.append((right, wrong, e.top[:, None] + e.bottom <= len(groups.ones)))
        rights, wrongs, aparts = zip(*tables, strict=True)
        return cls(np.sum(rights, axis=0), np.sum(wrongs, axis=0), np.all(aparts, axis=0))

    def counts(self, rule: FractionRule) -> tuple[int, int]:
        return int(self.right[rule.high, rule.low]), int(self.wrong[rule.high, rule.low])


def shaded(right: np.ndarray, wrong: np.ndarray, errors: float = SHADE) -> tuple[np.ndarray, np.ndarray]:
    """Counts of training less so many standard errors of luck: as Poisson limits, since few counts are no normal ones."""
    level = ndtr(-errors)
    return np.where(right > 0, gammaincinv(np.maximum(right, 1), level), 0.0), gammainccinv(wrong + 1.0, level)


def believed_bound(g: Guesses, expected: np.ndarray, scale: float, delta: float, form: Form) -> float:
    """About the bound of a game ``scale`` times as large: by the right and wrong guesses that a model expected, if what was
    counted bears it out; else by what was counted, as if it was lucky."""
    right, wrong = expected
    if abs(g.right - right) > DOUBT * np.sqrt(right + 1) or g.wrong > wrong + DOUBT * np.sqrt(wrong + 1):
        right, wrong = shaded(np.array(g.right), np.array(g.wrong))
    return float(bounds(right * scale, wrong * scale, g.n * scale, g.sides, LEVEL, delta, form))


def choose_plan(parts: Sequence[Groups], delta: float, scale: float) -> Plan:
    """The most promising fractions for a game ``scale`` times as large as these parts together."""
    runs = sum(groups.runs for groups in parts)
    tested = runs * scale
    fractions = fraction_grid(round(tested))
    grid = Grid.of(parts, fractions)
    right, wrong = (side * scale for side in shaded(grid.right, grid.wrong))
    used = np.arange(len(fractions)) > 0
    sides = used * 1 + used[:, None] * 1
    best, chosen = -1.0, (0, 0, forms(delta, fixed=False)[0])
    for side, (times, more) in ((1, (1.0, 0.0)), (2, SECOND)):
        tried, least = (sides == side) & grid.apart, times * best + more
        for form in forms(delta, fixed=False):
            value = np.full(tried.shape, -2.0)
            value[tried] = bounds(right[tried], wrong[tried], tested, side, LEVEL, delta, form)
            if value.max() > max(best, least):
                best = float(value.max())
                high, low = np.unravel_index(int(value.argmax()), value.shape)
                chosen = int(high), int(low), form
    rule = FractionRule(*chosen)
    guesses = Guesses(*grid.counts(rule), runs, rule.sides)
    return Plan(fractions, (rule,), best, guesses, grid)


def honest_promise(halves: Sequence[Groups], delta: float, scale: float) -> float:
    """About the bound of a game ``scale`` times as large as both halves: each half counts for the rule that the other chose, so
    that luck in choosing is seen for what it is."""
    right = wrong = sides = 0
    form = forms(delta, fixed=False)[0]
    for mine, other in zip(halves, halves[::-1], strict=True):
        plan = choose_plan([mine], delta, scale * sum(half.runs for half in halves) / mine.runs)
        counts = Grid.of([other], plan.fractions).counts(plan.rules[0])
        right, wrong = right + counts[0], wrong + counts[1]
        sides, form = max(sides, plan.rules[0].sides), plan.rules[0].form
    counted = shaded(np.array(right), np.array(wrong), 1.0)
    runs = sum(half.runs for half in halves) * scale
    return float(bounds(counted[0] * scale, counted[1] * scale, runs, max(sides, 1), LEVEL, delta, form))


def hedged(plan: Plan) -> Plan:
    """With the rules a few steps away, most of them further out: shaded counts let training choose too many runs."""
    main, grid = plan.rules[0], plan.grid
    others: dict[tuple[int, int], FractionRule] = {}
    for step in MOVES:
        rule = replace(main, high=_moved(main.high, step), low=_moved(main.low, step))
        if rule.sides and grid.apart[rule.high, rule.low] and grid.counts(rule) != grid.counts(main):
            others.setdefault(grid.counts(rule), rule)
    if not others:
        return plan
    share = (1 - CHOSEN) / len(others)
    return replace(plan, rules=(replace(main, share=CHOSEN), *(replace(rule, share=share) for rule in others.values())))


def _moved(place: int, step: int) -> int:
    return int(np.clip(place + step, 1, STEPS)) if place else 0
