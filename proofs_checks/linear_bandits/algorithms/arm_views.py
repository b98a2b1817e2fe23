"""One arm of a shuffled batch, for who knows that the target played it: what each view of its reports gives away, as δ at ε.

The same arm has several figures, one per view: the sum r̂_ia alone hides the target in the noise of all n_ia reports; the
reports themselves, without names, hide it only among reports that look like its own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accountants.shuffle.laplace.blanket import GRID_STEPS, Family
from dpaudit.accountants.shuffle.report_sums import Sum
from proofs_checks.linear_bandits.algorithms.shuffled_batches import all_above, mpf
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import MP, digits, short

SUM, EVENT, REPORTS, ALONE = "the sum r̂_ia", "one event of its reports", "all its reports, no names", "the target's report alone"


def sum_delta(few: int, epsilon0: Fraction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """δ(ε) of who sees the sum of the reports only, enclosed; one reward moves it by up to 2."""
    return Sum(epsilon0 / GRID_STEPS, few).delta(epsilon, GRID_STEPS)


def best_event(few: int, epsilon0: Fraction, epsilon: Fraction) -> tuple[Any, str]:
    """P(S | all hold +1) − e^ε P(S | the target holds −1), S = "all reports are above 1 + x": the best x in hundredths."""
    e = MP.exp(mpf(epsilon))
    tried = ((x, all_above(few, 2 / epsilon0, Fraction(2), MP.mpf(x) / 100)) for x in range(-200, 1))
    best, at = max((p - e * q, x) for x, (p, q) in tried)
    return best, f"all {few} reports are above 1 {at / 100:+g}"


def unnamed_reports(few: int, epsilon0: float, epsilon: float, step: float = 2.0**-10) -> tuple[float, float]:
    """δ(ε) of all hold +1 against the target holds −1, n reports without names: (lower, upper), in floats.

    The likelihood ratio of the multiset is the mean of n independent L, so that δ = E(1 − e^ε·mean)_+, where L = e^{−ε0} with
    probability ½ and P(L ≥ l) = ½ e^{−ε0/2} l^{−½} for e^{−ε0} < l ≤ e^{ε0}. L is rounded down, then up, to whole steps; sums
    above n/e^ε count 0.
    """
    top, bits = few * math.exp(-epsilon), few
    cells = math.ceil(top / step) + 1
    edges = step * np.arange(1, cells + 1)
    above = np.where(edges > math.exp(epsilon0), 0.0, 0.5 * math.exp(-epsilon0 / 2) / np.sqrt(edges))
    above[edges <= math.exp(-epsilon0)] = 1.0
    power = -np.diff(above, prepend=1.0)
    law = np.eye(1, cells)[0]
    while bits:
        law = _sum_of(law, power) if bits & 1 else law
        power, bits = _sum_of(power, power), bits >> 1
    values = step * np.arange(cells)
    down, up = (float((law * np.maximum(1 - math.exp(epsilon) * v / few, 0)).sum()) for v in (values, values + few * step))
    return up, down


def _sum_of(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The law of a sum of two, cut off at the length of either."""
    size = 2 * len(one)
    total: np.ndarray = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[: len(one)]
    return np.maximum(total, 0.0)


def views(few: int, epsilon0: Fraction, epsilon: Fraction) -> list[Row]:
    """Noise Lap(2/ε0) on rewards in [−1, 1]: δ at ε, from below and from above (equal where it is exact)."""
    sums = sum_delta(few, epsilon0, epsilon)
    event, name = best_event(few, epsilon0, epsilon)
    low, high = unnamed_reports(few, float(epsilon0), float(epsilon))
    lone = 1 - MP.exp(mpf(epsilon - epsilon0) / 2)
    whose = Family().delta(epsilon0, few, epsilon, Fraction(1, 1000))[1]
    return [
        {"who knows the arm sees": SUM, "δ ≥": short(sums[0], 4), "δ ≤": short(sums[1], 4), "how": "exact, any rewards"},
        {"who knows the arm sees": EVENT, "δ ≥": digits(event, 20), "δ ≤": None, "how": f"“{name}”, others +1, closed form"},
        {"who knows the arm sees": REPORTS, "δ ≥": short(low, 4), "δ ≤": short(high, 4), "how": "others +1, by convolution"},
        {"who knows the arm sees": REPORTS, "δ ≥": None, "δ ≤": short(whose, 4), "how": "any rewards, privacy blanket"},
        {"who knows the arm sees": ALONE, "δ ≥": short(lone, 4), "δ ≤": short(lone, 4), "how": "1 − e^((ε−ε0)/2)"},
    ]
