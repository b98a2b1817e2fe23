"""The best of a random number of runs of an ε-DP mechanism: (2 + η)ε (Liu & Talwar 2019; Papernot & Steinke 2022).

K runs are made, P(K = k) ∝ (1 − γ)^k Γ(k + η)/k!, k ≥ 1 (truncated negative binomial; η = 1 geometric, η = 0 logarithmic), and
the best output alone is shown, by a public order without ties. Proof. f(x) = E x^K has f'(x) = C(1 − (1−γ)x)^{−η−1}. With
Q(<y), Q(y), Q(>y) of one run, A(y) = f(Q(≤y)) − f(Q(<y)) = Q(y)·E f'(X), X = Q(<y) + U·Q(y), U uniform. For a neighbour Q' let
X' be the same with the same U: 1 − X = Q(>y) + (1−U)Q(y) ≥ e^{−ε}(1 − X'), so
1 − (1−γ)X = γ + (1−γ)(1−X) ≥ e^{−ε}(1 − (1−γ)X'), hence f'(X) ≤ e^{(1+η)ε}f'(X') for η > −1, and Q(y) ≤ e^ε Q'(y).
"""

from __future__ import annotations

from fractions import Fraction

from dpaudit.claims import InvalidValue, Number, exact, exact_epsilon


def repeated_epsilon(epsilon: Number, shape: Number) -> Fraction:
    """ε of the best of K runs, each ε-DP, for any γ in (0, 1); ``shape`` is η > −1. Raises ``InvalidValue``."""
    eta = exact(shape, "shape")
    if eta <= -1:
        raise InvalidValue("shape", shape, "above -1")
    return (2 + eta) * exact_epsilon(epsilon)
