"""Lower bounds on the zoo: ``python -m benchmarks.acceptance [--seeds 101 102 …] [--samples 100000] [--name SVT3 …]``.

One line per mechanism: the mean over the seeds of the 95 % bound, beside what is asked of it. Then the rows that are not means:
no noise at all, noise that shrinks, refutations at 1−10^-6, and audits on the boundary of a claim.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks.figures import HEADER, Figure, Figures
from benchmarks.zoo import ZOO, Case, gaussian, interrupted_svt, laplace
from dpaudit.auditors.games.guessing_game import Outcome
from dpaudit.auditors.games.play import play_game
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.transcripts import Trials

HERE = Engine(workers=1)
SEEDS = (101, 102, 103, 104, 105)
REFUTING = 1e-6 / 3
ASKED = {  # at 10^5 and 10^6 runs a side
    "SVT3": (2.1, 2.6), "NoisyMax4": (5.2, 6.8), "mean with raw count": (4.2, 5.0), "subsampled Gaussian": (2.6, 2.88),
    "NoisyMax3": (2.28, 2.44), "Laplace": (0.985, 0.995), "Gaussian σ=1": (2.95, 3.5),
}  # fmt: skip
SIGMAS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.0)
ONE, ZERO = np.ones(1), np.zeros(1)


def game(case: Case, samples: int, seed: int) -> Outcome:
    return play_game(Trials(case.subject(), case.pair, seed, by_likelihood=False), samples, float(case.delta), 0.05, HERE)


def zoo(seeds: Sequence[int] = SEEDS, samples: int = 10**5, names: Sequence[str] = ()) -> Figures:
    """Means over seeds."""
    place = {10**5: 0, 10**6: 1}.get(samples)
    for case in ZOO:
        if names and case.name not in names:
            continue
        started = time.process_time()
        bounds = [game(case, samples, seed).epsilon for seed in seeds]
        mean, spent = float(np.mean(bounds)), (time.process_time() - started) / len(seeds)
        asked = ASKED[case.name][place] if place is not None and case.name in ASKED else None
        met = None if asked is None else mean >= asked
        told = f"{mean:.4f} ({min(bounds):.3f} to {max(bounds):.3f}; {spent:.1f} s CPU)"
        yield Figure(f"{case.name}, {samples:,} a side", "" if asked is None else f"≥ {asked}", told, met)


def without_noise(seeds: Sequence[int] = SEEDS) -> Figures:
    level = min(game(Case("no noise", gaussian(0.0), (ONE, ZERO), "1e-5"), 1000, seed).at(REFUTING) for seed in seeds)
    yield Figure("no noise, δ=1e-5, 1,000 a side, at 10^-6/3: the least", "≥ 4.6", f"{level:.3f}", level >= 4.6)
    quarter = Case("σ=1/4", gaussian(0.25), (ONE, ZERO), "1e-5")
    mean = float(np.mean([game(quarter, 10**4, seed).epsilon for seed in seeds]))
    yield Figure("Gaussian σ=.25, δ=1e-5, 10,000 a side", "≥ 7.0", f"{mean:.3f}", mean >= 7.0)


def shrinking(sizes: Sequence[int] = (10**3, 10**4, 10**5), seeds: Sequence[int] = SEEDS) -> Figures:
    """Means may fall by two standard errors of theirs before they count as falling."""
    for samples in sizes:
        for delta in ("0", "1e-6", "1e-5", "0.01", "0.1"):
            games = [
                [game(Case(f"σ={sigma}", gaussian(sigma), (ONE, ZERO), delta), samples, seed).epsilon for seed in seeds]
                for sigma in SIGMAS
            ]
            means, errors = np.mean(games, axis=1), np.std(games, axis=1, ddof=1) / math.sqrt(len(seeds))
            doubts = [2 * math.hypot(*both) for both in pairwise(errors)]
            rises = all(after >= before - doubt for (before, after), doubt in zip(pairwise(means), doubts, strict=True))
            told = " ".join(f"{mean:.2f}" for mean in means)
            yield Figure(f"σ = 2 1 .5 .25 .1 0, δ={delta}, {samples:,} a side", "rises", told, rises)


def refuting(seeds: Sequence[int] = SEEDS) -> Figures:
    case = Case("iSVT4", interrupted_svt, next(one.pair for one in ZOO if one.name == "iSVT4"))
    games = [game(case, 10**5, seed) for seed in seeds]
    mean, levels = float(np.mean([one.epsilon for one in games])), [one.at(REFUTING) for one in games]
    refuted = sum(level > 1 for level in levels)
    told = f"{mean:.3f}; {refuted} of {len(games)} refuted ({min(levels):.3f} at least)"
    yield Figure("iSVT4, 10^5 a side: 95 % bound; above 1 at 10^-6/3", "≥ 1.5, all", told, mean >= 1.5 and refuted == len(games))


def mixture(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Exactly ε = 1: a bit by randomised response, half the time told as ±1, half the time as a Laplace number."""
    kept = np.where(rng.random(trials) < 1 / (1 + math.exp(-1)), data.sum(), 1 - data.sum())
    return np.where(rng.random(trials) < 0.5, 2 * kept - 1, 10 + data.sum() + rng.laplace(size=trials))


def giveaway(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Exactly (1, .01): spells the bit out with probability .01."""
    kept = np.where(rng.random(trials) < 1 / (1 + math.exp(-1)), data.sum(), 1 - data.sum())
    return np.where(rng.random(trials) < 0.01, 5 + data.sum(), kept)


SIGMA = 1.8779  # a shift of 1 is (1, .01)-DP with it: the least such σ, rounded up (Balle and Wang 2018, Theorem 8)
EDGES = [
    Case("Laplace", laplace, (ONE, ZERO)),
    Case("atoms among numbers", mixture, (ONE, ZERO)),
    Case("Gaussian, δ=.01", gaussian(SIGMA), (ONE, ZERO), "0.01"),
    Case("giveaway, δ=.01", giveaway, (ONE, ZERO), "0.01"),
]


def edges(audits: int = 300, runs: int = 6000, first: int = 1000) -> Figures:
    """Audits of mechanisms that have exactly the claimed ε = 1; 28 of 300 is the binomial limit of .1 %. Their seeds are counted
    up from the ``first``."""
    for case in EDGES:
        flagged = sum(game(case, runs // 2, seed).epsilon > 1.0 for seed in range(first, first + audits))
        yield Figure(
            f"{audits} audits of {runs:,} runs, {case.name}: flagged", "≤ 28 of 300", str(flagged), flagged <= 28 * audits / 300
        )


def acceptance(seeds: Sequence[int] = SEEDS) -> Figures:
    """Every row at 10^5 runs a side, all of them by these seeds."""
    yield from without_noise(seeds)
    yield from shrinking(seeds=seeds)
    yield from zoo(seeds)
    yield from refuting(seeds)
    yield from edges(first=1000 * seeds[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.acceptance", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--samples", type=int, default=10**5, help="runs per side of the zoo")
    parser.add_argument("--name", nargs="+", default=[], help="mechanisms of the zoo; default: all rows")
    options = parser.parse_args()
    unknown = [name for name in options.name if name not in {case.name for case in ZOO}]
    if unknown:
        parser.error(f"no mechanism {unknown[0]!r}; there are {', '.join(case.name for case in ZOO)}")
    chosen = (
        zoo(options.seeds, options.samples, options.name)
        if options.name or options.samples != 10**5
        else acceptance(options.seeds)
    )
    print(HEADER)
    for figure in chosen:
        print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
