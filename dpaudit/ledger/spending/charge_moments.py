"""K(c) = ln E e^{cL} of one charge at a real order c > 0, rounded up, from its public facts: what a fixed-order filter adds up.

The larger of both orders of the neighbours. What is charged only as (ε, δ) counts as randomised response that reveals all with
probability δ (Kairouz, Oh, Viswanath 2015), which no ε-DP release exceeds at any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.claims import InvalidValue, exact, positive, whole
from dpaudit.claims.balls import Ball, ball, decimal, precision, upper
from dpaudit.ledger.spending.budget import Charge
from dpaudit.ledger.spending.zcdp_sums import RANGES, equal_releases, gaussian_rho, stated_rho

_BITS = 256
_DIGITS = 18

Moment = tuple[Fraction, Fraction]  # K, and the probability that it leaves out


def charge_moment(charge: Charge, c: Fraction) -> Moment:
    """Of one charge. Raises InvalidValue where its facts say nothing of this order."""
    facts = charge.facts
    if "sigma" in facts:
        rho = gaussian_rho(charge)
        rate = exact(facts["sampling"], "sampling") if "sampling" in facts else Fraction(1)
        if rate == 1:
            return rho * c * (c + 1), Fraction(0)
        count = whole(facts.get("count", 1), "count")
        return count * sampled_gaussian(rho / count, rate, c), Fraction(0)  # a fresh sample each
    if "rho" in facts:
        return stated_rho(charge) * c * (c + 1), Fraction(0)
    if charge.epsilon is None:
        raise InvalidValue("epsilon", None, "known for every charge that is not of Gaussian noise")
    if charge.delta:
        return response(charge.epsilon, c), charge.delta
    return _pure(charge, c), Fraction(0)


def _pure(charge: Charge, c: Fraction) -> Fraction:
    """By the law of its loss where the mechanism has one of its own, never above randomised response."""
    times, epsilon = equal_releases(charge)
    plain = response(epsilon, c)
    law = LAWS.get(charge.facts.get("mechanism", ""))
    own = None if "sampling" in charge.facts or not epsilon or law is None else law(charge.facts, epsilon, c)
    return times * (plain if own is None else min(plain, own))


def _of_laplace(facts: Mapping[str, str], epsilon: Fraction, c: Fraction) -> Fraction | None:
    steps = whole(facts.get("steps", 0), "steps", least=0)
    if not {"scale", "grid"} <= facts.keys() or facts.get("coordinates") != "1" or not steps:
        return None
    scale, grid = positive(facts["scale"], "scale"), positive(facts["grid"], "grid")
    return laplace(epsilon, steps, c) if steps * grid / scale == epsilon else None  # as one release of one number is charged


def _of_categories(facts: Mapping[str, str], epsilon: Fraction, c: Fraction) -> Fraction | None:
    return response(epsilon, c, whole(facts["k"], "k", least=2)) if _one_answer(facts, epsilon) else None


def _of_bits(facts: Mapping[str, str], epsilon: Fraction, c: Fraction) -> Fraction | None:
    """Two of the bits differ, each randomised response with ε/2."""
    return 2 * response(epsilon / 2, c) if _one_answer(facts, epsilon) else None


def _of_range(facts: Mapping[str, str], epsilon: Fraction, c: Fraction) -> Fraction | None:
    return bounded_range(epsilon, c)


def _one_answer(facts: Mapping[str, str], epsilon: Fraction) -> bool:
    return {"epsilon", "k"} <= facts.keys() and exact(facts["epsilon"], "epsilon") == epsilon


# By the name of the mechanism, as charges carry it; of any other nothing is known but its ε.
LAWS: Mapping[str, Callable[[Mapping[str, str], Fraction, Fraction], Fraction | None]] = {
    "laplace": _of_laplace,
    "kary-response": _of_categories,
    "unary-response": _of_bits,
    **dict.fromkeys(RANGES, _of_range),
}


@lru_cache(maxsize=4096)
def response(epsilon: Fraction, c: Fraction, k: int = 2) -> Fraction:
    """Randomised response on k answers: loss ε, 0, −ε with weights e^ε, k − 2, 1."""
    with precision(_BITS):
        odds = ball(-epsilon).exp()
        terms = 1 + (k - 2) * ball(-epsilon * (1 + c)).exp() + ball(-epsilon * (1 + 2 * c)).exp()
        return _up(terms.log() - (1 + (k - 1) * odds).log() + ball(c * epsilon))


@lru_cache(maxsize=4096)
def laplace(epsilon: Fraction, steps: int, c: Fraction) -> Fraction:
    """Discrete Laplace noise, a = ε/steps, r = e^−a: loss ε with 1/(1+r), −ε with e^−ε/(1+r), ε − 2ao with tanh(a/2) r^o."""
    with precision(_BITS + 2 * steps.bit_length()):
        a = ball(epsilon / steps)
        r, back, ratio = (-a).exp(), ball(-epsilon * (1 + 2 * c)).exp(), (-a * ball(1 + 2 * c)).exp()
        value = (1 + back) / (1 + r)
        if steps > 1:
            value += (1 - r) / (1 + r) * (ratio - back) / (1 - ratio)
        return _up(value.log() + ball(c * epsilon))


@lru_cache(maxsize=4096)
def bounded_range(epsilon: Fraction, c: Fraction) -> Fraction:
    """max over t of ln(q_t e^{ct} + (1 − q_t) e^{c(t−ε)}), q_t = (e^ε − e^t)/(e^ε − 1) (Dong, Durfee, Rogers 2020).

    With τ = e^t it is τ^c (A − Bτ)/(e^ε − 1), A = e^ε − e^{−cε}, B = 1 − e^{−cε}, which is largest at τ = cA/((c+1)B).
    """
    with precision(_BITS):
        one, at = ball(epsilon).exp(), ball(c)
        fall = ball(-c * epsilon).exp()
        high, low = one - fall, 1 - fall
        best = at * high / ((at + 1) * low)
        return _up(at * best.log() + (high / (at + 1)).log() - (one - 1).log())


@lru_cache(maxsize=4096)
def sampled_gaussian(rho: Fraction, rate: Fraction, c: Fraction) -> Fraction:
    """Gaussian noise with ρ = Δ²/(2σ²) on a fresh Poisson sample, at whole orders α = c + 1; others are refused.

    E w^α = Σ_k C(α,k) (1−q)^{α−k} q^k e^{k(k−1)ρ} for removing a record, which is the larger direction (Mironov, Talwar, Zhang
    2019, Thm 5: a reflection exchanges the two Gaussians, on a grid too). On a grid E e^{tX} ≤ e^{t²σ²/2} (Canonne, Kamath,
    Steinke 2020), so the sum bounds the discrete law as well, in any number of coordinates.
    """
    if c.denominator != 1:
        raise InvalidValue("order", str(c + 1), "a whole number, for releases from samples")
    alpha = int(c) + 1
    with precision(_BITS + 4 * alpha):
        q, total = ball(rate), flint.arb(0)
        for k in range(alpha + 1):
            total += math.comb(alpha, k) * (1 - q) ** (alpha - k) * q**k * ball(k * (k - 1) * rho).exp()
        return min(_up(total.log()), rho * c * (c + 1))


def _up(value: Ball) -> Fraction:
    return max(Fraction(0), decimal(upper(value), _DIGITS, up=True))
