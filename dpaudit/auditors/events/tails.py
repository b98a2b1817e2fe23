"""Half-line events of one noisy number: exact probabilities, and the threshold that shows most."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath import MPContext

from dpaudit.claims import Claim, float_down
from dpaudit.noise import Noise


def best_threshold(noise: Noise, q: int, r: int, claim: Claim) -> tuple[Fraction, int, Fraction, Fraction] | None:
    """The tail event with the largest ε: that ε, its threshold, and its probabilities under q and r.

    If "loss above x" shows ε, then "loss above ε" shows no less, and the optimum is the fixed point: a few steps reach it.
    """
    best: tuple[Fraction, int, Fraction, Fraction] | None = None
    levels = [claim.epsilon * Fraction(k, 4) for k in (0, 1, 2, 3, 4, 6, 8, 16)]
    for threshold in {noise.crossing(q, r, level) for level in levels} | (set() if noise.alphabet else {q, r}):
        best = _better(best, noise, q, r, threshold, claim.delta)
    for _ in range(40):  # quadratic once it is near
        if best is None:
            return None
        best, before = _better(best, noise, q, r, noise.crossing(q, r, best[0]), claim.delta), best
        if best is before:
            break
    return best


def _better(best: Any, noise: Noise, q: int, r: int, threshold: int, delta: Fraction) -> Any:
    epsilon, p, p_other = threshold_epsilon(noise, q, r, threshold, delta)
    improved = epsilon is not None and (best is None or epsilon > best[0])
    return (epsilon, threshold, p, p_other) if improved else best


def threshold_epsilon(
    noise: Noise, q: int, r: int, threshold: int, delta: Fraction
) -> tuple[Fraction | None, Fraction, Fraction]:
    """log((P(S|q) − δ)/P(S|r)) rounded down, for S = {o ≥ τ} if q > r, else {o ≤ τ}; of few answers, the answer q."""
    ends = noise.favouring(q, r, threshold)
    p, p_other = noise.within(*ends, q)[0], noise.within(*ends, r)[1]
    if p <= delta or p_other <= 0:
        return None, p, p_other
    return log_down((p - delta) / p_other), p, p_other


def log_down(ratio: Fraction) -> Fraction | None:
    """log(ratio) rounded down to 25 decimals; None unless the ratio exceeds 1."""
    if ratio <= 1:
        return None
    context = MPContext()
    context.dps = 60  # 35 digits more than are kept
    logarithm = context.log(context.mpf(ratio.numerator)) - context.log(context.mpf(ratio.denominator))
    scaled = Fraction(int(context.floor(logarithm * context.mpf(10) ** 25)) - 1, 10**25)
    return scaled if scaled > 0 else None


def decimal(value: Fraction) -> str:
    """A probability as a short decimal text."""
    number = float_down(value)
    if number > 1e-300:
        return f"{number:.12g}"
    exponent = len(str(value.denominator)) - len(str(value.numerator))
    return f"about 1e-{exponent}"
