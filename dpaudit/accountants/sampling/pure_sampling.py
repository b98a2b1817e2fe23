"""A pure ε on a Poisson sample: ln(1 + q(e^ε − 1)) under add/remove, exactly rounded up.

(Li, Qardaji, Su 2012, Thm 1; Balle, Barthe, Gaboardi 2018, Thm 8.) It holds for every pure mechanism.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpaudit.claims.balls import ball, decimal, precision, upper

_DIGITS = 18


@lru_cache(maxsize=1024)
def sampled_pure(epsilon: Fraction, rate: Fraction) -> Fraction:
    """ε of one ε-DP release from a Poisson sample with this rate, rounded up; never above ε."""
    if rate == 1 or not epsilon or not rate:
        return epsilon * (rate > 0)
    with precision(256):
        bound = upper((ball(rate) * ball(epsilon).expm1()).log1p())
    return min(epsilon, decimal(bound, _DIGITS, up=True))
