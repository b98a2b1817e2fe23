"""Trainings: what recording and watching cost a step, how small their ledger is, and how often a true curve is refuted."""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks.figures import Figure, Figures
from dpaudit.ledger import Release
from dpaudit.training.canary_audit import audit_canaries, pooled_guesses
from dpaudit.training.canary_scores import CanaryScores
from dpaudit.training.claimed_curve import TrainingReleases
from dpaudit.training.step_charges import StepCharges
from dpaudit.training.step_facts import StepFacts

STEPS, BATCH, RECORDS, REPEATS = 96, 128, 1280, 3
SIMULATED, CANARIES = 1000, 1000
DELTA = Fraction(1, 10**5)


def trainings() -> Figures:
    """All of it."""
    yield from overhead()
    yield from ledger_size()
    yield from canaries()
    yield from refuted()


def overhead() -> Figures:
    """CPU of a training of 96 steps, MLP 784–64–10 at batches of 128: plain, recorded under a budget, watched; taken in turns."""
    spent: dict[str, list[float]] = {"plain": [], "recorded": [], "watched": []}
    for _ in range(REPEATS):
        for kind, each in spent.items():
            each.append(_train(kind))
    plain = statistics.median(spent["plain"])
    for kind, asked in (("recorded", 0.05), ("watched", None)):
        more = statistics.median(spent[kind]) / plain - 1
        met = None if asked is None else more <= asked
        wanted = "" if asked is None else f"≤ {asked:.0%} a step"
        yield Figure(f"training, {kind}", wanted, f"{more:+.1%} of {plain / STEPS * 1000:.1f} ms CPU", met)


def _train(kind: str) -> float:
    import torch
    from opacus import PrivacyEngine
    from torch.nn.functional import cross_entropy
    from torch.utils.data import DataLoader, TensorDataset

    from dpaudit.training import recorded, watched

    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(RECORDS, 784), torch.randint(0, 10, (RECORDS,)))
    model: Any = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = PrivacyEngine(accountant="rdp")
        record = recorded(engine, Path(folder) / "l", budget=("100", "1e-5")) if kind == "recorded" else None
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0,
            data_loader=DataLoader(data, batch_size=BATCH),
        )  # fmt: skip
        if kind == "watched":
            watched(model, optimizer, loader)
        made, started = 0, time.process_time()
        while made < STEPS:
            for points, labels in loader:
                optimizer.zero_grad()
                cross_entropy(model(points), labels).backward()
                optimizer.step()
                made += 1
                if made == STEPS:
                    break
        if record is not None:
            record.close()
        return time.process_time() - started


def ledger_size() -> Figures:
    from dpaudit.ledger import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        with open_ledger(Path(folder) / "training.ledger") as ledger:
            charges = StepCharges(ledger)
            for _ in range(100_000):
                charges.step(StepFacts(Fraction(1), Fraction(1), Fraction(1, 1000), 50))
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    yield Figure("ledger of 100,000 steps", "< 1 MB", f"{size / 1e6:.3f} MB", size < 10**6)


def _simulated(canaries: int, sigma: float, seed: int) -> CanaryScores:
    """Scores of a release of every canary's own coordinate."""
    rng = np.random.default_rng(seed)
    included = rng.random(canaries) < 0.5
    return CanaryScores(included, included + rng.normal(0, sigma, canaries))


def _gaussian(sigma: str) -> TrainingReleases:
    return TrainingReleases((Release("sum", "gaussian", Fraction(1), {"sigma": sigma}),))


def canaries() -> Figures:
    """m = 5,000, σ = 1, δ = 1e-5, where the truth is 4.377: mean of five seeds."""
    for name, releases, asked in (("plain", None, 2.0), ("curve", _gaussian("1"), 2.7)):
        found = [audit_canaries([_simulated(5000, 1.0, seed)], DELTA, releases=releases).lower for seed in range(5)]
        yield Figure(f"canaries, 5,000 at σ = 1, {name}", f"≥ {asked}", f"{np.mean(found):.3f}", bool(np.mean(found) >= asked))


def refuted() -> Figures:
    """The true curve at confidence 95 %: at most the binomial limit of so many simulated trainings."""
    from dpaudit.auditors.one_run import split_curve_refuted

    profile = _gaussian("1").profile()
    wrong = sum(
        split_curve_refuted(pooled_guesses([_simulated(CANARIES, 1.0, 10_000 + seed)]), profile, 0.05)
        for seed in range(SIMULATED)
    )
    limit = int(binom.isf(1e-3, SIMULATED, 0.05))
    yield Figure(f"true curve refuted, {SIMULATED} trainings", f"≤ {limit}", f"{wrong}", wrong <= limit)
