"""The best of a random number of runs of an ε-DP mechanism: (2 + η)ε (Liu & Talwar 2019; Papernot & Steinke 2022).

K runs are made, P(K = k) ∝ (1 − γ)^k Γ(k + η)/k!, k ≥ 1 (truncated negative binomial; η = 1 geometric, η = 0 logarithmic), and
the best output alone is shown, by a public order without ties. Proof. f(x) = E x^K has f'(x) = C(1 − (1−γ)x)^{−η−1}. With
Q(<y), Q(y), Q(>y) of one run, A(y) = f(Q(≤y)) − f(Q(<y)) = Q(y)·E f'(X), X = Q(<y) + U·Q(y), U uniform. For a neighbour Q' let
X' be the same with the same U: 1 − X = Q(>y) + (1−U)Q(y) ≥ e^{−ε}(1 − X'), so
1 − (1−γ)X = γ + (1−γ)(1−X) ≥ e^{−ε}(1 − (1−γ)X'), hence f'(X) ≤ e^{(1+η)ε}f'(X') for η > −1, and Q(y) ≤ e^ε Q'(y).

Where a run is known by Rényi divergences, ``repeated_renyi`` has Theorem 2 and ``poisson_renyi`` Theorem 6 of Papernot & Steinke
2022 (arXiv 2110.03620), cited, and held against enumerated mechanisms by the tests.
"""

from __future__ import annotations

from fractions import Fraction

from dpaudit.claims import InvalidValue, Number, exact, exact_delta, exact_epsilon, positive
from dpaudit.claims.balls import Ball, ball, decimal, precision, upper

_BITS = 192
_DIGITS = 15


def repeated_epsilon(epsilon: Number, shape: Number) -> Fraction:
    """ε of the best of K runs, each ε-DP, for any γ in (0, 1); ``shape`` is η > −1. Raises ``InvalidValue``."""
    return (2 + _shape(shape)) * exact_epsilon(epsilon)


def repeated_renyi(
    order: Number, epsilon: Number, gamma: Number, shape: Number, other: tuple[Number, Number] = ("1", "0")
) -> Fraction:
    """D_α of the best of K runs from above, rounded up: ε + (1 + η)((1 − 1/λ)ε' + ln(1/γ)/λ) + ln E[K]/(α − 1).

    ``order`` α > 1 with divergence ``epsilon`` of one run, and any ``other`` (λ, ε') of it, λ ≥ 1. Raises ``InvalidValue``.
    """
    alpha, eta, success = _order(order), _shape(shape), _success(gamma)
    second = positive(other[0], "order")
    if second < 1:
        raise InvalidValue("order", other[0], "at least 1")
    with precision(_BITS):
        rare = -ball(success).log()
        extra = (1 + ball(eta)) * ((1 - 1 / ball(second)) * ball(exact_epsilon(other[1])) + rare / ball(second))
        return _up(ball(exact_epsilon(epsilon)) + extra + _mean_runs(success, eta).log() / ball(alpha - 1))


def poisson_renyi(order: Number, epsilon: Number, mean: Number, other: tuple[Number, Number]) -> Fraction:
    """D_α of the best of a Poisson number of runs (something public if there is none), rounded up: ε + μδ' + ln μ/(α − 1).

    One run has divergence ``epsilon`` at ``order`` α > 1 and is ``other`` = (ε', δ')-DP with e^ε' ≤ 1 + 1/(α − 1).
    """
    alpha, runs = _order(order), positive(mean, "mean")
    with precision(_BITS):
        if not ball(exact_epsilon(other[0])).exp() <= 1 + 1 / ball(alpha - 1):
            raise InvalidValue("epsilon", other[0], "at most ln(1 + 1/(α − 1))")
        failed = ball(runs) * ball(exact_delta(other[1]))
        return _up(ball(exact_epsilon(epsilon)) + failed + ball(runs).log() / ball(alpha - 1))


def _mean_runs(gamma: Fraction, eta: Fraction) -> Ball:
    """E[K]: η(1 − γ)/(γ(1 − γ^η)), and (1/γ − 1)/ln(1/γ) for η = 0."""
    if gamma == 1:
        return ball(1)
    rare = -ball(gamma).log()
    if not eta:
        return (1 / ball(gamma) - 1) / rare
    return ball(eta) * ball(1 - gamma) / (ball(gamma) * -(-ball(eta) * rare).expm1())


def _order(order: Number) -> Fraction:
    alpha = positive(order, "order")
    if alpha <= 1:
        raise InvalidValue("order", order, "above 1")
    return alpha


def _shape(shape: Number) -> Fraction:
    eta = exact(shape, "shape")
    if eta <= -1:
        raise InvalidValue("shape", shape, "above -1")
    return eta


def _success(gamma: Number) -> Fraction:
    success = positive(gamma, "gamma")
    if success > 1:
        raise InvalidValue("gamma", gamma, "above 0 and at most 1")
    return success


def _up(bound: Ball) -> Fraction:
    return decimal(upper(bound), _DIGITS, up=True)
