"""The concentration lemma of the central model (appendix)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaincc

from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.theorems.regret import good_event
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, chernoff, digits, log_tail, short, tail

CORRECTED = "γ_i = √(4m_iL_i/q^i) + (2m_is/(εq^i))(L_i + 2√(|C_i|L_i)) with noise Lap(s/ε), s = 2"
ALONE = "P(noise > its part)·2KT²"
Width = Callable[[Any, Any], Any]  # (number of noise terms n, L) → width of the noise in units of c/ε, c = 2d/q^i


def printed_width(n: Any, level: Any) -> Any:
    """(2Bd² + 2dL)/(εq^i) = (c/ε)(n + L), n = Bd."""
    return n + level


def quantifier(quick: bool, *, bounded: Callable[[Sequence[bool]], bool] = all) -> Decision:
    """Is the event whose probability is bounded the complement of the good event? ``bounded`` says when it occurs.

    Patterns: which of |⟨a, θ̂_i − θ⟩| > γ_i occur, for 2 batches and 2 actions. The good event is that none does.
    """
    patterns = list(product((False, True), repeat=4))
    differ = [pattern for pattern in patterns if bounded(pattern) != any(pattern)]
    # T = 100: the loop has ⌊log 100⌋ − 1 = 3 batches. One action, an error of its own in each batch, of probability 1/5.
    horizon, batches, chance = 100, 3, Fraction(1, 5)
    occurs = Fraction(0)
    for case in product((False, True), repeat=batches):
        occurs += bounded(case) * math.prod((chance if wrong else 1 - chance) for wrong in case)
    fails = 1 - (1 - chance) ** batches
    instance = f"T = {horizon}, {batches} batches, each with an error above γ_i with probability {chance}, independently"
    evidence: Row = {
        "patterns that differ": f"{len(differ)} of {len(patterns)}",
        "range": "all 16 patterns of 2 batches and 2 actions",
        "counterexample" if differ else "instance": {
            "instance": instance,
            "P(event that is bounded)": occurs,
            "P(the good event fails)": fails,
            "1/T": Fraction(1, horizon),
        },
        "also in": "the concentration lemma of the local model, word for word",
    }
    if not differ:
        return decided("verified", "the event is the complement of the good event in all 16 patterns", evidence)
    holds = "holds with ∃ for ∀, as the proof's union bound has it"
    summary = f"{holds}; “> γ_i ∀i ∀a” has probability {occurs} ≤ 1/{horizon}, yet the good event fails with probability {fails}"
    return decided("refuted", summary, evidence, "Pr[∃i ∃a ∈ A_i: |⟨a, θ̂_i − θ*⟩| > γ_i] ≤ 1/T, what a union bound gives")


def crowded(horizon: int, heavy: int) -> tuple[int, Any, Fraction, Fraction]:
    """A core set of Lemma 2 with many noise terms: d = 1, actions 5/7 and 1, 1 − 10^-4, … (``heavy`` of them, weight 1/T each).

    Its leverage is 1/Σπa² ≤ 49/25 < 2. In the last batch each of the heavy actions is pulled once. Returns the batch, q^i, the
    leverage and the least coefficient of the heavy actions for α = 1: l = a/V.
    """
    q = (2 * MP.mpf(horizon)) ** (1 / MP.log(horizon))
    batch = math.floor(math.log(horizon)) - 1
    heavies = [1 - Fraction(j, 10**4) for j in range(heavy)]
    squares = sum((a**2 for a in heavies), Fraction(0))
    moment = (1 - Fraction(heavy, horizon)) * Fraction(25, 49) + squares / horizon
    pulls = int(MP.ceil((1 - MP.mpf(heavy) / horizon) * q**batch))
    return batch, q**batch, 1 / moment, heavies[-1] / (pulls * Fraction(25, 49) + squares)


def _crowded_tails(horizons: Sequence[int], scale: int, width: Width, epsilon: Fraction) -> list[Row]:
    """P(|error of α = 1| > γ) ≥ P(|Σ heavy terms at their least coefficient| > γ): symmetric unimodal noise, no reward noise."""
    rows: list[Row] = []
    for horizon, heavy in product(horizons, (2, 4, 8, 12, 16, 20, 30, 40)):
        batch, power, leverage, least = crowded(horizon, heavy)
        size = heavy + 1
        level = MP.log(4 * size * MP.mpf(horizon) ** 2)
        noise = 2 / power * MP.mpf(width(size, level)) * epsilon.denominator / epsilon.numerator
        gamma = MP.sqrt(4 * level / power) + noise
        to_sum = MP.mpf(least.denominator * epsilon.numerator) / (least.numerator * epsilon.denominator * scale)
        above, alone = (2 * tail(heavy, reach * to_sum) for reach in (gamma, noise))
        row = {"T": horizon, "|C| = K": size, "batch": batch, "leverage": short(leverage), "P(error > γ) ≥": digits(above)}
        row |= {
            "P·T": short(above * horizon),
            "P(noise > its part) ≥": digits(alone),
            ALONE: short(alone * 2 * size * horizon**2),
        }
        rows.append(row)
    return rows


def coverage(scale: int, width: Width) -> Row:
    """The worst of these core sets at T = 10^6 for noise Lap(scale/ε): how often γ is exceeded, in units of 1/T, at the least."""
    worst = max(_crowded_tails([10**6], scale, width, Fraction(1, 10**6)), key=lambda row: row["P·T"])
    return {"noise": f"Lap({scale}/ε)", **{name: worst[name] for name in ("T", "|C| = K", "batch", "P(error > γ) ≥", "P·T")}}


def _columns(rows: list[Row], *names: str) -> list[Row]:
    return [{name: row[name] for name in names} for row in rows]


def _upper(horizon: int, size: float, n: int, scale: int, width: Width) -> float:
    """T·(bound on P(good event fails)) for |A_i| = size, n noise terms, all of the batches. Coefficients are at most c = 2d/q^i.

    Rewards: 1/(2T²) per batch (sub-Gaussian). Noise: the least of size·2·P(z_1 + … + z_n > τ), a union over actions, and
    P(|z_1| + … + |z_n| > τ) = P(Gamma(n) > τ), for all actions at once. Fewer or smaller terms only help.
    """
    batches = math.floor(math.log(horizon)) + 1
    level = math.log(4 * size) + 2 * math.log(horizon)
    tau = float(width(n, level)) / scale
    union = math.log(2 * size) + float(chernoff(n, tau))
    if union > -math.log(4 * batches * horizon):
        union = math.log(2 * size) + float(log_tail(n, tau)[0])
    noise = min(math.exp(min(union, 0.0)), float(gammaincc(n, tau)))
    return horizon * batches * (1 / (2 * horizon**2) + noise)


def concentration(quick: bool, *, scale: int = 1, width: Width = printed_width) -> Decision:
    """P(∃i, a: |error| > γ_i) ≤ 1/T for noise Lap(scale/ε): exact tails of crowded core sets against it, proven bounds for it."""
    tiny = Fraction(1, 10**6)
    rows = _crowded_tails([10**6] if quick else [10**4, 10**6, 10**9], scale, width, tiny)
    worst = max(rows, key=lambda row: row["P·T"])
    shown = _columns(rows, "T", "|C| = K", "batch", "leverage", "P(error > γ) ≥", "P·T")
    evidence: Row = {"reading": "the event that the proof needs: some |error| > γ_i", "exact tails, ε = 10^-6, d = 1": shown}
    if worst["P·T"] > 1:
        evidence["counterexample"] = shown[rows.index(worst)]
        where = f"T = {worst['T']}, |C| = {worst['|C| = K']}, noise Lap({scale}/ε)"
        return decided("refuted", f"{where}: P(error > γ) ≥ {worst['P·T']:.4g}/T", evidence, CORRECTED)
    horizons = [3, 10, 10**3, 10**6] if quick else [3, 4, 5, 7, 10, 20, 50, *(10**k for k in range(2, 10)), 10**12]
    count = 15 if quick else 40
    points = [
        (_upper(horizon, float(size), int(n), scale, width), horizon, short(size), int(n))
        for horizon in horizons
        for size in np.unique(np.round(np.geomspace(1, (3.0 * horizon) ** 6, count)))
        for n in np.unique(np.round(np.geomspace(1, 1000, count)))
    ]
    largest = max(points)
    private = max(_crowded_tails([10**6], 2, width, tiny), key=lambda row: row["P·T"])
    ranges = f"T = 3, …, {horizons[-1]:g}; |A_i| = 1, …, (3T)^6; n = Bd = 1, …, 1000"
    evidence |= {
        "range": f"every T ≥ 3, |A_i|, |C_i|, d and ε, by the proof; {len(points)} points: {ranges}",
        "largest bound": dict(zip(("P·T ≤", "T", "|A_i|", "n"), largest, strict=True)),
        "not by the paper's proof": "its bound on the noise alone (lemma-central.noise-tail) is false; 1/T leaves room for it",
        "with Lap(2/ε), which ε-DP needs": f"P·T ≥ {private['P·T']:.4g} at T = 10^6, |C| = {private['|C| = K']}",
    }
    everywhere, how = good_event.from_horizon(width) if scale == 1 else (False, {})
    evidence["proof"] = how
    if largest[0] > 1 or not everywhere:
        summary = f"not proven at T = {largest[1]}, |A_i| = {largest[2]:g}, n = {largest[3]}"
        return decided("conditional", summary, evidence, CORRECTED)
    argument = "the lesser of a union over actions (Chernoff) and of one Gamma tail for all actions gives P ≤ 1/T"
    summary = f"{argument} for every T ≥ 3, |A_i| and |C_i|, noise Lap({scale}/ε); the same at {len(points)} points"
    return decided("verified", summary, evidence)


def noise_tail(quick: bool, *, width: Width = printed_width) -> Decision:
    """P(|⟨a, θ̄_i − θ̂_i⟩| ≥ (2Bd² + 2dL)/(εq^i)) ≤ 1/(2KT²), K = |A_i|, for noise Lap(1/ε)."""
    rows = _crowded_tails([10**6] if quick else [10**4, 10**6, 10**9], 1, width, Fraction(1))
    failing = [row for row in rows if row[ALONE] > 1]
    shown = _columns(rows, "T", "|C| = K", "batch", "leverage", "P(noise > its part) ≥", ALONE)
    evidence: Row = {"exact tails, d = 1": shown, "range": f"{len(rows)} core sets, T in {sorted({row['T'] for row in rows})}"}
    if not failing:
        return decided("verified", f"holds for all {len(rows)} core sets", evidence)
    first = min(failing, key=lambda row: (row["T"] != 10**6, row["|C| = K"]))
    most = max(row[ALONE] for row in failing)
    evidence["counterexample"] = shown[rows.index(first)]
    summary = f"T = {first['T']}, |C| = {first['|C| = K']}: {first[ALONE]:.4g} times 1/(2KT²); up to {most:.4g} times"
    return decided("refuted", summary, evidence, CORRECTED)


WHERE, TAILS = "appendix, concentration lemma (central)", ("proofs_checks.shared.laplace_tails",)
_REGRET = "proofs_checks.linear_bandits.theorems.regret"
EVENT = (*TAILS, f"{_REGRET}.good_event", f"{_REGRET}.good_event_cells")
TAIL = "the noise exceeds (2Bd² + 2d log(4KT²))/(εq^i) with probability at most 1/(2KT²)"
CHECKS = (
    Check("lemma-central.quantifier", WHERE, "the event that is bounded is the one that the proof needs", quantifier),
    Check("lemma-central.concentration", WHERE, "γ_i is exceeded with probability at most 1/T", concentration, EVENT),
    Check("lemma-central.noise-tail", f"{WHERE}, proof", TAIL, noise_tail, TAILS),
)
