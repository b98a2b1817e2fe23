"""Algorithms 1–3, θ̂ = V^{-1} Σ r̂ a: V = Σ n_a a a^T is a d×d matrix, also when A_i no longer spans R^d."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, digits, tail
from proofs_checks.shared.measured_regret import CODE, Played, play

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (V, Σ r̂ a) → θ̂


def inverse(gram: np.ndarray, target: np.ndarray) -> np.ndarray:
    """V^{-1}, as printed. Raises LinAlgError if there is none."""
    if np.linalg.matrix_rank(gram) < len(gram):
        raise np.linalg.LinAlgError("singular")
    return np.linalg.inv(gram) @ target


def in_the_span(gram: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The pseudo-inverse: least squares in the span of A_i."""
    result: np.ndarray = np.linalg.pinv(gram, hermitian=True, rcond=1e-12) @ target
    return result


def leaves(horizon: int) -> tuple[int, int, Any, Any]:
    """d = 2, A = {e_1, e_2}, θ = e_1, rewards 1 and 0, ε = 1: the first batch with 2γ < 1.

    e_2 leaves after it, unless the noise z_1 − z_2 is below −n(1 − 2γ). Returns batch, n, γ and the probability that e_2 stays.
    """
    q = (2 * MP.mpf(horizon)) ** (1 / MP.log(horizon))
    level = MP.log(8 * MP.mpf(horizon) ** 2)
    for batch in range(1, math.floor(math.log(horizon))):
        power = q**batch
        gamma = MP.sqrt(8 * level / power) + (8 + 4 * level) / power  # Bd = |C| = 2
        if 2 * gamma < 1:
            n = int(MP.ceil(power / 2))
            return batch, n, gamma, tail(2, n * (1 - 2 * gamma))
    raise AssertionError("no batch is long enough")


def _solvable(solve: Solve, active: np.ndarray, means: np.ndarray) -> bool:
    """Noise-free rewards of the active actions give their means back."""
    try:
        estimate = solve(100.0 * active.T @ active, 100.0 * active.T @ means)
    except np.linalg.LinAlgError:
        return False
    return bool(np.allclose(active @ estimate, means, atol=1e-6))


def reached(played: Played) -> list[tuple[int, np.ndarray]]:
    """The different active sets of each run, as (run, mask)."""
    sets = {(run, active.tobytes()): active for run, rows in enumerate(played.active) for active in rows if active.any()}
    return [(run, active) for (run, _), active in sets.items()]


def singular(quick: bool, *, solve: Solve = inverse) -> Decision:
    """V of every active set that the algorithm itself reaches, and an instance where it surely becomes singular."""
    batch, n, gamma, stays = leaves(10**6)
    instance_fails = not _solvable(solve, np.array([[1.0, 0.0]]), np.array([1.0]))
    played = play("central", "printed", instances=60 if quick else 400)
    sets, count = reached(played), len(played.means)
    bad = [run for run, active in sets if not _solvable(solve, played.actions[run][active], played.means[run][active])]
    spanned = all(_solvable(in_the_span, played.actions[run][active], played.means[run][active]) for run, active in sets)
    runs = f"{len(set(bad))} of {count} random runs"
    instance = {"A": "{e_1, e_2}", "θ": "e_1", "T": 10**6, "ε": 1, "batch": batch, "n_a": n, "γ": digits(gamma)}
    evidence: Row = {
        "counterexample" if instance_fails else "instance": {
            **instance,
            "P(e_2 stays)": digits(stays),
            "V of the next batch": "((n, 0), (0, 0)), det V = 0",
        },
        "reached by Algorithm 1, K=10, d=2, T=10^6": f"{len(bad)} of {len(sets)} active sets without θ̂, in {runs}",
        "range": "in batch 1 A_1 spans (Lemma 1) and V is invertible; Algorithm 1 says “A_i ⊆ R^m”, yet inverts the d×d matrix",
    }
    if instance_fails or bad:
        leaves_after = f"e_2 leaves after batch {batch} (P(stays) = {float(stays):.2g})"
        fix = "least squares in the span of A_i (pseudo-inverse), m_i = dim span A_i for d"
        as_printed = f"as d×d it fails: A = {{e_1, e_2}}, {leaves_after}, then det V = 0; so in {runs}"
        if not spanned:
            return decided("refuted", as_printed, evidence, fix)
        return decided("conditional", f"holds in R^m, as Algorithm 1 writes A_i ⊆ R^m; {as_printed}", evidence, fix)
    return decided("verified", f"θ̂ is defined and gives the means back for all {len(sets)} active sets reached", evidence)


CHECKS = (
    Check(
        "alg.singular-design",
        "Algorithms 1–3, θ̂_i ← V^{-1}…",
        "V is invertible",
        singular,
        (*CODE, "proofs_checks.shared.measured_regret"),
    ),
)
