"""Sixty randomised responses, whose δ is a binomial sum: what contours are compared with."""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants.losses.laws.privacy_loss import ResponseLoss
from dpaudit.accountants.losses.loss_plans import top

E, K = Fraction("0.2"), 60
PARTS = [(ResponseLoss(E), K)]


def exact(slack: Fraction) -> float:
    """δ of K randomised responses, by the binomial law."""
    p = 1 / (1 + math.exp(-float(E)))
    epsilon = float(top(PARTS) - slack)
    terms = [math.comb(K, i) * p ** (K - i) * (1 - p) ** i for i in range(K + 1)]
    return math.fsum(w * -math.expm1(min(0.0, epsilon - (K - 2 * i) * float(E))) for i, w in enumerate(terms))
