"""Growth q, number and length of the batches: lines 3 and 4 of Algorithms 1–3, and the footnote to q. log is natural."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.central import Central
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.rewards import Stochastic
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import decided
from proofs_checks.shared.laplace_tails import MP, digits, short
from proofs_checks.shared.measured_regret import CODE, regret_row

CORRECTED = "N = the largest number with Σ_{i≤N} n_i ≤ T, n_i counted with its ceilings"
LIMIT, QUICK_LIMIT = 10**7, 3 * 10**5
Exponent = Callable[[np.ndarray], np.ndarray]  # T → log q
Batches = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (T, T·0 + largest N that fits) → number of batches


def printed_exponent(horizons: np.ndarray) -> np.ndarray:
    """log q = log(2T)/log T."""
    result: np.ndarray = np.log(2 * horizons) / np.log(horizons)
    return result


def blocks(first: int, last: int) -> Iterator[np.ndarray]:
    """All whole numbers from first to last, in parts that fit into the cache."""
    for start in range(first, last + 1, 1 << 16):
        yield np.arange(start, min(start + (1 << 16), last + 1), dtype=float)


def runs(values: list[int]) -> list[str]:
    """1, 2, 3, 7 → "1–3", "7"."""
    edges = [i for i, value in enumerate(values) if i == 0 or value != values[i - 1] + 1] + [len(values)]
    pairs = [(values[a], values[b - 1]) for a, b in pairwise(edges)]
    return [f"{a}–{b}" if a < b else str(a) for a, b in pairs]


def q_range(quick: bool, *, exponent: Exponent = printed_exponent) -> Decision:
    """1 ≤ log q ≤ 2 for every T. log q = 1 + log 2/log T falls from 2 at T = 2 towards 1."""
    last, highest, lowest = QUICK_LIMIT if quick else LIMIT, (0.0, 0), (math.inf, 0)
    failing: list[int] = []
    for horizons in blocks(2, last):
        power = exponent(horizons)
        failing += horizons[(power < 1 - 1e-12) | (power > 2 + 1e-12)].astype(int).tolist()[: 5 - len(failing)]
        highest = max(highest, (float(power.max()), int(horizons[power.argmax()])))
        lowest = min(lowest, (float(power.min()), int(horizons[power.argmin()])))
    evidence = {
        "largest log q": {"log q": short(highest[0], 12), "T": highest[1]},
        "least log q": {"log q": short(lowest[0], 12), "T": lowest[1]},
        "range": f"every T ≥ 2, by the argument; scanned from 2 to {last}; T = 1 has no q (log 1 = 0)",
        "logarithm": "natural: with base 2, q = 2^(1+1/log₂T) ≤ e for T ≥ 5",
    }
    if failing:
        value = math.exp(float(exponent(np.array([float(failing[0])]))[0]))
        return decided("refuted", f"T = {failing[0]}: q = {value:.6g} is outside [e, e²]", evidence)
    argument = "log q = 1 + log 2/log T falls from 2 at T = 2 towards 1, so e ≤ q ≤ e² for every T ≥ 2"
    return decided("verified", f"{argument}; scanned up to {last}, equality q = e² at T = {highest[1]}", evidence)


def _sums(horizons: np.ndarray, exponent: Exponent, ceilings: bool) -> tuple[np.ndarray, np.ndarray]:
    """Σ_{i≤N} n_i for N = 0, 1, … (rows), with n_i = ⌈q^i⌉ (one action: the least there is) or q^i; and ⌊log T⌋."""
    growth, logs = np.exp(exponent(horizons)), np.floor(np.log(horizons)).astype(int)
    power, total = np.ones_like(horizons), np.zeros_like(horizons)
    rows = [total]
    for _ in range(int(logs.max()) + 1):
        power = power * growth
        total = total + (np.ceil(power - 1e-9) if ceilings else power)
        rows.append(total)
    return np.array(rows), logs


def batch_count(quick: bool, *, exponent: Exponent = printed_exponent) -> Decision:
    """At most log T, since Σ_{i≤log T} q^i ≥ T: are ⌊log T⌋ batches enough to fill T rounds? For every T."""
    last = QUICK_LIMIT if quick else LIMIT
    plain: list[int] = []
    ceiled: list[int] = []
    for horizons in blocks(2, last):
        for failing, ceilings in ((plain, False), (ceiled, True)):
            sums, logs = _sums(horizons, exponent, ceilings)
            failing += horizons[sums[logs, np.arange(len(logs))] < horizons].astype(int).tolist()
    evidence: dict[str, Any] = {
        "range": f"every T from 2 to {last}",
        "Σ_{i≤⌊log T⌋} q^i < T at": f"{len(plain)} horizons: {', '.join(runs(plain)[:12])}",
        "Σ_{i≤⌊log T⌋} ⌈q^i⌉ < T at": f"{len(ceiled)} horizons: {', '.join(runs(ceiled)[:12])}",
        "readings": "the loop “i = 1 : log(T) − 1”, rounded down, and the last stretch are ⌊log T⌋ by construction; "
        "rounded up they are ⌈log T⌉ > log T; the reason given needs Σ q^i ≥ T",
    }
    if not plain:
        return decided("verified", f"Σ_{{i≤⌊log T⌋}} q^i ≥ T for every T from 2 to {last}", evidence)
    if plain[-1] <= last // 10:
        small = [horizon for horizon in plain if horizon > 2]
        horizon = small[0] if small else plain[0]
        sums, logs = _sums(np.array([float(horizon)]), exponent, False)
        summary = (
            f"the count holds by construction, for the loop ends at log T − 1; only its reason fails, at {len(plain)} horizons: "
            f"T = {horizon}: ⌊log T⌋ = {logs[0]}, Σ q^i = {sums[logs[0], 0]:.5g} < T; it holds for all T from {plain[-1] + 1} on"
        )
        # q^⌊log T⌋ ≥ 2T/q, so that Σ q^i ≥ (2T − q)/(q − 1), at least T once T(3 − q) ≥ q; q falls in T
        some = np.arange(2.0, 5000.0)
        growth = np.exp(exponent(some))
        first = int(some[some * (3 - growth) < growth][-1]) + 1
        evidence["beyond the range"] = f"Σ q^i ≥ (2T − q)/(q − 1) ≥ T once T(3 − q) ≥ q, from T = {first} on"
        if exponent is printed_exponent:
            evidence["Σ_{i≤⌊log T⌋} q^i, exactly"] = {f"T = {each}": digits(exact_sum(each)) for each in (horizon, plain[-1])}
        return decided("conditional", summary, evidence, f"T ≥ {plain[-1] + 1}, or {CORRECTED}")
    return decided("refuted", f"T = {plain[-1]}: ⌊log T⌋ batches do not fill T rounds", evidence, CORRECTED)


def exact_sum(horizon: int) -> Any:
    """Σ_{i≤⌊log T⌋} q^i in 50 digits."""
    q = (2 * MP.mpf(horizon)) ** (1 / MP.log(horizon))
    return sum(q**i for i in range(1, math.floor(math.log(horizon)) + 1))


def printed_batches(horizons: np.ndarray, fitting: np.ndarray) -> np.ndarray:
    """i = 1 : log(T) − 1, rounded down, the reading that plays least."""
    result: np.ndarray = np.maximum(np.floor(np.log(horizons)) - 1, 0).astype(int)
    return result


def largest_fitting(horizons: np.ndarray, fitting: np.ndarray) -> np.ndarray:
    return fitting


def _scan(last: int, batches: Batches) -> tuple[list[int], dict[int, int], int]:
    """Horizons at which the batches do not fit, how N compares to ⌊log T⌋ − 1, and by how many rounds they overrun at most."""
    failing: list[int] = []
    compared: dict[int, int] = {}
    overrun = 0
    for horizons in blocks(3, last):
        sums, logs = _sums(horizons, printed_exponent, True)
        fitting = (sums[1:] <= horizons).sum(axis=0)
        number = batches(horizons, fitting)
        used = sums[number, np.arange(len(logs))]
        failing += horizons[used > horizons].astype(int).tolist()
        overrun = max(overrun, int((used - horizons).max()))
        for difference, count in zip(*np.unique(number - (logs - 1), return_counts=True), strict=True):
            compared[int(difference)] = compared.get(int(difference), 0) + int(count)
    return failing, compared, overrun


def exact_lengths(horizon: int, batches: int) -> list[int]:
    """⌈q^i⌉ for one action, i = 1, …, batches, in 50 digits."""
    q = (2 * MP.mpf(horizon)) ** (1 / MP.log(horizon))
    return [int(MP.ceil(q**i)) for i in range(1, batches + 1)]


def horizon_fits(quick: bool, *, batches: Batches = printed_batches) -> Decision:
    """Σ n_i ≤ T for every T, one action (n_i = ⌈q^i⌉): more actions and more dimensions only add ceilings."""
    last = QUICK_LIMIT if quick else LIMIT
    failing, _, overrun = _scan(last, batches)
    evidence: dict[str, Any] = {
        "range": f"every T from 3 to {last}, d = 1, one action",
        "reading": "log(T) − 1 rounded down; rounding up or to nearest plays more",
    }
    if not failing:
        return decided("verified", f"the batches fit at every T from 3 to {last}", evidence)
    horizon = failing[0]
    number = int(batches(np.array([float(horizon)]), np.zeros(1, dtype=int))[0])
    lengths, share = exact_lengths(horizon, number), 100 * len(failing) / (last - 2)
    q = digits((2 * MP.mpf(horizon)) ** (1 / MP.log(horizon)))
    evidence |= {
        "counterexample": {"T": horizon, "q": q, "n_i": lengths, "Σ n_i": sum(lengths)},
        "horizons that fail": f"{len(failing)} of {last - 2} ({share:.3g} %): {', '.join(runs(failing)[:12])}",
        "rounds over the horizon, at most": overrun,
    }  # fmt: skip
    if sum(lengths) <= horizon:
        return decided("conditional", "floats and 50 digits disagree", evidence)
    summary = f"T = {horizon}: {' + '.join(map(str, lengths))} = {sum(lengths)} > T; fails at {share:.3g} % of T ≤ {last}"
    return decided("refuted", summary, evidence, CORRECTED)


def corrected_batches(quick: bool, *, batches: Batches = largest_fitting) -> Decision:
    """It fits at every T, it is what the code does, and it is ⌊log T⌋ − 1 wherever that fits, once T ≥ 404."""
    last = QUICK_LIMIT if quick else LIMIT
    failing, compared, _ = _scan(last, batches)
    sample = [*range(3, 40 if quick else 150), 1097, 2981, 10**6, 1_202_605]
    horizons = np.array(sample, dtype=float)
    sums, _ = _sums(horizons, printed_exponent, True)
    stated = batches(horizons, (sums[1:] <= horizons).sum(axis=0)).tolist()
    at_most = [Setting(np.ones((1, 1)), horizon).batches_at_most for horizon in sample]
    unlike = [horizon for horizon, a, b in zip(sample, stated, at_most, strict=True) if a != b]
    played = _played_rounds([horizon for horizon in sample if horizon <= (40 if quick else 150)])
    evidence: dict[str, Any] = {
        "proof": "N = 0 fits, and n_i ≥ 1: there is a largest N, and it fits by its definition; q^N ≤ Σ n_i ≤ T gives N ≤ log T",
        "range": f"every T ≥ 3, by its definition; scanned from 3 to {last}",
        "N − (⌊log T⌋ − 1), number of T": {str(k): v for k, v in sorted(compared.items())},
        "the code's N_max": f"equal at {len(sample) - len(unlike)} of {len(sample)} horizons",
        "played to the end": f"{played} horizons from 3 on, 3 actions, d = 2: exactly T rounds each, at most N_max batches",
    }  # fmt: skip
    if failing:
        return decided("refuted", f"T = {failing[0]}: the batches take more than T rounds", evidence)
    if unlike or not played:
        return decided("conditional", f"the code plays another number of batches at T = {unlike[:3]}", evidence)
    count = 100 if quick else 1000
    evidence["regret, central, tight, ε=1"] = [
        {"T": horizon, **regret_row("central", "tight", horizon=horizon, instances=count)} for horizon in (10**6, 1_202_605)
    ]
    evidence["regret it buys"] = "as printed, T = 1202605 asks for more rounds than there are; corrected, it is as at T = 10^6"
    over = sum(exact_lengths(1097, 6))
    evidence["privacy it buys"] = (
        "none, the same ε: every round is in one batch either way, and N depends on T alone; it is needed because as printed "
        f"T = 1097 plays {over} rounds, {over - 1097} more than there are clients"
    )
    return decided(
        "verified",
        "fits by its definition, and q^N ≤ Σ n_i ≤ T gives N ≤ log T; "
        f"scanned up to {last}: equals ⌊log T⌋ − 1 at {compared.get(0, 0)} of them",
        evidence,
    )


def _played_rounds(horizons: list[int]) -> int:
    """How many horizons the loop itself fills exactly; 0 if it fails at one."""
    actions = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    for horizon in horizons:
        setting = Setting(actions, horizon)
        with dp.simulate(horizon, trials=4) as channel:
            result = run(setting, Central(Fraction(1)), Stochastic(actions[:, 0], np.random.default_rng(horizon)), channel)
        if (result.pulls.sum(axis=1) != horizon).any() or result.batches.max() > setting.batches_at_most:
            return 0
    return len(horizons)


CHECKS = (
    Check("alg.q-range", "footnote to q", "e ≤ q ≤ e²", q_range),
    Check(
        "alg.batch-count", "proof of Theorem 1", "the number of batches is at most log T, since Σ_{i≤log T} q^i ≥ T", batch_count
    ),
    Check("alg.horizon", "Algorithms 1–3, loop", "the batches fit into the horizon T", horizon_fits),
    Check("fix.batches", "corrections, batches", CORRECTED, corrected_batches, (*CODE, "proofs_checks.shared.measured_regret")),
)
