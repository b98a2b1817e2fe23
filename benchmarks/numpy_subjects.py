"""Subjects as people write them: numpy, called once per run. Audits of them take seconds, not minutes."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np

import dpaudit as dp
from benchmarks.figures import Figure, Figures

TABLE = dp.replace_one(n=200, low=[-1] * 5 + [0], high=[1] * 6)  # five features and a label in each record
RATINGS = dp.replace_one(n=100, low=0, high=1)


def _gradient(table: Any, weights: Any) -> Any:
    """Of the logistic loss, each record's clipped to [-1, 1] in every coordinate."""
    features, labels = table[:, :5], table[:, 5]
    error = 1 / (1 + np.exp(-(features @ weights))) - labels
    return np.clip(error[:, None] * features, -1, 1).sum(axis=0)


@dp.subject(claim=dp.Claim(epsilon="1", delta="1e-5"), neighbours=TABLE)
def gradient_step(table: Any, channel: Any) -> Any:
    total = _gradient(table, np.full(5, 0.1))
    return channel.release("gradient", total, dp.Gaussian(sigma=20), sensitivity="4.473")


@dp.subject(claim=dp.Claim(epsilon="2", delta="1e-5"), neighbours=TABLE)
def five_steps(table: Any, channel: Any) -> Any:
    weights = np.zeros(5)
    for step in range(5):
        noisy = channel.release(f"gradient {step}", _gradient(table, weights), dp.Gaussian(sigma=30), sensitivity="4.473")
        weights = weights - 0.01 * np.asarray(noisy)
    return weights


@dp.subject(claim=dp.Claim(epsilon="1", delta="1e-5"), neighbours=RATINGS)
def thompson_sampling(ratings: Any, channel: Any) -> Any:
    """Ten batches of ten clients: the arm with the largest draw around its noisy mean is played."""
    sums, pulls, played = np.zeros(2), np.zeros(2), []
    for batch in range(10):
        draws = sums / np.maximum(pulls, 1) + channel.rng.normal(size=2) / np.sqrt(np.maximum(pulls, 1))
        arm = int(np.argmax(draws))
        part = ratings[10 * batch : 10 * (batch + 1)].sum()
        sums[arm] += float(channel.release(f"batch {batch}", part, dp.Gaussian(sigma=5), sensitivity=1))
        pulls[arm] += 10
        played.append(arm)
    return np.array(played)


def numpy_subjects() -> Figures:
    """CPU time of this process and its workers, with default samples."""
    for subject, most in ((gradient_step, 5), (thompson_sampling, 120), (five_steps, 120)):
        wall, cpu = time.perf_counter(), _cpu()
        verdict = dp.audit(subject, seed=1)
        wall, cpu = time.perf_counter() - wall, _cpu() - cpu
        yield Figure(
            f"audit {subject.name}, numpy", f"≤ {most} s CPU", f"{cpu:.1f} s CPU ({wall:.1f} s), {verdict.verdict}", cpu <= most
        )


def _cpu() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)
