"""What a game decides before it counts: how to read a transcript, and when to guess. A choice made here costs no confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.auditors.games.guessing_game import Guesses, Rule, bound, choose_rule, promise, rounded
from dpaudit.auditors.games.scores import Learner, Scorer, calibrate, learners
from dpaudit.auditors.runs.engine import Engine, split
from dpaudit.auditors.runs.transcripts import CELLS, Columns, Trials, child, draw, gather

NATS = 10.0  # by which a candidate may explain the coins worse than the best, and still be chosen for its promise
SURE = 0.001  # level at which training has seen a difference
CAUTION = (2.0, 0.5)  # standard errors of training guesses by which a rule must be better, lest lucky thresholds win


@dataclass(frozen=True)
class Reader:
    """From what a chunk holds to scores."""

    columns: Columns | None = None
    scorer: Scorer | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return rounded(values if self.scorer is None or self.columns is None else self.scorer(self.columns(values)))


@dataclass(frozen=True)
class Candidate:
    """A kind of score, how far its log-odds can be trusted, and what runs that it was not learned from make of it."""

    promise: float
    fit: float  # log-likelihood of their coins
    seen: bool  # did those runs show a difference for sure?
    learn: Learner | None = None
    intercept: float = 0.0
    slope: float = 1.0
    caution: float = 0.0


class Training:
    """Training runs of one game, drawn when they are needed."""

    def __init__(self, trials: Trials, delta: float, engine: Engine) -> None:
        self.trials, self.delta, self.engine = trials, delta, engine
        self.parts: list[tuple[np.ndarray, np.ndarray]] = []

    def draw(self, size: int) -> None:
        """So many more runs; not more than memory is planned for."""
        part = replace(self.trials, seed=child(self.trials.seed, 0, len(self.parts)))
        if not self.full:
            self.parts.append(gather(self.engine.map(draw, part, split(size, self.trials.largest))))
            self.parts = [gather(self.parts)] if self.trials.by_likelihood else self.parts

    @property
    def runs(self) -> int:
        return sum(len(coins) for coins, _ in self.parts)

    @property
    def full(self) -> bool:
        return sum(values.size for _, values in self.parts) > CELLS

    def scores(self, reader: Reader) -> np.ndarray:
        """Of the first training runs."""
        return reader(self.parts[0][1])

    def apart(self) -> float:
        """How far the two data sets are apart on one column, in value or in size: Kolmogorov and Smirnov's distance."""
        coins, values = gather(self.parts)
        if coins.all() or not coins.any():
            return 0.0
        table = values[:, None] if values.ndim == 1 else Columns.of(values)(values)
        with np.errstate(invalid="ignore"):  # exact losses may be infinite
            table = np.concatenate([table, np.abs(table - np.median(table, axis=0))], axis=1)
        order = np.argsort(table, axis=0)
        ranked = np.take_along_axis(table, order, axis=0)
        ahead = np.cumsum(np.where(coins, 1 / coins.sum(), -1 / (~coins).sum())[order], axis=0)[:-1]
        return float(np.abs(ahead[ranked[1:] > ranked[:-1]]).max(initial=0.0))

    def judge(self, grow: float) -> Candidate:
        """The most promising kind of score for a game ``grow`` times as large: each half judges what the other learned."""
        coins, values = gather(self.parts)
        if values.ndim == 1:
            scores = rounded(values)
            g = choose_rule(scores, scores, self.delta, grow).guesses(scores, coins)
            return Candidate(promise(g, self.delta, grow), 0.0, True)
        table, half = Columns.of(values)(values), len(coins) // 2
        halves = [(table[:half], coins[:half]), (table[half:], coins[half:])]
        found = [one for learn in learners(*halves[0]) for one in self._judged(learn, halves, grow)]
        likeliest = max(one.fit for one in found)
        return max((one for one in found if one.fit >= likeliest - NATS), key=lambda one: one.promise)

    def _judged(self, learn: Learner, halves: list[tuple[np.ndarray, np.ndarray]], grow: float) -> Iterator[Candidate]:
        read = []
        for mine, (table, coins) in zip(halves, halves[::-1], strict=True):
            scores = rounded(learn(*mine)(table))
            read.append((scores, coins, *calibrate(scores, coins)))
        fit = sum(-float(np.logaddexp(0, np.where(coins, -1, 1) * (a + b * s)).sum()) for s, coins, a, b in read)
        intercept, slope = (float(np.mean(side)) for side in list(zip(*read, strict=True))[2:])
        for caution in CAUTION if self.delta == 0 else (0.0,):
            rules = [choose_rule(s, a + b * s, self.delta, 2 * grow, caution) for s, _, a, b in read]
            counts = [rule.guesses(s, coins) for rule, (s, coins, _, _) in zip(rules, read, strict=True)]
            g = Guesses(
                sum(c.right for c in counts), sum(c.wrong for c in counts), sum(c.n for c in counts), max(c.sides for c in counts)
            )
            seen = bound(g, SURE, self.delta, rules[0].form) > 0
            yield Candidate(promise(g, self.delta, grow), fit, seen, learn, intercept, slope, caution)

    def decide(self, best: Candidate, grow: float) -> tuple[Reader, Rule]:
        """That kind of score, learned from all training runs, and the rule that fits it."""
        coins, values = gather(self.parts)
        if best.learn is None:
            scores = rounded(values)
            return Reader(), choose_rule(scores, scores, self.delta, grow)
        columns = Columns.of(values)
        reader = Reader(columns, best.learn(columns(values), coins))
        scores = reader(values)
        return reader, choose_rule(scores, best.intercept + best.slope * scores, self.delta, grow, best.caution)
