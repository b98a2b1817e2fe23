"""δ(ε) of shuffled reports by writing down every multiset: slow, and nothing of the theorems in it."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

Matrix = Sequence[Sequence[float]]


def law_of_reports(channel: Matrix, inputs: Sequence[int]) -> dict[tuple[int, ...], float]:
    """The law of the sorted reports of clients who hold ``inputs``."""
    law: dict[tuple[int, ...], float] = defaultdict(float)
    for outputs in itertools.product(range(len(channel[0])), repeat=len(inputs)):
        law[tuple(sorted(outputs))] += math.prod(channel[x][y] for x, y in zip(inputs, outputs, strict=True))
    return law


def exact_delta(channel: Matrix, n: int, epsilon: float) -> float:
    """The largest δ(ε) over all pairs of neighbours with n clients."""
    values, e, worst = range(len(channel)), math.exp(epsilon), 0.0
    for others in itertools.combinations_with_replacement(values, n - 1):
        laws = [law_of_reports(channel, (x, *others)) for x in values]
        for one, other in itertools.permutations(laws, 2):
            worst = max(worst, math.fsum(max(0.0, one[key] - e * other[key]) for key in one))
    return worst


def random_channel(rng: np.random.Generator, inputs: int, outputs: int, epsilon0: float, *, staircase: bool) -> Matrix:
    """An ε0-LDP matrix: entries of a row are between one weight of the column and e^ε0 times that, before and after scaling."""
    base = rng.dirichlet(np.ones(outputs))
    while True:
        power = rng.integers(0, 2, (inputs, outputs)) if staircase else rng.random((inputs, outputs))
        rows = base * np.exp(epsilon0 * power)
        rows /= rows.sum(axis=1, keepdims=True)
        ratio = (rows.max(axis=0) / rows.min(axis=0)).max()
        if ratio > 1.01:
            # mixed with the mean of the rows until the largest ratio is e^ε0
            return _mixed(rows, math.exp(epsilon0)) if ratio > math.exp(epsilon0) else rows.tolist()


def _mixed(rows: np.ndarray, most: float) -> Matrix:
    mean, low, high = rows.mean(axis=0), 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        mixed = share * rows + (1 - share) * mean
        low, high = (share, high) if (mixed.max(axis=0) / mixed.min(axis=0)).max() <= most else (low, share)
    mixed = low * rows + (1 - low) * mean
    return (mixed / mixed.sum(axis=1, keepdims=True)).tolist()


def response(k: int, epsilon0: float) -> Matrix:
    p = math.exp(epsilon0)
    return [[(p if x == y else 1.0) / (p + k - 1) for y in range(k)] for x in range(k)]


def unary(categories: int, truth: float, lie: float) -> Matrix:
    """Bits of a one-hot vector: the own bit is 1 with probability ``truth``, every other with ``lie``."""
    rows = []
    for x in range(categories):
        ones = [truth if bit == x else lie for bit in range(categories)]
        rows.append(
            [
                math.prod(p if b else 1 - p for p, b in zip(ones, bits, strict=True))
                for bits in itertools.product((0, 1), repeat=categories)
            ]
        )
    return rows
