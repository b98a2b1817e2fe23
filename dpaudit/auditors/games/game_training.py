"""What a game decides before it counts: how to read a transcript, and when to guess. A choice made here costs no confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.auditors.games.candidates.feature_scores import feature_learners
from dpaudit.auditors.games.candidates.features import Features
from dpaudit.auditors.games.candidates.histogram_trees import fit_trees, try_trees
from dpaudit.auditors.games.candidates.scores import Learner, Scorer, calibrate, learners
from dpaudit.auditors.games.guess_bounds import Guesses, bound
from dpaudit.auditors.games.guessing_game import Rule, choose_rule, promise, rounded
from dpaudit.auditors.games.output_columns import Columns
from dpaudit.auditors.games.score_tally import Groups
from dpaudit.auditors.games.threshold_grid import Plan, believed_bound, choose_plan, hedged, honest_promise
from dpaudit.auditors.runs.engine import Engine, split
from dpaudit.auditors.runs.transcripts import CELLS, Trials, child, draw, gather

NATS = 10.0  # by which a candidate may explain the coins worse than the best, and still be chosen for its promise
SURE = 0.001  # level at which training has seen a difference
CAUTION = (2.0, 0.5)  # standard errors of training guesses by which a rule must be better, lest lucky thresholds win
BETTER = 1.005, 0.003  # times and more that a later candidate must promise …
MUCH_BETTER = 1.03, 0.02  # … and the first by fractions, which are tried by the hundred
NONE = Guesses(0, 0, 0, 2)
MANY = 1.9  # times as many right guesses, with no more wrong ones, that no doubt about tails outweighs

Part = tuple[np.ndarray, np.ndarray]  # a table, or scores, and the coins


@dataclass(frozen=True)
class Reader:
    """From what a chunk holds to scores."""

    columns: Columns | None = None
    scorer: Scorer | None = None
    features: Features | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        if self.scorer is None or self.columns is None:
            return rounded(values)
        if self.features is None:
            return rounded(self.scorer(self.columns(values)))
        return rounded(self.scorer(self.features(self.columns.parts(values))))


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
    shaded: float = 0.0  # about the bound of the game: by a model that the counts bear out, else if the counts were lucky
    plan: Plan | None = None  # by fractions of the scores; else by thresholds
    of_features: bool = False
    counts: Guesses = NONE  # of those runs


class Training:
    """Training runs of one game, drawn when they are needed."""

    def __init__(self, trials: Trials, delta: float, engine: Engine) -> None:
        self.trials, self.delta, self.engine = trials, delta, engine
        self.of_cells = not trials.subject.vectorised
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
        table = values[:, None] if values.ndim == 1 else Columns.of(values, self.of_cells)(values)
        with np.errstate(invalid="ignore"):  # exact losses may be infinite
            table = np.concatenate([table, np.abs(table - np.median(table, axis=0))], axis=1)
        order = np.argsort(table, axis=0)
        ranked = np.take_along_axis(table, order, axis=0)
        ahead = np.cumsum(np.where(coins, 1 / coins.sum(), -1 / (~coins).sum())[order], axis=0)[:-1]
        return float(np.abs(ahead[ranked[1:] > ranked[:-1]]).max(initial=0.0))

    def judge(self, grow: float, *, thorough: bool = True) -> Candidate:
        """The most promising kind of score for a game ``grow`` times as large: each half judges what the other learned."""
        coins, values = gather(self.parts)
        if values.ndim == 1:
            scores = rounded(values)
            g = choose_rule(scores, scores, self.delta, grow).guesses(scores, coins)
            return Candidate(promise(g, self.delta, grow), 0.0, True)
        columns = Columns.of(values, self.of_cells)
        halves = _halves(columns(values), coins)
        candidates = [one for learn in learners(*halves[0]) for one in self._judged(learn, halves, grow)]
        likeliest = max(one.fit for one in candidates)
        best = max((one for one in candidates if one.fit >= likeliest - NATS), key=lambda one: one.promise)
        parts = columns.parts(values)
        features = Features.of(parts, coins)
        table = features(parts)
        rivals = [(learn, halves, False) for learn in learners(*halves[0])]
        of_features = _halves(table, coins)
        rivals += [(learn, of_features, True) for learn in feature_learners(table, coins, features.codes, trees=thorough)]
        for learn, sides, used in rivals:
            rival = self._rival(learn, sides, grow, used, best.shaded)
            times, more = MUCH_BETTER if best.plan is None else BETTER
            if rival.shaded > times * best.shaded + more or _dominates(rival.counts, best.counts):
                best = replace(rival, promise=max(best.promise, rival.shaded), seen=best.seen or rival.seen)
        return best

    def _judged(self, learn: Learner, halves: list[Part], grow: float) -> Iterator[Candidate]:
        """By thresholds on calibrated log-odds."""
        read = [(scores, coins, *calibrate(scores, coins)) for scores, coins in _crossed(learn, halves)]
        fit = sum(-float(np.logaddexp(0, np.where(coins, -1, 1) * (a + b * s)).sum()) for s, coins, a, b in read)
        intercept, slope = (float(np.mean(side)) for side in list(zip(*read, strict=True))[2:])
        for caution in CAUTION if self.delta == 0 else (0.0,):
            rules = [choose_rule(s, a + b * s, self.delta, 2 * grow, caution) for s, _, a, b in read]
            counts = [rule.guesses(s, coins) for rule, (s, coins, _, _) in zip(rules, read, strict=True)]
            g = Guesses(
                sum(c.right for c in counts), sum(c.wrong for c in counts), sum(c.n for c in counts), max(c.sides for c in counts)
            )
            sure = bound(g, SURE, self.delta, rules[0].form) > 0
            expected = [rule.expected(s, a + b * s) for rule, (s, _, a, b) in zip(rules, read, strict=True)]
            shaded = believed_bound(g, np.sum(expected, axis=0), grow, self.delta, rules[0].form)
            yield Candidate(promise(g, self.delta, grow), fit, sure, learn, intercept, slope, caution, shaded, counts=g)

    def _rival(self, learn: Learner, halves: list[Part], grow: float, of_features: bool, least: float) -> Candidate:
        """By fractions of the scores; looked at closely if it promises more than ``least``."""
        read = _crossed(learn, halves)
        groups = [Groups.of(*side) for side in read]
        plan = choose_plan(groups, self.delta, grow)
        shaded = min(plan.promise, honest_promise(groups, self.delta, grow)) if plan.promise > least else plan.promise
        sure = bound(plan.seen, SURE / 100, self.delta, plan.rules[0].form) > 0  # the best of some hundred rules
        return Candidate(shaded, 0.0, sure, learn, shaded=shaded, plan=plan, of_features=of_features, counts=plan.seen)

    def decide(self, best: Candidate, grow: float) -> tuple[Reader, Rule | Plan]:
        """That kind of score, learned from all training runs, and the rule that fits it."""
        coins, values = gather(self.parts)
        if best.learn is None:
            scores = rounded(values)
            return Reader(), choose_rule(scores, scores, self.delta, grow)
        columns = Columns.of(values, self.of_cells)
        features = Features.of(columns.parts(values), coins) if best.of_features else None
        table = columns(values) if features is None else features(columns.parts(values))
        learn = fit_trees if best.learn is try_trees else best.learn
        reader = Reader(columns, learn(table, coins), features)
        if best.plan is not None:
            return reader, hedged(best.plan)
        scores = reader(values)
        return reader, choose_rule(scores, best.intercept + best.slope * scores, self.delta, grow, best.caution)


def _dominates(rival: Guesses, best: Guesses) -> bool:
    """No more wrong guesses, and far more right ones?"""
    return rival.wrong <= best.wrong and rival.right > MANY * max(best.right, 1)


def _halves(table: np.ndarray, coins: np.ndarray) -> list[Part]:
    half = len(coins) // 2
    return [(table[:half], coins[:half]), (table[half:], coins[half:])]


def _crossed(learn: Learner, halves: list[Part]) -> list[Part]:
    """Scores and coins of each half, by what was learned from the other."""
    pairs = zip(halves, halves[::-1], strict=True)
    return [(rounded(learn(*mine)(table)), coins) for mine, (table, coins) in pairs]
