"""One shuffled batch of Laplace reports: attacked in closed form, bounded by the accountants, and placed beside its claim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.setting import Setting
from dpaudit.accountants import epsilon0_rule
from dpaudit.accountants.shuffle.amplification import extreme_report_attack
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import MP, short

Rule = Callable[[Fraction, int, Fraction], Fraction]  # ε, n, δ → ε0 of every report of the batch
CODE = (
    "dpaudit.accountants.shuffle.closed_form",
    "dpaudit.accountants.shuffle.clone",
    "dpaudit.accountants.shuffle.laplace.blanket",
    "dpaudit.noise.extreme_report",
)


@lru_cache(maxsize=4096)
def printed_rule(epsilon: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε0 = f^{-1}_{n,δ}(ε), wherever it lies; rounded down in the 20th digit."""
    return dp.invert(epsilon, n, delta, method="closed", digits=20).lower


@lru_cache(maxsize=4096)
def closed_rule(epsilon: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε0 = max{ε, min(f^{-1}_{n,δ}(ε), log(n/(16 log(2/δ))))}, the second entry only if n > 16 log(2/δ)."""
    return epsilon0_rule(epsilon, n, delta, method="closed")


@lru_cache(maxsize=4096)
def clone_rule(epsilon: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε0 = max{ε, sup{e : H_ε(e) ≤ δ}}, rounded down."""
    return epsilon0_rule(epsilon, n, delta, method="clone")


def batch_sizes(horizon: int) -> list[int]:
    """⌈q^i⌉: one action, as many batches as fit into T."""
    setting = Setting(np.ones((1, 1)), horizon)
    return [math.ceil(setting.growth**i - 1e-9) for i in range(1, setting.batches_at_most + 1)]


LAST_BATCH = batch_sizes(10**6)[-1]
LAST_BATCH_IS = (
    f"n = {LAST_BATCH} = ⌈q^12⌉, batch 12 of T = 10^6 with one action (q^12 = 297170.1…; "
    "our corrections quote it rounded down, 297170); two actions of weight ½ make it 2⌈q^12/2⌉ = 297172"
)


@dataclass(frozen=True)
class Cell:
    """One batch and what is known about it: attacked ≥ from an exact event, proven ≤ from an accountant (None: not asked for)."""

    epsilon: Fraction
    delta: Fraction
    n: int
    epsilon0: Fraction
    attacked: Fraction
    threshold: int
    event: str
    proven: Fraction | None

    @property
    def outcome(self) -> str:
        if self.attacked > self.epsilon:
            return "violated"
        return "proven" if self.proven is not None and self.proven <= self.epsilon else "open"

    def row(self) -> Row:
        inside = dp.amplify(self.epsilon0, self.n, self.delta, method="closed", attack=False).in_domain
        return {
            "ε": self.epsilon, "δ": self.delta, "n": self.n, "ε0": short(self.epsilon0, 8), "ε0 in f's domain": inside,
            "attacked ≥": short(self.attacked, 8), "proven ≤": None if self.proven is None else short(self.proven, 8),
            "outcome": self.outcome,
        }  # fmt: skip


@lru_cache(maxsize=8192)
def examine(epsilon: Fraction, n: int, delta: Fraction, rule: Rule, numerator: Fraction, spread: Fraction) -> Cell:
    """n reports with noise Lap(numerator/ε0) on rewards of range ``spread``; bounds are asked for only where the attack fails.

    First the clones, for any randomiser with this range/scale; then, where they are not enough, the blanket of Laplace noise.
    """
    epsilon0 = rule(epsilon, n, delta)
    scale = numerator / epsilon0
    attack = extreme_report_attack(scale, spread, n, delta)
    proven = None
    if attack.epsilon <= epsilon:
        local = spread / scale
        proven = local if local <= epsilon else dp.amplify(local, n, delta, method="clone", attack=False).upper
        if proven > epsilon:
            proven = min(proven, dp.amplify(local, n, delta, method="laplace", attack=False).upper)
    return Cell(epsilon, delta, n, epsilon0, attack.epsilon, attack.threshold, attack.event, proven)


def by_horizon(cells: Sequence[Cell], horizon: int) -> Row:
    """All batches of one run in one line."""
    counted = Counter(cell.outcome for cell in cells)
    worst = max(cells, key=lambda cell: cell.attacked)
    return {
        "ε": worst.epsilon, "δ": worst.delta, "T": horizon, "batches": len(cells), "violated": counted["violated"],
        "proven": counted["proven"], "open": counted["open"], "worst n": worst.n, "its ε0": short(worst.epsilon0, 8),
        "attacked ≥": short(worst.attacked, 8),
    }  # fmt: skip


def judge(cells: Iterable[Cell]) -> str:
    """Refuted if one batch is violated, verified if all are proven, else conditional."""
    outcomes = {cell.outcome for cell in cells}
    return "refuted" if "violated" in outcomes else "verified" if outcomes == {"proven"} else "conditional"


def mpf(value: Fraction) -> Any:
    return MP.mpf(value.numerator) / value.denominator


def all_above(n: int, scale: Fraction, spread: Fraction, threshold: Any) -> tuple[Any, Any]:
    """P("all n reports are above the others' value + threshold") in 50 digits, continuous Laplace: the target holds the others'
    value, or ``spread`` less."""

    def above(at: Any) -> Any:
        half = MP.exp(-abs(at) / mpf(scale)) / 2
        return half if at >= 0 else 1 - half

    others = above(threshold) ** (n - 1)
    return others * above(threshold), others * above(threshold + mpf(spread))
