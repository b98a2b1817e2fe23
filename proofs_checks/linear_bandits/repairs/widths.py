"""The corrected γ of the central, local and shuffled model: claims of our own, held against exact tails and against the code."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from algorithms.elimination.confidence import Model
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.algorithms.shuffled_regret import shuffled_regret
from proofs_checks.linear_bandits.algorithms.width_code import code_width
from proofs_checks.linear_bandits.joint.noise_steps import tail_steps, union_steps
from proofs_checks.linear_bandits.lemmas import central as lemma_central
from proofs_checks.linear_bandits.lemmas import local as lemma_local
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import log_tail, short
from proofs_checks.shared.measured_regret import CODE, regret_rows
from proofs_checks.shared.proof_steps import Step, broken, rows

SAME = "none, the same ε, for γ is computed from public numbers and released sums; it keeps P(error > γ) below 1/T"
HORIZONS, SCALE, SIZE = (10, 10**6), 3.0, 7  # where the code is asked


def central_width(n: Any, level: Any) -> Any:
    """In units of cσ, c = 2m/q^i and σ = s/ε: L + 2√(|C_i|L)."""
    return level + 2 * np.sqrt(n * level)


def local_width(m: Any, power: Any, n: Any, level: Any) -> Any:
    """In units of σ = s/ε0: 2√(2mL/q^i) + 2mL/q^i."""
    return 2 * (2 * m * level / power) ** 0.5 + 2 * m * level / power


def _noise_part(model: Model, horizon: int, power: float, pulls: list[int], rank: int) -> float:
    """What the algorithms add to γ for the noise."""
    with_noise, without = (
        code_width(
            each, "corrected", power=power, horizon=horizon, size=SIZE, counts=pulls, coefficients=[0.0] * len(pulls),
            scale=SCALE, rank=rank, dim=9,
        )
        for each in (model, "nonprivate")
    )  # fmt: skip
    return with_noise - without


def proof() -> list[Step]:
    """Tail and union, step by step."""
    return [*tail_steps()[:4], *union_steps()[:3]]


def _by_union(argument: str, worst: float, evidence: Row) -> Decision:
    """The verdict once exact tails and code agree: the proof's steps decide. ``worst``: log of the largest tail, in e^-L."""
    steps = proof()
    evidence["proof"] = rows(steps)
    if broken(steps):
        return decided("conditional", "exact tails hold, but the proof does not", evidence, "a proof")
    reached = f"exact tails reach at most {math.exp(worst):.3g} of e^-L"
    return decided("verified", f"{argument} batches: P(bad) ≤ N/T² ≤ 1/T for every T ≥ 3; {reached}", evidence)


def central_gamma(quick: bool, *, width: lemma_central.Width = central_width) -> Decision:
    """n = |C_i| terms of coefficient at most c = 2m/q^i: P(noise > cσ·width(n, L)) ≤ e^{-L}; then N·|A_i|·4e^{-L_i} = N/T² ≤ 1/T.

    Equal coefficients are the worst: symmetric unimodal noise spreads with each of them. So the exact tail decides.
    """
    levels = np.geomspace(math.log(4 * 3**2), 200, 24)  # from K = 1, T = 3 on
    sizes = [1, 2, 3, 5, 10, 20, 50] if quick else [*range(1, 61), 100, 200, 500, 1000]
    points = []
    for n in sizes:
        excess = log_tail(n, width(n, levels)) + levels
        points += [(float(x), n, float(level)) for x, level in zip(excess, levels, strict=True)]
    worst, n, level = max(points)
    differs = 0.0
    for horizon, rank, support in product(HORIZONS, (1, 3), (1, 4, 20)):
        stated = 2 * rank * SCALE / (4.5 * support) * float(width(support, math.log(4 * SIZE * horizon**2)))
        differs = max(differs, abs(_noise_part("central", horizon, 4.5 * support, [5] * support, rank) / stated - 1))
    evidence: Row = {
        "largest exact tail": {"P·e^L": short(math.exp(worst)), "n": n, "L": short(level)},
        "the code's width differs by": short(differs, 2),
        "rewards": "√(4mL/q^i) = √(2‖a‖²L) at ‖a‖² = 2m/q^i: at most 2e^-L for sub-Gaussian noise, by Hoeffding",
        "range": f"every T ≥ 3, |C_i|, m, q^i and ε, by the proof; exact tails: |C_i| ≤ {sizes[-1]}, L = {levels[0]:.3g}, …, 200",
    }
    if worst > 0:
        return decided("refuted", f"|C_i| = {n}, L = {level:.4g}: P = {math.exp(worst):.4g}·e^-L", evidence)
    if differs > 1e-9:
        return decided("conditional", "exact tails hold, but the code uses another width", evidence)
    evidence["regret, K=10, d=2, T=10^6, ε=1"] = regret_rows("central", ("printed", "corrected"), quick)
    evidence["privacy it buys"] = f"with the noise that ε-DP needs, Lap(2/ε): {SAME}"
    evidence["why it is needed"] = [  # there, widths are in units of c/ε = cσ/2
        {"γ": "printed", **lemma_central.coverage(2, lemma_central.printed_width)},
        {"γ": "corrected", **lemma_central.coverage(2, lambda n, level: 2 * width(n, float(level)))},
    ]
    argument = (
        "Bernstein with v ≤ |C_i|c², c = 2m/q^i, and a union over 4|A_i| events of e^-L = 1/(4|A_i|T²) in each of N ≤ log T"
    )
    return _by_union(argument, worst, evidence)


def local_gamma(quick: bool, *, width: lemma_local.Width = local_width) -> Decision:
    """Noise terms with Σl_k² = ‖α‖² ≤ v and |l_k| ≤ c, v = c = 2m/q^i: P(noise > σ·width) ≤ e^{-L}.

    Exact tails of equal coefficients √(v/n), for n that |l| ≤ c allows (n ≥ v/c² = 1/c); and the proven bound, summed over
    actions and batches.
    """
    levels = np.geomspace(math.log(4 * 3**2), 120, 12)
    points = []
    for least, times in product((1, 2, 3, 10, 50) if quick else (1, 2, 3, 5, 8, 13, 20, 30, 50, 100, 300, 1000), (1, 2, 5)):
        n = times * least  # least = 1/c, which is q^i/2 for m = 1
        reach = np.array([float(width(1, 2.0 * least, 2.0 * least, level)) for level in levels]) * math.sqrt(least * n)
        points += [(float(x), n, least, float(level)) for x, level in zip(log_tail(n, reach) + levels, levels, strict=True)]
    worst, n, least, level = max(points)
    largest, where = lemma_local.proven(width, quick)
    differs = 0.0
    for horizon, (rank, pulls) in product(HORIZONS, ((1, 3), (2, 50), (5, 4000))):
        stated = SCALE * float(width(rank, pulls - 0.5, pulls, math.log(4 * SIZE * horizon**2)))
        differs = max(differs, abs(_noise_part("reports", horizon, pulls - 0.5, [pulls], rank) / stated - 1))
    ranges = f"1/c = 1, …, {max(point[2] for point in points)}; n = 1/c, 2/c, 5/c; L = {levels[0]:.3g}, …, 120"
    evidence: Row = {
        "largest exact tail": {"P·e^L": short(math.exp(worst)), "n": n, "1/c": least, "L": short(level)},
        "proven": {"T·P(good event fails) ≤": short(largest), **where},
        "the code's width differs by": short(differs, 2),
        "range": f"every T ≥ 3, n, m, q^i and ε0, by the proof; {len(points)} exact tails: {ranges}",
    }
    if worst > 0:
        return decided("refuted", f"n = {n}, 1/c = {least}, L = {level:.4g}: P = {math.exp(worst):.4g}·e^-L", evidence)
    if largest > 1 or differs > 1e-9:
        return decided("conditional", "exact tails hold, but the proof or the code does not agree", evidence)
    kinds = ("printed", "corrected")
    evidence["regret, K=10, d=2, T=10^6, ε0=1"] = regret_rows("local", kinds, quick)
    evidence["regret, K=10, d=2, T=10^6, ε=1, δ=1e-6"] = [
        shuffled_regret(kind, Fraction(1), 40 if quick else 400) for kind in kinds
    ]
    evidence["privacy it buys"] = f"with the noise that ε0-LDP needs, Lap(2/ε0): {SAME}"
    evidence["why it is needed"] = [
        {"γ": name, **lemma_local.coverage(one)} for name, one in (("printed", lemma_local.printed_width), ("corrected", width))
    ]
    argument = (
        "Bernstein with Σl_k² = ‖α‖² ≤ 2m/q^i and |l_k| ≤ 2m/q^i, and a union over 4|A_i| events of e^-L in each of N ≤ log T"
    )
    return _by_union(argument, worst, evidence)


USED = (
    "proofs_checks.shared.laplace_tails",
    *CODE,
    "proofs_checks.shared.measured_regret",
    "proofs_checks.linear_bandits.algorithms.width_code",
)
REPORTS = (
    "algorithms.elimination.shuffled",
    "proofs_checks.linear_bandits.lemmas.local",
    "proofs_checks.linear_bandits.algorithms.shuffled_regret",
)
CHECKS = (
    Check(
        "fix.central-gamma",
        "corrections, central γ",
        lemma_central.CORRECTED,
        central_gamma,
        (*USED, "proofs_checks.linear_bandits.lemmas.central"),
    ),
    Check(
        "fix.local-gamma",
        "corrections, local and shuffled γ",
        lemma_local.CORRECTED,
        local_gamma,
        (*USED, *REPORTS),
    ),
)
