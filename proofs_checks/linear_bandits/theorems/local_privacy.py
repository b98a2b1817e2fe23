"""Theorem 2, privacy: Algorithm 2, an untrusted server, as printed; and the sum of reports that Algorithms 2 and 3 print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from algorithms import local
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.audits import decide_by_audits
from proofs_checks.shared.decisions import Row, decided

CODE = (
    "algorithms.elimination.local",
    "algorithms.elimination.clients",
    "algorithms.elimination.loop",
    "algorithms.elimination.bandit_subject",
    "algorithms.registry",
)
Weights = Callable[[int], list[int]]  # n → how often each of the n reports enters r̂_ia


def privacy(quick: bool, *, make: Callable[..., Any] = local, calibration: str = "printed") -> Decision:
    """Algorithm 2 itself, audited for the untrusted server, who sees every report: r̂ = r + Lap(1/ε0), |r| ≤ 1."""
    settings = [
        {"epsilon": epsilon, "horizon": horizon, "actions": (2, 1)}
        for epsilon in (("1",) if quick else ("1/10", "1", "5"))
        for horizon in ((20,) if quick else (20, 1000))
    ]
    correction = "noise Lap(s/ε0), s = high − low: rewards of −1 and +1 are 2 apart, so that Lap(1/ε0) is 2ε0-LDP"
    found = decide_by_audits(make, settings, ("server",), calibration, correction=correction, samples=1000)
    if found.verdict != "refuted":
        return found
    argument = "a report above 1 is e^{2ε0} times as likely for reward 1 as for −1: density e^{−ε0|x − r|}"
    return replace(found, evidence={**found.evidence, "summary": f"{argument}; {found.evidence['summary']}"})


def printed_weights(n: int) -> list[int]:
    """Σ_{k=1}^{n} r̂^{(1)}: the first report n times. (The bound n_j is not defined either; n_ia is the kindest reading.)"""
    return [n] + [0] * (n - 1)


def each_once(n: int) -> list[int]:
    """Σ_{k=1}^{n} r̂^{(k)}."""
    return [1] * n


def sum_index(quick: bool, *, weights: Weights = printed_weights) -> Decision:
    """Given the rewards, is r̂_ia centred at Σ_k r^{(k)}, with no more error than the n noises? All rewards ±1, all small n.

    Error variance for given rewards: (Σ w_k r_k − Σ r_k)² + Σ w_k²·2/ε0². The noise of n reports alone is n·2/ε0².
    """
    noise = Fraction(2)  # variance of Lap(1): ε0 = 1
    rows: list[Row] = []
    for n in range(1, 7 if quick else 11):
        chosen = weights(n)
        error = max(_error(chosen, rewards, noise) for rewards in product((1, -1), repeat=n))
        bias = sum(abs(w - 1) for w in chosen)  # the rewards ±1 for which all terms point one way
        rows.append({"n": n, "noise of n reports": n * noise, "worst squared error": error, "times": error / (n * noise),
                     "largest bias, given the rewards": bias})  # fmt: skip
    failing = [
        row for row in rows if row["largest bias, given the rewards"] or row["worst squared error"] > row["noise of n reports"]
    ]
    evidence: dict[str, Any] = {
        "ε0": "1", "range": f"all rewards ±1, n from 1 to {rows[-1]['n']}", "errors": rows, "simulated": _simulated(weights),
        "elsewhere": "the proof of the local lemma uses Σ_{j=1}^{n_ia} r̂_ia^{(j)}, which is right",
        "readings of n_j": "j is bound to nothing; with any n_j the summand does not depend on k, so that one client decides",
        "in expectation": "with n_j = n_ia the mean is right; the variance is n² times that of one report, instead of n times",
    }  # fmt: skip
    if not failing:
        return decided("verified", f"no more error than the n noises for n ≤ {rows[-1]['n']}, all rewards ±1", evidence)
    n = failing[0]["n"]
    chosen = weights(n)
    rewards = next(r for r in product((1, -1), repeat=n) if _error(chosen, r, noise) == failing[0]["worst squared error"])
    signal = sum(w * r for w, r in zip(chosen, rewards, strict=True))
    evidence["counterexample"] = {
        "n": n, "rewards": list(rewards), "Σ r": sum(rewards), "sum written, without noise": signal,
        "noise variance, times ε0²": sum(w * w for w in chosen) * 2, "of the n reports": n * 2,
    }  # fmt: skip
    summary = "holds as the appendix writes it, Σ_j r̂_ia^{(j)} over n_ia; as printed here "
    summary += f"rewards {', '.join(map(str, rewards))} sum to {sum(rewards)}; the sum written is {signal} plus noise of "
    summary += f"variance {sum(w * w for w in chosen)}·2/ε0²: reports enter {', '.join(map(str, chosen))} times"
    return decided("refuted", summary, evidence, "r̂_ia ← Σ_{k=1}^{n_ia} r̂_ia^{(k)}")


def _error(weights: list[int], rewards: tuple[int, ...], noise: Fraction) -> Fraction:
    bias = sum((w - 1) * r for w, r in zip(weights, rewards, strict=True))
    return bias**2 + noise * sum(w * w for w in weights)


def _simulated(weights: Weights, n: int = 100, draws: int = 4000, seed: int = 1) -> Row:
    """Mean squared error of r̂_ia/n about the mean 1/2 of ±1 rewards; expected: Σ w²(3/4 + 2)/n² for weights with Σ w = n."""
    rng, chosen = np.random.default_rng(seed), np.array(weights(n), dtype=float)
    reports = np.where(rng.random((draws, n)) < 0.75, 1.0, -1.0) + rng.laplace(0.0, 1.0, (draws, n))
    error = float(((reports @ chosen / n - 0.5) ** 2).mean())
    return {"n": n, "draws": draws, "seed": seed, "mean squared error": round(error, 5),
            "expected": round(float((chosen**2).sum() * 2.75 / n**2), 5)}  # fmt: skip


CHECKS = (
    Check("thm2.privacy", "Theorem 2", "Algorithm 2 as printed is ε0-LDP", privacy, CODE),
    Check(
        "alg2.sum-index", "Algorithms 2 and 3, r̂_ia", "Σ_{k=1}^{n_j} r̂_ia^{(1)} estimates the summed reward", sum_index
    ),
)  # fmt: skip
