"""What is measured: one row of work each, its sizes, and which peers do it."""

from __future__ import annotations

from dataclasses import dataclass

COMPOSERS = ("dp-accounting", "opacus", "prv-accountant", "autodp")
AUDITORS = ("jax-privacy", "privacy-estimates")


@dataclass(frozen=True)
class Task:
    """``size`` names what the sizes count: cost is told as a power of it. Without peers: ours alone, for its growth."""

    title: str
    size: str
    sizes: tuple[int, ...]
    peers: tuple[str, ...] = ()
    has_value: bool = True


TASKS: dict[str, Task] = {
    "laplace": Task(
        "ε of k Laplace releases, ε = 0.1, δ = 1e-6",
        "k",
        (10, 100, 1000),
        ("dp-accounting", "prv-accountant", "autodp", "diffprivlib"),
    ),
    "gaussian": Task("ε of k Gaussian releases, σ = 10, δ = 1e-6", "k", (10, 100, 1000), COMPOSERS),
    "sampled": Task("ε of T steps, q = 0.01, σ = 1, δ = 1e-6", "T", (100, 1000, 10_000), COMPOSERS),
    "draw-laplace": Task("n draws of Laplace noise", "n", (1, 100, 10_000), ("opendp", "diffprivlib"), has_value=False),
    "draw-gaussian": Task("n draws of Gaussian noise", "n", (1, 100, 10_000), ("opendp", "diffprivlib"), has_value=False),
    "audit-laplace": Task(
        "lower bound from n runs a side, Laplace noise, true ε = 1: mean of five audits at 95 %",
        "samples",
        (1000, 10_000, 100_000),
        AUDITORS,
    ),
    "audit-half": Task(
        "the same, half the noise, true ε = 2",
        "samples",
        (1000, 10_000, 100_000),
        AUDITORS,
    ),
    "audit-gaussian": Task(
        "the same, Gaussian noise, σ = 1, δ = 1e-5, true ε = 4.377",
        "samples",
        (1000, 10_000, 100_000),
        AUDITORS,
    ),
    "canaries": Task(
        "lower bound from m canaries of one training, σ = 1, δ = 1e-5, true ε = 4.377: mean of five trainings at 95 %, "
        "the same scores for both",
        "m",
        (1000, 5000),
        ("jax-privacy",),
    ),
    "canaries-curve": Task("the same, against the curve of the training's noise", "m", (1000, 5000), ("jax-privacy",)),
    "shuffle": Task("ε of n shuffled reports, clones, ε0 = 1, δ = 1e-6", "n", (1000, 10_000, 100_000, 10**6)),
    "categories": Task("ε of 10,000 shuffled k-ary responses, ε0 = 1, δ = 1e-6", "k", (10, 100, 1000)),
    "horizon": Task("100 runs of the optimistic bandit, K = 10, d = 2: regret", "T", (10**4, 10**5, 10**6)),
    "actions": Task("100 runs of the optimistic bandit, d = 2, T = 10^5: regret", "K", (5, 20, 80)),
    "dimension": Task("100 runs of the optimistic bandit, K = 20, T = 10^5: regret", "d", (2, 4, 8)),
}
