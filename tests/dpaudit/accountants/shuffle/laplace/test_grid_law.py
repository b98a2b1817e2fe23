"""Laws on a grid, above and below the blanket in the convex order: their potentials say so at every point."""

import math

import numpy as np
import pytest

from dpaudit.accountants.shuffle.laplace.grid_law import Grid, Ratios

CASES = [
    (0.3, 0.7, 2**21, False),
    (0.3, 0.7, 2**21, True),
    (0.5, 3.5, 2**21, False),
    (0.2, 9.8, 2**21, False),
    (0.01, 0.02, 2**21, False),
    (0.3, 0.7, 5, False),
    (0.3, 0.7, 8, True),
    (1.0, 5.0, 40, False),
]


def points(law):
    """All values and weights of G, one by one; None for a fine lattice."""
    m, a, e = law.steps, law.epsilon0 / law.steps, math.exp(law.epsilon)
    if m > 2000:
        return None
    t = math.exp(-a)
    kappa = math.tanh(a / 2)
    high = np.array([t**m / (1 + t), *(kappa * t ** (m - y) for y in range(1, m)), 1 / (1 + t)])  # R_m
    ratio = np.exp(a * (m - 2 * np.arange(m + 1.0)))  # R_0/R_m
    if law.attack:
        return ratio - e, high
    w = np.minimum(high, high * ratio)
    return (high * ratio - e * high) / w, w


def potential(law, x):
    """U(x) = Σ w (G − x)_+: by the points, or for a fine lattice as P_0(y ≤ Y) − (e + x) P_m(y ≤ Y) and its mirror image."""
    known = points(law)
    if known is not None:
        values, weights = known
        return float(weights @ np.maximum(values - x, 0.0))
    e, m, a = math.exp(law.epsilon), law.steps, law.epsilon0 / law.steps

    def part(level, count):  # Σ w (u − level)_+ over one end and the points next to it
        y = min(count, max(0, math.ceil((law.epsilon0 - math.log(level)) / (2 * a)) - 1))
        return 1 - math.exp(-a * y) / (math.exp(a) + 1) - level * law.end * math.exp(a * y)

    if x >= law.top:
        return 0.0
    if law.attack:
        return part(e + x, m - 1) if x > law.bottom else -math.expm1(law.epsilon) - x
    if x > law.singles[1][0]:
        return part(e + x, law.left)
    return -math.expm1(law.epsilon) - law.mass * x + (e * part((1 - x) / e, law.right) if x > law.bottom else 0.0)


def moved(grid, weights, x):
    return float(weights @ np.maximum(grid.knots * grid.step - x, 0.0))


@pytest.mark.parametrize(("epsilon", "gap", "steps", "attack"), CASES)
@pytest.mark.parametrize(("above", "share"), [(8, 1.0), (57, 1.0), (57, 0.4), (400, 0.1)])
def test_potentials_are_ordered_everywhere(epsilon, gap, steps, attack, above, share):
    law = Ratios(epsilon, gap, steps, attack)
    below = math.ceil(-law.bottom / law.top * above * share) + 1
    upper, lower = (Grid(law, above, below, up) for up in (True, False))
    over, under = upper.above_it(), lower.below_it()
    assert over.min() >= 0
    assert under.min() >= 0
    assert over.sum() >= law.mass
    assert under.sum() <= law.mass
    generator = np.random.default_rng(3)
    low = -below * upper.step
    for x in [*generator.uniform(low, law.top, 300), *(upper.knots * upper.step), low * 1.5, law.top * 1.1]:
        true = potential(law, x)
        scale = 1e-12 * (law.mass * (abs(x) + law.top) + abs(true))
        if x >= low:
            assert moved(upper, over, x) >= true - scale
        assert moved(lower, under, x) <= true + scale


def test_a_law_that_was_not_lowered_enough_is_noticed():
    """The twin: the same points moved to the knots without lowering are not below."""
    law = Ratios(0.3, 0.7, 2**21)
    grid = Grid(law, 20, 60, False)
    weight, shifted, _ = grid.cells
    joined = grid._joined(weight, shifted)
    x = np.linspace(-1, law.top, 400)
    assert any(moved(grid, joined, each) > potential(law, each) * (1 + 1e-6) for each in x)


def test_finer_grids_are_closer():
    law = Ratios(0.5, 3.5, 2**21)
    variances = []
    for above in (50, 100, 200):
        below = math.ceil(-law.bottom / law.top * above) + 1
        squares = [
            float(weights @ (grid.knots * grid.step) ** 2)
            for grid, weights in (
                (g, g.above_it() if g.up else g.below_it()) for g in (Grid(law, above, below, up) for up in (True, False))
            )
        ]
        variances.append(squares[0] - squares[1])
    assert variances[0] > 3 * variances[1] > 9 * variances[2] > 0
