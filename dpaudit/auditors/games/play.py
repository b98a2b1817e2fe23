"""Games with a subject: the pair, a score and a rule from training runs, counts from the rest. All runs are in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditors.games.game_training import Reader, Training
from dpaudit.auditors.games.guess_bounds import Guesses
from dpaudit.auditors.games.guessing_game import Counted, Outcome, Rule
from dpaudit.auditors.games.loss_counts import BINS, Frame
from dpaudit.auditors.games.score_tally import Tally, bin_edges
from dpaudit.auditors.games.threshold_grid import Plan
from dpaudit.auditors.runs.engine import Engine, split
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.claims import Claim
from dpaudit.neighbours.relations import content
from dpaudit.subjects.subject import Subject

SHARE, MOST = 0.1, 50_000  # training runs: for the rule, and as many again for a score that must be learned
PAIRS = 256  # that are tried at most
FEWEST = 100  # runs on each of them
JUDGED = 12  # pairs for which scores are learned; while there are more, a distance must do
THOROUGH = 3  # pairs for which trees are tried as well
MOST_SAMPLES = 10**8  # runs per side that an audit may ask for
ROUND = 400_000  # runs of a round over all pairs that are left; a tenth where each run is a call


@dataclass(frozen=True)
class Guessing:
    """The test part of a game: every chunk ends in counts, and for a picture in those of its losses."""

    trials: Trials
    reader: Reader
    rule: Rule | None  # by thresholds; else scores are tallied, and guesses follow at the end
    edges: np.ndarray
    frame: Frame

    def repeatable(self) -> bool:
        return self.trials.repeatable()


def _guess(game: Guessing, number: int, size: int) -> tuple[tuple[int, int] | Tally, np.ndarray]:
    _, sides = game.trials.sides(number, size)
    ones, zeros = (game.reader(side) for side in sides)
    counted = Tally.of(ones, zeros, game.edges) if game.rule is None else game.rule.count(ones, zeros)
    return counted, np.stack([game.frame.count(ones), game.frame.count(zeros)])


@dataclass
class _Counting:
    """What was counted so far."""

    rule: Rule | Plan
    delta: float
    n: int = 0
    guesses: tuple[int, int] = (0, 0)
    tally: Tally | None = None

    def add(self, part: tuple[int, int] | Tally, size: int) -> None:
        self.n += size
        if isinstance(part, Tally):
            self.tally = part if self.tally is None else self.tally.plus(part)
        else:
            self.guesses = self.guesses[0] + part[0], self.guesses[1] + part[1]

    def counted(self) -> tuple[Counted, ...]:
        if isinstance(self.rule, Rule):
            return (Counted(Guesses(*self.guesses, self.n, self.rule.sides), self.rule.form),)
        if self.tally is None:
            return tuple(Counted(Guesses(0, 0, 0, rule.sides), rule.form, rule.share) for rule in self.rule.rules)
        return self.rule.count(self.tally.groups())


def play_game(trials: Trials, samples: int, delta: float, alpha: float, engine: Engine) -> Outcome:
    """2·samples runs, a fair coin each. Nothing is chosen after looking at the coins of the runs that the bound uses."""
    runs, training = 2 * samples, Training(trials, delta, engine)
    for size in _training_sizes(runs, delta, trials.by_likelihood):
        training.draw(size)
        grow = (runs - training.runs) / training.runs
        best = training.judge(grow)
        if best.seen or training.full:
            break
    reader, rule = training.decide(best, grow)
    scores = training.scores(reader)
    frame = Frame.around(scores, best.intercept, best.slope)
    fixed = rule if isinstance(rule, Rule) else None
    game = Guessing(replace(trials, seed=child(trials.seed, 1)), reader, fixed, bin_edges(scores), frame)
    counting, losses = _Counting(rule, delta), np.zeros((2, BINS), dtype=np.int64)
    sizes = split(runs - training.runs, trials.largest)
    for size, (part, counts) in zip(sizes, engine.map(_guess, game, sizes), strict=True):
        losses += counts
        counting.add(part, size)
        shown = f", ε ≥ {Outcome(counting.counted(), alpha, delta).epsilon:.4f} so far" if fixed else ""
        engine.tell(f"{training.runs + counting.n:,} of {runs:,} runs{shown}")
    drawn = frame.losses(losses[0], losses[1], "likelihood ratio" if trials.by_likelihood else "learned score")
    return Outcome(counting.counted(), alpha, delta, drawn)


def _training_sizes(runs: int, delta: float, by_likelihood: bool) -> list[int]:
    """How many runs to train on, and how many more if nothing was seen for sure."""
    parts = 1 if by_likelihood else 2
    whole = int(SHARE * runs) * parts
    first = min(whole, (MOST if delta == 0 else 3 * MOST) * parts)  # tails are harder to learn
    return [first] if by_likelihood or first == whole else [first, whole - first]


@dataclass(frozen=True)
class Screened:
    """The pair that shows most, out of ``tried`` of the ``known`` ones."""

    pair: tuple[Any, Any]
    tried: int
    known: int

    @property
    def all(self) -> bool:
        return self.tried == self.known

    def told(self) -> str:
        """For the name of a method."""
        return "" if self.known == 1 else f", best of {self.tried} pairs" + ("" if self.all else f" (of {self.known})")


def best_pair(
    subject: Subject, claim: Claim, pairs: Sequence[tuple[Any, Any]], samples: int, seed: int, by_likelihood: bool, engine: Engine
) -> Screened:
    """A few runs on every pair, twice as many more on the better half, and so on; the winner is attacked with fresh runs, so
    that the choice costs no confidence."""
    distinct = undirected(pairs)
    tried = distinct[:PAIRS]
    each = ROUND if subject.vectorised else ROUND // 10
    left = [
        Training(Trials(subject, pair, child(seed, 2, place), by_likelihood, claim.observer), float(claim.delta), engine)
        for place, pair in enumerate(tried)
    ]
    while len(left) > 1:
        promises = []
        for training in left:
            training.draw(max(FEWEST, min(each, samples // 4) // len(left)))
            grow = 2 * samples / training.runs
            quick = len(left) > THOROUGH
            promises.append(training.judge(grow, thorough=not quick).promise if len(left) <= JUDGED else training.apart())
        best = np.argsort(promises, kind="stable")[::-1][: (len(left) + 1) // 2]
        left = [left[place] for place in best]
    return Screened(left[0].trials.pair, len(tried), len(distinct))


def undirected(pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Each pair once: to a coin it makes no difference which of the two comes first. Equal data are no pair, unless there is
    no other."""
    by_sides: dict[frozenset[bytes], tuple[Any, Any]] = {}
    for pair in pairs:
        by_sides.setdefault(frozenset(content(side) for side in pair), pair)
    return [pair for sides, pair in by_sides.items() if len(sides) == 2] or list(by_sides.values())[:1]
