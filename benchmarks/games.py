"""The game and the e-process against the figures of peers and prototypes: lower bounds, draws to a flag, time."""

from __future__ import annotations

import time

import numpy as np

import dpaudit as dp
from benchmarks.figures import Figure, Figures
from benchmarks.mechanisms import CLAIM, HONEST, ONE, WRONG, ZERO, literature, shifted, shifted_black
from dpaudit.auditors.games.bets.betting import bet_until
from dpaudit.auditors.games.play import play_game
from dpaudit.auditors.runs.engine import HERE
from dpaudit.auditors.runs.transcripts import Trials
from dpaudit.subjects.subject import Subject

SEEDS = 20
SIGMA = "3.7303"  # (1, 1e-5)-DP for a shift of 1, to four decimals
PURE, APPROXIMATE = dp.Claim("1"), dp.Claim("1", "1e-5")
LAPLACE = shifted(dp.Laplace(1), PURE), shifted_black("laplace", 1.0, PURE)
HALF = shifted(dp.Laplace("1/2"), PURE), shifted_black("laplace", 0.5, PURE)
GAUSSIAN = shifted(dp.Gaussian(SIGMA), APPROXIMATE), shifted_black("normal", float(SIGMA), APPROXIMATE)
BOUNDS: list[tuple[str, tuple[Subject, Subject], int, float]] = [
    ("Laplace, true ε=1", LAPLACE, 10**4, 0.950),
    ("Laplace, true ε=1", LAPLACE, 10**5, 0.983),
    ("Laplace, true ε=1", LAPLACE, 10**6, 0.996),
    ("half the noise, true ε=2", HALF, 10**5, 1.975),
    ("Gaussian (1, 1e-5)", GAUSSIAN, 10**5, 0.65),
    ("Gaussian (1, 1e-5)", GAUSSIAN, 10**6, 0.81),
]


def games() -> Figures:
    yield from _bounds()
    yield from _draws()
    yield from _literature()
    yield from _paper()


def _bounds() -> Figures:
    for name, subjects, samples, asked in BOUNDS:
        for subject in subjects:
            bounds = [_game(subject, samples, seed) for seed in range(SEEDS)]
            mean, error = float(np.mean(bounds)), float(np.std(bounds, ddof=1) / np.sqrt(SEEDS))
            told = f"{mean:.4f} (standard error {error:.4f})"
            yield Figure(f"{name}, 10^{len(str(samples)) - 1} a side, {subject.name}", f"≥ {asked}", told, mean >= asked)
    for subject in LAPLACE:
        spent = [_seconds(subject, seed) for seed in range(5)]
        wall, cpu = (min(times) for times in zip(*spent, strict=True))
        yield Figure(
            f"a game of 10^6 a side, {subject.name}, least of 5", "≤ .3 s", f"{wall:.2f} s ({cpu:.2f} s CPU)", wall <= 0.3
        )


def _seconds(subject: Subject, seed: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    _game(subject, 10**6, seed)
    return time.perf_counter() - wall, time.process_time() - cpu


def _game(subject: Subject, samples: int, seed: int) -> float:
    trials = Trials(subject, (ONE, ZERO), seed, subject.grey)
    return play_game(trials, samples, float(subject.claim.delta), 0.05, HERE).epsilon


def _draws() -> Figures:
    for subject, asked, audits in ((HALF[0], 80, 1000), (HALF[1], 180, 200)):
        for alpha, least in ((0.05, asked), (1e-6, None)):
            runs = [
                bet_until(
                    Trials(subject, (ONE, ZERO), seed, subject.grey), PURE, 10**4, alpha=alpha, confidence=0.95, engine=HERE
                ).runs
                for seed in range(audits)
            ]
            mean, error = float(np.mean(runs)), float(np.std(runs) / np.sqrt(audits))
            name = f"draws to flag half the noise at α={alpha:g}, {subject.name}"
            told = f"{mean:.0f} (standard error {error:.0f})"
            yield Figure(name, "" if least is None else f"≤ {least}", told, None if least is None else mean <= least)


def _literature() -> Figures:
    total = 0.0
    for name in [*WRONG, *HONEST]:
        started = time.perf_counter()
        verdict = dp.audit(literature(name), samples=10**6, seed=1)
        spent = time.perf_counter() - started
        total += spent if name in WRONG and name != "SVT3" else 0.0
        flagged = str(verdict.verdict) == "refuted"
        told = f"≥ {verdict.lower.epsilon:.3f}, {verdict.verdict} ({spent:.1f} s)"
        if name == "SVT3":
            yield Figure(f"{name}, claim {CLAIM}, 10^6 a side", "", told)
        elif name in WRONG:
            met = flagged and verdict.lower.epsilon > float(CLAIM)
            yield Figure(f"{name}, claim {CLAIM}, 10^6 a side", "≥ .1, refuted", told, met)
        else:
            yield Figure(f"{name}, claim {CLAIM}, 10^6 a side", "not flagged", told, not flagged)
    yield Figure("… the five wrong ones together", "≤ 60 s", f"{total:.1f} s", total <= 60)


def _paper() -> Figures:
    from dpaudit.subjects.targets import make_algorithm

    rows: list[tuple[str, str, tuple[int, int] | None, int | None, float | None]] = [
        ("central", "printed", None, 400_000, 1.9),
        ("central", "printed", (10, 1), None, 1.9),
        ("central", "corrected", None, None, None),
        ("shuffled", "printed", None, None, 3.5),
        ("shuffled", "corrected", None, None, None),
    ]
    for model, calibration, actions, samples, least in rows:
        delta, observer = ("0", "actions") if model == "central" else ("1e-6", "shuffled")
        subject = make_algorithm(
            model, {"epsilon": "1", "delta": delta, "horizon": 10**6, "calibration": calibration, "actions": actions}
        )
        started = time.perf_counter()
        verdict = dp.audit(subject, seed=1, observer=observer, samples=samples)
        spent = time.perf_counter() - started
        flagged = str(verdict.verdict) == "refuted"
        met = (flagged and verdict.lower.epsilon >= least if least else not flagged) and spent <= 10
        asked = f"≥ {least}, ≤ 10 s" if least else "not flagged, ≤ 10 s"
        name = f"{model} {calibration}, T=10^6, {observer}" + (", d=1" if actions else "")
        yield Figure(name, asked, f"≥ {verdict.lower.epsilon:.3f}, {verdict.verdict} ({spent:.1f} s)", met)
