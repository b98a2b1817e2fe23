"""The concentration lemma of the local model, which the shuffled model uses too (appendix)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, digits, log_tail, short, simulated_tail, tail

CORRECTED = "γ_i = √(4m_iL_i/q^i) + (s/ε0)(2√(2m_iL_i/q^i) + 2m_iL_i/q^i) with noise Lap(s/ε0), s = 2"
ALONE = "P(noise > its part)·2KT²"
Width = Callable[[Any, Any, Any, Any], Any]  # (d or m, q^i, n_i, L) → width of the noise in units of the Laplace scale
OPTIMAL, ALLOWED = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(5, 7))  # (α, a) of leverage 1 = d, and of 49/25 ≤ 2d


def printed_width(d: Any, power: Any, n: Any, level: Any) -> Any:
    """(2d/q^i)√(n_i L)."""
    return 2 * d / power * (n * level) ** 0.5


def _batches(horizon: int, width: Width, epsilon: Fraction, actions: tuple[Fraction, Fraction]) -> list[Row]:
    """d = 1, A = {α, a}, C = {a}, rewards without noise: the error of α is (α/a)·(z_1 + … + z_n)/n. Exact tails."""
    alpha, pulled = actions
    size = len(set(actions))
    q, level = (2 * MP.mpf(horizon)) ** (1 / MP.log(horizon)), MP.log(4 * size * MP.mpf(horizon) ** 2)
    rows: list[Row] = []
    for batch in range(1, math.floor(math.log(horizon))):
        n = int(MP.ceil(q**batch))
        if n > 5000:
            break
        noise = MP.mpf(width(1, q**batch, n, level)) * epsilon.denominator / epsilon.numerator
        gamma = MP.sqrt(4 * level / q**batch) + noise
        ratio = n * pulled / alpha * epsilon  # of the sum of the noises, in units of their scale, to the error
        reaches = [reach * ratio.numerator / ratio.denominator for reach in (gamma, noise)]
        exact = n <= 70  # beyond, in floats
        above, alone = (2 * (tail(n, x) if exact else MP.exp(float(log_tail(n, float(x))[0]))) for x in reaches)
        shown = 40 if exact else 12
        row = {"T": horizon, "α, a": f"{alpha}, {pulled}", "batch": batch, "n": n, "P(error > γ)": digits(above, shown)}
        row |= {"P·T": short(above * horizon), "P(noise > its part)": digits(alone, shown)}
        row[ALONE] = short(alone * 2 * size * horizon**2)
        rows.append({**row, "sum above": float(reaches[0])})
    return rows


def _all_batches(quick: bool, width: Width, epsilon: Fraction) -> list[Row]:
    horizons = [10**6, 10**8] if quick else [10**3, 10**4, 10**6, 10**8, 10**12]
    return [
        row for horizon, actions in product(horizons, (ALLOWED, OPTIMAL)) for row in _batches(horizon, width, epsilon, actions)
    ]


def coverage(width: Width, epsilon: Fraction = Fraction(1, 1000)) -> Row:
    """The worst batch at T = 10^6 for noise of scale 1/ε: how often γ is exceeded, in units of 1/T."""
    batches = [row for actions in (ALLOWED, OPTIMAL) for row in _batches(10**6, width, epsilon, actions)]
    worst = max(batches, key=lambda row: row["P·T"])
    scale = f"Lap({1 / epsilon})"
    return {"noise": scale, **{name: worst[name] for name in ("T", "α, a", "batch", "n", "P(error > γ)", "P·T")}}


def proven(width: Width, quick: bool) -> tuple[float, Row]:
    """The largest T·(bound on P(good event fails)) on a grid, and where.

    From log MGF ≤ λ²v/(1 − λc) with v = c = 2m/q^i, the noise exceeds 2√(vx) + cx with probability at most e^{-x}.
    """
    worst: tuple[float, Row] = (0.0, {})
    for horizon, m in product((10, 10**3, 10**6) if quick else (3, 10, 100, 10**3, 10**4, 10**6, 10**9, 10**12), (1, 2, 5, 20)):
        growth, batches = (2 * horizon) ** (1 / math.log(horizon)), math.floor(math.log(horizon)) + 1
        for size in (1, 2, 10, 10**3, (3 * horizon) ** m):
            level, total = math.log(4 * size) + 2 * math.log(horizon), 0.0
            for batch in range(1, batches + 1):
                power = growth**batch
                c, reach = 2 * m / power, float(width(m, power, power, level))  # n_i ≥ q^i, and widths grow with n_i
                root = (math.sqrt(c + c * reach) - math.sqrt(c)) / c
                total += size * 2 * (math.exp(-level) + math.exp(-(root**2)))
            worst = max(worst, (total * horizon, {"T": horizon, "m": m, "|A_i|": short(size)}), key=lambda pair: pair[0])
    return worst


def concentration(quick: bool, *, width: Width = printed_width, epsilon: Fraction = Fraction(1, 1000)) -> Decision:
    """P(∃i, a: |error| > γ_i) ≤ 1/T for noise Lap(1/ε0): exact tails of early batches against it, a proven bound for it."""
    rows = _all_batches(quick, width, epsilon)
    failing = [row for row in rows if row["P·T"] > 1]
    shown = [{key: row[key] for key in ("T", "α, a", "batch", "n", "P(error > γ)", "P·T")} for row in (failing or rows)]
    evidence: Row = {
        "range": f"exact tails of {len(rows)} batches; a proven bound on a grid of T, m and |A_i|",
        "reading": "the event that the proof needs: some |error| > γ_i", f"exact tails, ε0 = {epsilon}": shown,
    }  # fmt: skip
    if failing:
        first = next((row for row in failing if row["T"] == 10**6), failing[0])
        evidence["counterexample"] = shown[failing.index(first)]
        above, draws = simulated_tail(first["n"], first["sum above"], 2_000_000 if quick else 10_000_000, 8)
        exact = short(float(first["P(error > γ)"]) / 2 * draws)
        evidence["simulated"] = {"errors above γ, one side": above, "of": draws, "expected": exact}
        evidence["why"] = (
            "t = (2d/(q^iε0))√(n_iL) put into the Laplace lemma gives e^(−L/2), not e^−L; and where n_i < L sums are not Gaussian"
        )
        where = f"T = {first['T']}, (α, a) = ({first['α, a']}), batch {first['batch']} (n = {first['n']})"
        return decided("refuted", f"{where}: P(error > γ) = {first['P·T']:.4g}/T", evidence, CORRECTED)
    largest, at = proven(width, quick)
    evidence["largest proven bound"] = {"P·T ≤": short(largest), **at}
    if largest <= 1:
        return decided("verified", f"no counterexample; P·T ≤ {largest:.3g} on the grid of T, m and |A_i|", evidence)
    return decided("conditional", "no counterexample, but no proof either", evidence, CORRECTED)


def noise_tail(quick: bool, *, width: Width = printed_width) -> Decision:
    """P(|⟨a, θ̄_i − θ̂_i⟩| ≥ (2d/(q^iε0))√(n_iL)) ≤ 1/(2KT²), K = |A_i|."""
    rows = _all_batches(quick, width, Fraction(1))
    failing = [row for row in rows if row[ALONE] > 1]
    evidence: Row = {
        "range": f"{len(rows)} batches, T in {sorted({row['T'] for row in rows})}",
        "the proof's own arithmetic": "with b = ε0, c = 2d/q^i its bound at that t is exp(−t²b²/(2nc²)) = exp(−L/2) = 1/(2√K·T)",
        "exact": [{key: row[key] for key in ("T", "α, a", "batch", "n", "P(noise > its part)", ALONE)} for row in rows],
    }
    if not failing:
        return decided("verified", f"holds in all {len(rows)} batches", evidence)
    worst = max(failing, key=lambda row: (row["T"] == 10**6, row["n"]))
    evidence["counterexample"] = evidence["exact"][rows.index(worst)]
    where = f"T = {worst['T']}, (α, a) = ({worst['α, a']}), batch {worst['batch']} (n = {worst['n']})"
    summary = f"{where}: {worst[ALONE]:.4g} times 1/(2KT²); above it in {len(failing)} of {len(rows)} batches"
    return decided("refuted", summary, evidence, CORRECTED)


WHERE, USED = "appendix, concentration lemma (local)", ("proofs_checks.shared.laplace_tails",)
TAIL = "the noise exceeds (2d/(q^iε0))√(n_i log(4KT²)) with probability at most 1/(2KT²)"
CHECKS = (
    Check("lemma-local.concentration", WHERE, "γ_i is exceeded with probability at most 1/T", concentration, USED),
    Check("lemma-local.noise-tail", f"{WHERE}, proof", TAIL, noise_tail, USED),
)
