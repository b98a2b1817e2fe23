"""Rules by fractions: guess 1 for the highest so many of all scores, 0 for the lowest. Which fractions, training decides.

Thresholds are order statistics of the scores that the bound is computed from, coins unseen; guess_bounds.py says why they may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr

from dpaudit.auditors.games.guess_bounds import Form, Guesses, bounds, forms
from dpaudit.auditors.games.guessing_game import LEVEL, Counted
from dpaudit.auditors.games.score_tally import Groups

STEPS = 22  # fractions on each side, beside none at all
FEWEST = 12  # runs beyond a threshold, at least
SHADE = 2.0  # standard errors of training counts by which a rule must be better: 1 chases luck, 3 misses tails
DOUBT = 3.0  # standard errors of what a model expects, beyond which it is not believed
FIRST, LAST = -10, 8  # steps along the grid, from the chosen rule, to others that may be used
CENTRES = tuple(range(-6, 4))
HEDGES: tuple[tuple[tuple[int, ...], float], ...] = (  # steps to the rules that hedge one, and its own share of α
    ((), 1.0), ((-1, 1), 0.5), ((-2, 2), 0.5), ((-6, -4, -2, 2, 4), 0.6), ((-4, -2, 2, 4), 0.2),
)  # fmt: skip
CLEARLY = 0.02  # by which another rule, or more than one, must be better
DRAWS = 100  # of what training counts leave open, to see which hedge pays


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

    def count(self, groups: Groups, delta: float) -> tuple[Counted, ...]:
        """The guesses of each rule. A run that is among the highest and the lowest is guessed 1."""
        ends = _Ends.of(groups, self.fractions)
        found = []
        for rule in self.rules:
            tops = int(ends.top[rule.high])
            bottoms = min(int(ends.bottom[rule.low]), len(groups.ones) - tops)
            right = ends.ones_above[tops] + ends.zeros_below[bottoms]
            wrong = ends.zeros_above[tops] + ends.ones_below[bottoms]
            found.append(Counted(Guesses(int(right), int(wrong), groups.runs, rule.sides), rule.form, rule.share))
        return tuple(found)


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
        found = []
        for groups in parts:
            e = _Ends.of(groups, fractions)
            right = e.ones_above[e.top][:, None] + e.zeros_below[e.bottom]
            wrong = e.zeros_above[e.top][:, None] + e.ones_below[e.bottom]
            found.append((right, wrong, e.top[:, None] + e.bottom <= len(groups.ones)))
        rights, wrongs, aparts = zip(*found, strict=True)
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
    for form in forms(delta, fixed=False):
        for side in (1, 2):
            tried = (sides == side) & grid.apart
            value = np.full(tried.shape, -2.0)
            value[tried] = bounds(right[tried], wrong[tried], tested, side, LEVEL, delta, form)
            if value.max() > best:
                best = float(value.max())
                high, low = np.unravel_index(int(value.argmax()), value.shape)
                chosen = int(high), int(low), form
    rule = FractionRule(*chosen)
    seen = Guesses(*grid.counts(rule), runs, rule.sides)
    return Plan(fractions, (rule,), best, seen, grid)


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


def hedged(plan: Plan, delta: float, scale: float) -> Plan:
    """The rule, or the rules and their shares of α, of which the largest bound is expected, less a standard deviation: the chosen
    fractions, or some that are a few steps away and clearly better, alone or with others beside them. Only counts of training are
    looked at."""
    near = _Neighbourhood.of(plan, delta, scale)
    best, rules = near.expected({0: 1.0}) + CLEARLY, plan.rules
    for centre in CENTRES:
        for moves, chosen in HEDGES:
            others = [step for step in (centre + move for move in moves) if step in near.rules]
            if centre not in near.rules or len(others) < len(moves) / 2:
                continue
            shares = {centre: chosen if others else 1.0, **dict.fromkeys(others, (1 - chosen) / max(len(others), 1))}
            value = near.expected(shares)
            if value > best:
                best, rules = value, tuple(replace(near.rules[step], share=share) for step, share in shares.items())
    return replace(plan, rules=rules)


def _moved(place: int, step: int) -> int:
    return int(np.clip(place + step, 1, STEPS)) if place else 0


@dataclass(frozen=True)
class _Neighbourhood:
    """Rules by their steps from the chosen one, no two of which guess the same, and what a game may count of each."""

    rules: dict[int, FractionRule]
    tests: dict[int, tuple[np.ndarray, np.ndarray]]  # right and wrong guesses, drawn from what training leaves open
    runs: float
    delta: float
    known: dict[tuple[int, float], np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, delta: float, scale: float) -> _Neighbourhood:
        main, grid = plan.rules[0], plan.grid
        rules: dict[int, FractionRule] = {0: main}
        for step in sorted(range(FIRST, LAST + 1), key=abs):
            rule = replace(main, high=_moved(main.high, step), low=_moved(main.low, step))
            guesses = {grid.counts(other) for other in rules.values()}
            if rule.sides and grid.apart[rule.high, rule.low] and grid.counts(rule) not in guesses:
                rules[step] = rule
        return cls(rules, _imagined(rules, grid, scale), plan.seen.n * scale, delta)

    def expected(self, shares: dict[int, float]) -> float:
        """The mean of the largest bound less its deviation: without it, rules with few counts would win by their luck."""
        largest = np.max([self._bounds(step, share) for step, share in shares.items()], axis=0)
        return float(largest.mean() - largest.std())

    def _bounds(self, step: int, share: float) -> np.ndarray:
        if (step, share) not in self.known:
            rule = self.rules[step]
            self.known[step, share] = bounds(*self.tests[step], self.runs, rule.sides, LEVEL * share, self.delta, rule.form)
        return self.known[step, share]


def _imagined(rules: dict[int, FractionRule], grid: Grid, scale: float) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Nested counts are sums of independent rings: a rate for each, given what training counted in it, and a game's count."""
    rng = np.random.default_rng(0)
    right, wrong, before = np.zeros(DRAWS, int), np.zeros(DRAWS, int), (0, 0)
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for step in sorted(rules, key=lambda step: sum(grid.counts(rules[step]))):
        now = grid.counts(rules[step])
        some = 1e-9 if found else 0.5  # Jeffreys' prior, once
        rings = [rng.gamma(max(count - less, 0) + some, size=DRAWS) for count, less in zip(now, before, strict=True)]
        right, wrong, before = right + rng.poisson(rings[0] * scale), wrong + rng.poisson(rings[1] * scale), now
        found[step] = right, wrong
    return found
