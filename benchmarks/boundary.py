"""Audits of mechanisms that have exactly the claimed ε: how many flag them, beside what each audit sees when there is more."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import dpaudit as dp
from benchmarks.figures import Figure, Figures
from dpaudit.auditors.games.bets.e_process import PureBets
from dpaudit.auditors.games.guess_bounds import PURE, Guesses, bound
from dpaudit.auditors.games.guessing_game import Outcome
from dpaudit.auditors.games.play import play_game
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.transcripts import Trials
from dpaudit.subjects.subject import Subject, make_subject

DELTA = 0.05
ONE, ZERO = np.ones(1), np.zeros(1)
HERE = Engine(workers=1)
TRAINED = 0.2  # share of the runs that a game with a learned score trains on
DRAWS, PEEKS = 5000, 200
REFUTING = 1e-6 / 3  # the level at which an audit refutes
TOLD = 500  # audits between two lines about how far it is


def randomised_response(epsilon: float, delta: float = 0.0) -> Subject:
    """A bit, kept with probability e^ε/(1+e^ε), and spelt out with probability δ: on the boundary of (ε, δ)."""

    def bit(data: Any, rng: Any, trials: Any) -> Any:
        kept = rng.random(trials) < 1 / (1 + math.exp(-epsilon))
        noisy = np.where(kept, data[0], 1 - data[0])
        return np.where(rng.random(trials) < delta, 2 + data[0], noisy)

    return make_subject(bit, dp.Claim("1", str(delta)), [(ONE, ZERO)], "randomised response")


def laplace(epsilon: float) -> Subject:
    """On the boundary of ε wherever the output is outside [0, 1]."""

    def number(data: Any, rng: Any, trials: Any) -> Any:
        return data[0] + rng.laplace(scale=1 / epsilon, size=trials)

    return make_subject(number, dp.Claim("1"), [(ONE, ZERO)], "Laplace")


def hidden_sign(epsilon: float) -> Subject:
    """Two numbers, each without a trace of the data; the sign of their product tells it by randomised response. Trees see it."""

    def numbers(data: Any, rng: Any, trials: Any) -> Any:
        kept = rng.random(trials) < 1 / (1 + math.exp(-epsilon))
        first, sizes = rng.normal(size=trials), np.abs(rng.normal(size=trials))
        return first, sizes * np.sign(first) * np.where(kept, 1, -1) * (2 * data[0] - 1)

    return make_subject(numbers, dp.Claim("1"), [(ONE, ZERO)], "hidden sign")


def atoms(epsilon: float) -> Subject:
    """A bit by randomised response, told as one of two numbers that are met again and again among Laplace ones."""

    def number(data: Any, rng: Any, trials: Any) -> Any:
        kept = np.where(rng.random(trials) < 1 / (1 + math.exp(-epsilon)), data[0], 1 - data[0])
        return np.where(rng.random(trials) < 0.5, 2 * kept - 1, 10 + data[0] + rng.laplace(scale=1 / epsilon, size=trials))

    return make_subject(number, dp.Claim("1"), [(ONE, ZERO)], "atoms among numbers")


BOUNDARIES: list[tuple[str, Callable[[float], Subject], float]] = [
    ("randomised response", randomised_response, 0.0),
    ("randomised response that leaks", lambda epsilon: randomised_response(epsilon, DELTA), DELTA),
    ("Laplace", laplace, 0.0),
    ("atoms among numbers", atoms, 0.0),
    ("hidden sign", hidden_sign, 0.0),
]


def one_game(make: Callable[[float], Subject], epsilon: float, delta: float, tested: int, seed: int) -> Outcome:
    """A whole game, score and rule learned, with so many runs after training."""
    return play_game(Trials(make(epsilon), (ONE, ZERO), seed, False), round(tested / (1 - TRAINED) / 2), delta, 0.05, HERE)


def limit(audits: int, alpha: float) -> int:
    """More false flags than this: once in a million."""
    return int(binom.isf(1e-6, audits, alpha))


def flags(audits: int, levels: tuple[float, ...], tested: int = 2000) -> tuple[list[int], int]:
    """Games on the boundary of a claim of 1 whose bound exceeds it, for each α; and those whose plain estimate does."""
    over, plain = [0] * len(levels), 0
    for seed in range(audits):
        _, make, delta = BOUNDARIES[seed % len(BOUNDARIES)]
        outcome = one_game(make, 1.0, delta, tested, seed)
        over = [count + (outcome.at(level) > 1.0) for count, level in zip(over, levels, strict=True)]
        g = outcome.guesses
        plain += g.right - g.n * delta * g.sides / 2 > math.e * g.wrong
        if (seed + 1) % TOLD == 0:
            counts = ", ".join(f"{count} at {level:.2g}" for count, level in zip(over, levels, strict=True))
            print(f"# {seed + 1:,} of {audits:,} audits on the boundary, flags: {counts}", file=sys.stderr, flush=True)
    return over, plain


def power(audits: int, epsilon: float, guesses: int) -> int:
    """Games against a claim of 1 that show more at 95 %, of a mechanism with this ε."""
    return sum(one_game(randomised_response, epsilon, 0.0, guesses, seed).epsilon > 1.0 for seed in range(audits))


def peeked(audits: int, alpha: float) -> tuple[int, int]:
    """Audits with 5,000 draws of a mechanism on the boundary that flag at some time: the e-process, which looks after every
    draw, and a fixed-size test that is looked at 200 times."""
    by_bets = by_test = 0
    for seed in range(audits):
        rng = np.random.default_rng([seed, 15])
        coins = rng.random(DRAWS) < 0.5
        right = rng.random(DRAWS) < 1 / (1 + math.exp(-1.0))
        by_bets += PureBets(1.0).bet(np.where(coins == right, 1.3, -1.3), coins, -math.log(alpha)) is not None
        shown = np.cumsum(right)[DRAWS // PEEKS - 1 :: DRAWS // PEEKS]
        times = np.arange(1, PEEKS + 1) * (DRAWS // PEEKS)
        by_test += any(
            bound(Guesses(int(r), int(n - r), int(n), 2), alpha, 0.0, PURE) > 1.0 for r, n in zip(shown, times, strict=True)
        )
    return by_bets, by_test


def boundary(folder: Path, scale: float) -> Figures:
    audits = max(50, round(10_000 * scale))
    levels = (0.05, 0.01)
    (*over, refuted), plain = flags(audits, (*levels, REFUTING))
    yield Figure(f"{audits} audits on the boundary of {len(BOUNDARIES)} mechanisms: refuted", "0", str(refuted), refuted == 0)
    for count, level in zip(over, levels, strict=True):
        most = limit(audits, level)
        yield Figure(f"… flags at α={level}", f"≤ {most}", str(count), count <= most)
    yield Figure("… if the plain estimate decided", f"> {limit(audits, 0.05)}", str(plain), plain > limit(audits, 0.05))
    tried = max(300, audits // 10)
    for epsilon, guesses in ((1.2, 2000), (1.1, 10_000)):
        found = power(tried, epsilon, guesses) / tried
        yield Figure(f"… true ε={epsilon}, {guesses} guesses: found", "≥ 95 %", f"{100 * found:.1f} %", found >= 0.95)
    by_bets, by_test = peeked(tried, 0.05)
    most = limit(tried, 0.05)
    yield Figure(f"{tried} × 5,000 draws, looked at after each: flags at α=.05", f"≤ {most}", str(by_bets), by_bets <= most)
    yield Figure("… by a test of fixed size, looked at 200 times", f"> {most}", str(by_test), by_test > most)
