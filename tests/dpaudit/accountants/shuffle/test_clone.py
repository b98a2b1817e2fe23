import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE, last_one_out

EFFORT = Fraction(1, 10**12)


def hockey_stick(first, second, epsilon):
    return math.fsum(max(0.0, p - math.exp(epsilon) * second.get(key, 0.0)) for key, p in first.items())


def clone_pair(epsilon0, n, chance):
    """FMT21's pair, enumerated: counts of (first, second) kind, C ~ Bin(n−1, chance), A ~ Bin(C, 1/2)."""
    p = math.exp(epsilon0) / (1 + math.exp(epsilon0))
    left, right = {}, {}
    for c in range(n):
        for a in range(c + 1):
            mass = math.comb(n - 1, c) * chance**c * (1 - chance) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for bit, weight in ((1, p), (0, 1 - p)):
                for law, one in ((left, bit), (right, 1 - bit)):
                    key = (a + one, c - a + 1 - one)
                    law[key] = law.get(key, 0.0) + mass * weight
    return left, right


def ternary_pair(epsilon0, n):
    """All counts of ternary randomised response with the others at 3 and the target at 1 or 2, enumerated."""
    p = math.exp(epsilon0)
    others = {(0, 0): 1.0}
    for _ in range(n - 1):
        grown = {}
        for (a, b), mass in others.items():
            for key, weight in (((a + 1, b), 1), ((a, b + 1), 1), ((a, b), p)):
                grown[key] = grown.get(key, 0.0) + mass * weight / (p + 2)
        others = grown
    laws = []
    for target in ((p, 1, 1), (1, p, 1)):
        law = {}
        for ((a, b), mass), (i, weight) in product(others.items(), enumerate(target)):
            key = (a + (i == 0), b + (i == 1))
            law[key] = law.get(key, 0.0) + mass * weight / (p + 2)
        laws.append(law)
    return laws


CASES = [(e0, n, share) for e0 in (0.1, 1.0, 4.0) for n in (1, 2, 3, 7, 12) for share in (0.0, 0.2, 0.7, 0.99)]


@pytest.mark.parametrize(("epsilon0", "n", "share"), CASES)
def test_clone_delta_is_the_hockey_stick_of_the_enumerated_pair(epsilon0, n, share):
    epsilon = epsilon0 * share
    low, high = CLONE.delta(Fraction(epsilon0), n, Fraction(epsilon), EFFORT)
    brute = hockey_stick(*clone_pair(epsilon0, n, math.exp(-epsilon0)), epsilon)
    assert low <= high
    assert float(low) == pytest.approx(brute, abs=1e-12)
    assert float(high) == pytest.approx(brute, abs=1e-12)


def test_the_enumeration_notices_another_clone_probability():
    low, _ = CLONE.delta(Fraction(1), 7, Fraction(1, 2), EFFORT)
    wrong = hockey_stick(*clone_pair(1.0, 7, math.exp(-0.9)), 0.5)
    assert abs(float(low) - wrong) > 1e-4


@pytest.mark.parametrize(("epsilon0", "n", "share"), CASES)
def test_response_delta_is_the_hockey_stick_of_ternary_randomised_response(epsilon0, n, share):
    epsilon = epsilon0 * share
    low, high = RESPONSE.delta(Fraction(epsilon0), n, Fraction(epsilon), EFFORT)
    brute = hockey_stick(*ternary_pair(epsilon0, n), epsilon)
    assert float(low) == pytest.approx(brute, abs=1e-12)
    assert float(high) == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize(("epsilon0", "n", "share"), CASES)
def test_the_attack_never_exceeds_the_bound(epsilon0, n, share):
    arguments = Fraction(epsilon0), n, Fraction(epsilon0 * share), EFFORT
    assert RESPONSE.delta(*arguments)[0] <= CLONE.delta(*arguments)[1]


def test_last_one_out_is_exact_for_one_report_and_valid_for_more():
    """n = 1: ε = log(p − δ(1+p)), the whole truth of binary randomised response."""
    p = math.e
    assert float(last_one_out(Fraction(1), 1, Fraction("0.01"))) == pytest.approx(math.log(p - 0.01 * (1 + p)), abs=1e-13)
    for n in (2, 5, 12):
        epsilon = last_one_out(Fraction(4), n, Fraction("0.01"))
        chance = 1 / (1 + math.exp(4))
        nobody = (1 - chance) ** (n - 1)
        assert nobody * (1 - chance) - 0.01 == pytest.approx(math.exp(float(epsilon)) * nobody * chance, rel=1e-10)
    assert last_one_out(Fraction(1), 10**6, Fraction("1e-6")) == 0


def test_a_target_without_clones_gains_nothing():
    low, high = CLONE.delta(Fraction(1000), 10**18, Fraction(999), Fraction("1e-6"))
    alone = 1 - math.exp(-1)
    assert low <= high
    assert float(low) == pytest.approx(alone, rel=1e-12)
    assert CLONE.delta(Fraction(1), 10, Fraction(1), EFFORT) == (0, 0)
