"""Sequential audits: bets on one coin after another until the evidence refutes the claim or the runs are used up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.games.bets.e_process import bets, lower_bound
from dpaudit.auditors.games.bets.predictors import Online
from dpaudit.auditors.games.guessing_game import rounded
from dpaudit.auditors.games.loss_counts import Frame
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.time_over import TimeOver
from dpaudit.auditors.runs.transcripts import Trials, draw
from dpaudit.claims import Claim, Losses, float_up
from dpaudit.claims.decimals import at_least

FIRST, GROWTH = 8, 8  # runs in the first chunk; later ones hold an eighth of what came before
PICTURED = 10**6  # draws whose losses are kept for a picture
PILOT = 2000  # runs per side of the small games that choose among several pairs


@dataclass(frozen=True)
class Betting:
    """How it ended: after so many runs, flagged or not, with what evidence against the claim and what lower bound."""

    runs: int
    flagged: bool
    interrupted: bool
    log_evidence: float
    lower: float
    answered: float  # share of the runs on which a prediction was at least half as sure as the surest
    losses: Losses | None = None


def bet_until(trials: Trials, claim: Claim, runs: int, *, alpha: float, confidence: float, engine: Engine) -> Betting:
    """Flags at evidence 1/α. The lower bound holds at its confidence wherever this stops: at a flag, at the end, at Ctrl-C."""
    epsilon, delta = float_up(claim.epsilon), float_up(claim.delta)
    process, online = (
        bets(epsilon, delta),
        None if trials.by_likelihood else Online(epsilon, of_cells=not trials.subject.vectorised),
    )
    sizes = list(growing(runs, trials.largest))
    done, flagged, interrupted, sure = 0, False, False, np.zeros(0)
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    try:
        with closing(engine.map(draw, trials, sizes)) as chunks:
            for coins, values in chunks:
                odds = rounded(values if online is None else online.odds(values))
                stop = process.bet(odds, coins, -math.log(alpha))
                done, flagged = done + (stop or len(coins)), stop is not None
                if done <= PICTURED:
                    seen.append((odds[:stop], coins[:stop]))
                if flagged:
                    break
                if online is not None:
                    online.learn(values, coins)
                sure = np.abs(odds)
                engine.tell(f"{done:,} of {runs:,} draws, ε ≥ {at_least(lower_bound(process, 1 - confidence))} at any time")
    except KeyboardInterrupt:
        interrupted = True
    except TimeOver:  # as any other end
        engine.tell(f"the time is over after {done:,} of {runs:,} draws")
    against = float(process.evidence[np.searchsorted(process.grid, epsilon)])
    answered = float(((sure > 0) & (sure >= np.quantile(sure, 0.99) / 2)).mean()) if len(sure) else 0.0
    losses = _losses(seen, "likelihood ratio" if online is None else "learned score")
    return Betting(done, flagged, interrupted, against, lower_bound(process, 1 - confidence), answered, losses)


def _losses(draws: list[tuple[np.ndarray, np.ndarray]], score: str) -> Losses | None:
    """Of the first draws that were bet on, each by the score of its time."""
    if not draws:
        return None
    odds, coins = (np.concatenate(side) for side in zip(*draws, strict=True))
    frame = Frame.around(odds)
    return frame.losses(frame.count(odds[coins]), frame.count(odds[~coins]), score)


def growing(runs: int, largest: int) -> Iterator[int]:
    """Sizes of the chunks: small while there is much to learn."""
    done = 0
    while done < runs:
        size = min(max(FIRST, done // GROWTH), largest, runs - done)
        yield size
        done += size


def detectable(found: Betting, claim: float, delta: float, runs: int, alpha: float) -> float | None:
    """About the least ε' that would have been flagged within ``runs`` with 80 % power, had the surest predictions been right as
    often as ε' allows; None where that is out of reach, or where nothing was predicted."""
    if found.answered == 0:
        return None
    answered = max(found.answered, 1e-3) * runs
    hurdle = -math.log(alpha) + (math.log(54) if delta else 0.0)  # the mixture's price

    def flags(epsilon: float) -> bool:
        p, limit = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(-claim))
        gain = math.log(p / limit)
        loss = gain - (epsilon - claim)  # log (1−p)/(1−L)
        mean, deviation = p * gain + (1 - p) * loss, (gain - loss) * math.sqrt(p * (1 - p))
        growth = answered * mean - 0.8416 * deviation * math.sqrt(answered) - delta * runs * math.exp(-claim)
        return growth >= hurdle

    low, high = claim, claim + 1.0
    while not flags(high):
        high += 1.0
        if high > claim + 60 or high == high + 1.0:
            return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if flags(middle) else (middle, high)
    return high
