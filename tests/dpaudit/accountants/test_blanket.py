import math
from fractions import Fraction
from itertools import permutations

import flint
import numpy as np
import pytest

from dpaudit.accountants.blanket import Blanket, Family
from dpaudit.accountants.clone import CLONE
from dpaudit.accountants.lattice import Lattice, lattice
from dpaudit.balls import precision

EFFORT = Fraction(1, 10**6)


def report_law(epsilon0, m, x):
    """Discrete Laplace around x, summed over the integers and clamped to 0..m."""
    t = math.exp(-epsilon0 / m)
    law = np.zeros(m + 1)
    reach = int(60 * m / epsilon0) + m
    for y in range(-reach, reach + 1):
        law[min(max(y, 0), m)] += math.tanh(epsilon0 / m / 2) * t ** abs(y - x)
    return law


def blanket_delta(epsilon0, m, n, epsilon):
    """E[(ΣG)_+]/n by enumerating all n-tuples of {idle, 0..m}."""
    first, second = report_law(epsilon0, m, 0), report_law(epsilon0, m, m)
    w = np.minimum(first, second)
    values = np.append((first - math.exp(epsilon) * second) / w, 0.0)
    weights = np.append(w, 1 - w.sum())
    sums, masses = np.zeros(1), np.ones(1)
    for _ in range(n):
        sums, masses = np.add.outer(sums, values).ravel(), np.multiply.outer(masses, weights).ravel()
    return float(masses @ np.maximum(sums, 0.0)) / n


@pytest.mark.parametrize(("epsilon0", "m"), [(1.0, 1), (1.0, 2), (2.0, 3), (4.0, 6)])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_delta_on_a_coarse_lattice_encloses_the_enumerated_blanket(epsilon0, m, n, share):
    epsilon = Fraction(epsilon0 * share)
    low, high = Family(m).delta(Fraction(epsilon0), n, epsilon, EFFORT)
    brute = blanket_delta(epsilon0, m, n, float(epsilon))
    assert float(low) <= brute * (1 + 1e-12)
    assert float(high) >= brute * (1 - 1e-12)
    assert float(high - low) < 0.05 * brute


def shuffled_law(epsilon0, m, tables):
    """Slot j is played by a client drawn without replacement; reports stay labelled by slot: average over orders."""
    n = len(tables)
    laws = [report_law(epsilon0, m, x) for x in range(m + 1)]
    total = np.zeros((m + 1,) * n)
    orders = list(permutations(range(n)))
    for order in orders:
        term = np.ones(())
        for slot, client in enumerate(order):
            term = np.multiply.outer(term, laws[tables[client][slot]])
        total += term / len(orders)
    return total


def test_no_reward_table_exceeds_the_blanket_bound():
    """One client's whole row of rewards changes, slots are labelled, tables are arbitrary: 300 random cases, seed 11."""
    generator = np.random.default_rng(11)
    closest = 0.0
    for _ in range(300):
        n, m = int(generator.integers(2, 4)), int(generator.integers(1, 4))
        epsilon0 = float(generator.choice([0.5, 1.0, 3.0]))
        epsilon = epsilon0 * float(generator.uniform(0, 0.8))
        tables = generator.choice([0, m], (n, n)) if generator.random() < 0.5 else generator.integers(0, m + 1, (n, n))
        other = tables.copy()
        other[0] = generator.integers(0, m + 1, n) if generator.random() < 0.5 else m - tables[0]
        first, second = (shuffled_law(epsilon0, m, rows.tolist()) for rows in (tables, other))
        actual = float(np.maximum(first - math.exp(epsilon) * second, 0).sum())
        bound = blanket_delta(epsilon0, m, n, epsilon)
        assert actual <= bound * (1 + 1e-9) + 1e-13
        closest = max(closest, actual / bound if bound > 1e-9 else 0.0)
    assert closest > 0.5  # the cases come near enough to the bound to mean something


def test_the_bound_of_a_smaller_epsilon0_would_be_exceeded():
    """The twin: a blanket computed for 0.7 ε0 does not cover the reports of ε0."""
    first, second = (shuffled_law(2.0, 2, rows) for rows in ([[0, 0], [1, 1]], [[2, 2], [1, 1]]))
    actual = float(np.maximum(first - math.exp(0.5) * second, 0).sum())
    assert actual > blanket_delta(1.4, 2, 2, 0.5)


@pytest.mark.parametrize(("epsilon0", "m"), [(1.0, 2), (3.0, 4)])
@pytest.mark.parametrize("n", [2, 3])
def test_everyone_in_the_middle_is_an_attack_with_exactly_this_delta(epsilon0, m, n):
    epsilon = Fraction(epsilon0 / 4)
    low, high = Family(m, everyone=True).delta(Fraction(epsilon0), n, epsilon, EFFORT)
    middle = m // 2
    first, second = (shuffled_law(epsilon0, m, [[x] * n] + [[middle] * n] * (n - 1)) for x in (0, m))
    actual = float(np.maximum(first - math.exp(float(epsilon)) * second, 0).sum())
    assert float(low) <= actual * (1 + 1e-12)
    assert float(high) >= actual * (1 - 1e-12)
    assert float(high - low) < 0.02 * actual


@pytest.mark.parametrize("m", [101, 200])
def test_power_series_of_a_fine_lattice_equals_the_plain_sum(m):
    with precision(400):
        cells = Lattice(Fraction(3), m, 400)
        assert not cells.listed
        for z in (flint.acb(0.01), flint.acb(0.1, 0.5), flint.acb(0.2, 3)):
            plain = flint.acb(0)
            for y in range(1, cells.inner + 1):
                u = (cells.a * (m - 2 * y)).exp()
                plain += cells.kappa * (cells.a * (y - m)).exp() * (z * u).exp()
            enclosed = cells.inner_sum(z)
            assert enclosed.overlaps(plain)
            assert float((enclosed - plain).abs_upper()) < 1e-25
        assert cells.mass.overlaps(sum((min_weight(cells, y) for y in range(m + 1)), flint.arb(0)))


def min_weight(cells, y):
    depth = max(y, cells.steps - y)
    inside = cells.kappa * (-cells.a * depth).exp()
    return cells.end if y in (0, cells.steps) else inside


def test_cells_bracket_the_fine_lattice_in_convex_order():
    """φ(c) of the spread law is above, of the merged law below, the exact one, at every real c."""
    with precision(400):
        exact, spread, merged = (
            Blanket(lattice(Fraction(4), 2**21, 400, cells), 1000, Fraction("0.5")) for cells in ("exact", "spread", "merged")
        )
        for c in (0.01, 0.1, 0.5):
            values = [law.moment(flint.acb(c)).real for law in (merged, exact, spread)]
            assert values[0] < values[1] < values[2]
            assert float(values[2] / values[0]) < 1.02


def test_the_fine_lattice_is_above_its_continuous_limit_and_near_it():
    """φ of continuous Laplace, by quadrature: the lattice may only be worse, and at 2^21 steps hardly is."""
    epsilon0, epsilon, c = 2.0, 0.3, 0.2
    top, e = math.exp(epsilon0), math.exp(epsilon)
    v, weights = np.polynomial.legendre.leggauss(80)
    v = (v + 1) * epsilon0 / 2
    inner = math.exp(-epsilon0 / 2) / 4 * np.exp(-v / 2) * weights * epsilon0 / 2
    u = np.exp(v)
    continuous = 1 - math.exp(-epsilon0 / 2) + (math.exp(c * (top - e)) + math.exp(c * (1 - e * top))) / (2 * top)
    continuous += float(inner @ (np.exp(c * (u - e)) + np.exp(c * (1 - e * u))))
    with precision(400):
        for m, gap in ((1, 0.1), (16, 1e-3), (2**21, 1e-12)):
            value = float(Blanket(lattice(Fraction(2), m, 400), 10, Fraction("0.3")).moment(flint.acb(c)).real)
            assert -1e-13 < value - continuous < gap


def test_few_reports_are_enclosed_widely_but_on_both_sides_and_below_the_clones():
    low, high = Family().delta(Fraction(1), 50, Fraction("0.6"), EFFORT)
    assert 0 < low < high <= CLONE.delta(Fraction(1), 50, Fraction("0.6"), EFFORT)[1]
    coarse_low, coarse_high = Family(16).delta(Fraction(1), 50, Fraction("0.6"), EFFORT)
    assert low < coarse_high  # 16 steps are a little worse than 2^21, and close
    assert float(coarse_low) < 1.2 * float(high)
