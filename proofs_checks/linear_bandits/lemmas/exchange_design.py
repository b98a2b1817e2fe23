"""2d actions of leverage below 2d, in every dimension: exchange actions until the determinant gains no more.

Let S be k actions, repetitions allowed, V = Σ_S a a^T, τ_ab = a^T V^{-1} b, and let no exchange of an i in S for a j in A raise
det V by more than the factor 1 + η. The determinant of V − a_i a_i^T + a_j a_j^T is (1 − τ_ii)(1 + τ_jj) + τ_ij² times that of V.
Sum this ≤ 1 + η over i in S, where Σ τ_ii = d and Σ τ_ij² = τ_jj: (k − d)(1 + τ_jj) + τ_jj ≤ k(1 + η), hence

    τ_jj ≤ (d + kη)/(k − d + 1),   and weights 1/k have leverage k·τ_jj ≤ k(d + kη)/(k − d + 1).

For k = bd and η = 1/k that is at most 2d just if (b − 2)(d − 1) ≥ 0: for b = 2 in every dimension. (Fedorov's exchange; the
argument is that of Madan, Singh, Tantipongpipat and Xie 2019 for D-optimal designs.) Every exchange raises log det V by more
than log(1 + η), and from the farthest actions, each taken twice, there are at most d·log d to gain (frank_wolfe.farthest): fewer
than d·log d/log(1 + 1/(2d)) exchanges, whatever |A| is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from algorithms.actions.span import span

Points = Sequence[tuple[int, ...]]


def leverage_at_most(d: int, k: int, eta: Fraction = Fraction(0)) -> Fraction:
    """k(d + kη)/(k − d + 1)."""
    return Fraction(k) * (d + k * eta) / (k - d + 1)


def enough(per_dimension: int) -> bool:
    """Is k = per_dimension·d with η = 1/k enough for leverage 2d? (b − 2)(d − 1) ≥ 0 in every d; the bound itself up to 100."""
    bounds = (leverage_at_most(d, per_dimension * d, Fraction(1, per_dimension * d)) <= 2 * d for d in range(1, 101))
    return per_dimension >= 2 and all(bounds)


def exchanges_at_most(d: int) -> float:
    """d·log d/log(1 + 1/(2d))."""
    return d * math.log(d) / math.log1p(1 / (2 * d))


def exchange(actions: np.ndarray, per_dimension: int = 2) -> tuple[np.ndarray, int]:
    """Indices of per_dimension·d actions, with repetitions, and the number of exchanges."""
    dim = actions.shape[1]
    x = span(actions[None]).coordinates[0]  # leverage and ratios of determinants are the same in every basis
    chosen = np.repeat(span(actions[None]).pivots[0], per_dimension)
    for swaps in range(100 * dim * dim + 100):
        inverse = np.linalg.inv(x[chosen].T @ x[chosen])
        between = x[chosen] @ inverse @ x.T
        own, every = between[np.arange(len(chosen)), chosen], ((x @ inverse) * x).sum(axis=1)
        gains = (1 - own)[:, None] * (1 + every) + between**2
        leaving, entering = np.unravel_index(gains.argmax(), gains.shape)
        if gains[leaving, entering] <= 1 + 1 / len(chosen):
            return chosen, swaps
        chosen[leaving] = entering
    raise AssertionError("more exchanges than the determinant allows")


def exchanged(actions: np.ndarray) -> np.ndarray:
    """A start for Frank–Wolfe: equal weights on the 2d exchanged actions."""
    chosen, _ = exchange(actions)
    return np.bincount(chosen, minlength=len(actions)) / len(chosen)


def determinant(matrix: Sequence[Sequence[int]]) -> int:
    """Exact, by the first row."""
    if len(matrix) == 1:
        return matrix[0][0]
    minors = ([[*row[:j], *row[j + 1 :]] for row in matrix[1:]] for j in range(len(matrix)))
    return sum((-1) ** j * matrix[0][j] * determinant(minor) for j, minor in enumerate(minors))


def gram(points: Points) -> list[list[int]]:
    dim = len(points[0])
    return [[sum(p[i] * p[j] for p in points) for j in range(dim)] for i in range(dim)]


def worst_local_optimum(points: Points, k: int) -> tuple[int, Fraction]:
    """Over all S of k of these whole-number actions that no exchange improves: how many there are, and the largest leverage.

    det(V + a a^T) = det V·(1 + a^T V^{-1} a) gives the leverage in whole numbers.
    """
    count, worst = 0, Fraction(0)
    size = {chosen: determinant(gram(chosen)) for chosen in combinations_with_replacement(points, k)}
    for chosen, own in size.items():
        swapped = (tuple(sorted((*chosen[:i], *chosen[i + 1 :], p), key=points.index)) for i in range(k) for p in points)
        if own and all(size[other] <= own for other in swapped):
            count += 1
            worst = max(worst, *(k * (Fraction(determinant(gram((*chosen, p))), own) - 1) for p in points))
    return count, worst
