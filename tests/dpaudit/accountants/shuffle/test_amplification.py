import math
from fractions import Fraction
from itertools import pairwise

import pytest

from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.accountants.shuffle.amplification import amplify, epsilon0_rule, invert
from dpaudit.accountants.shuffle.clone import CLONE
from dpaudit.accountants.shuffle.laplace.blanket import Family
from dpaudit.claims import InvalidValue

DELTA = Fraction("1e-6")
# Measured ε at δ = 1e-6: clone, Laplace blanket, attack on any LDP randomiser, each to the digits given.
TABLE = [
    (1, 10**3, "0.18241", "0.1302", "0.1306"),
    (1, 10**4, "0.053005", "0.03784", "0.0380"),
    (1, 10**6, "0.0043345", "0.003066", "0.00308"),
    (4, 10**4, "0.60091", "0.3281", "0.4066"),
    (4, 10**6, "0.049307", "0.02760", "0.03395"),
]


def shown(value, like):
    return f"{float(value):.{len(like.split('.')[1])}f}"


@pytest.mark.parametrize(("epsilon0", "n", "clone", "laplace", "attack"), TABLE)
def test_the_measured_table_is_reproduced(epsilon0, n, clone, laplace, attack):
    by_clones, by_blanket = amplify(epsilon0, n, DELTA), amplify(epsilon0, n, DELTA, "laplace")
    assert shown(by_clones.upper, clone) == clone
    assert shown(by_blanket.upper, laplace) == laplace
    assert shown(by_clones.attack, attack) == attack
    for bound in (by_clones, by_blanket):
        assert bound.in_domain
        assert 0 < bound.attack <= bound.lower <= bound.upper <= epsilon0
        assert bound.upper - bound.lower < bound.upper * (Fraction(1, 10**7) if bound is by_clones else Fraction(1, 10**4))


@pytest.mark.parametrize(("epsilon0", "n"), [(1, 1), (1, 10), (4, 100), (2, 10**4), (1, 10**7)])
def test_ends_are_certified_in_the_right_direction(epsilon0, n):
    bound = amplify(epsilon0, n, DELTA, attack=False)
    assert bound.attack is None
    assert CLONE.delta(Fraction(epsilon0), n, bound.upper, DELTA)[1] <= DELTA
    assert CLONE.delta(Fraction(epsilon0), n, bound.lower, DELTA)[0] > DELTA
    assert CLONE.delta(Fraction(epsilon0), n, bound.upper * Fraction(99, 100), DELTA)[0] > DELTA  # the twin


def test_the_lattice_costs_what_was_measured():
    """ε0 = 4, n = 10^4: .3281 continuous, .4108 with one step, .3300 with 16."""
    assert shown(amplify(4, 10**4, DELTA, "laplace", steps=1, attack=False).upper, "0.4108") == "0.4108"
    assert shown(amplify(4, 10**4, DELTA, "laplace", steps=16, attack=False).upper, "0.3300") == "0.3300"


def brute_clone_epsilon(epsilon0, n, delta):
    """Bisection on FMT21's pair, enumerated."""
    p = math.exp(epsilon0) / (1 + math.exp(epsilon0))

    def hockey(epsilon):
        left, right = {}, {}
        for c in range(n):
            for a in range(c + 1):
                mass = math.comb(n - 1, c) * math.comb(c, a) / 2**c
                mass *= math.exp(-epsilon0 * c) * (-math.expm1(-epsilon0)) ** (n - 1 - c)
                for one, first, second in ((1, p, 1 - p), (0, 1 - p, p)):
                    key = (a + one, c - a + 1 - one)
                    left[key] = left.get(key, 0.0) + mass * first
                    right[key] = right.get(key, 0.0) + mass * second
        return math.fsum(max(0.0, v - math.exp(epsilon) * right[k]) for k, v in left.items())

    low, high = 0.0, epsilon0
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if hockey(middle) > delta else (low, middle)
    return high


@pytest.mark.parametrize(("epsilon0", "n", "delta"), [(1.0, 2, "0.1"), (1.0, 12, "0.01"), (3.0, 8, "0.05"), (0.2, 5, "0.01")])
def test_certified_upper_brute_force_certified_lower_attack_stand_in_this_order(epsilon0, n, delta):
    bound = amplify(epsilon0, n, delta)
    brute = brute_clone_epsilon(epsilon0, n, float(delta))
    assert float(bound.upper) >= brute - 1e-12
    assert float(bound.lower) <= brute + 1e-12
    assert float(bound.upper) == pytest.approx(brute, rel=1e-8)
    assert bound.attack <= bound.lower


def test_closed_says_where_its_theorem_holds():
    assert amplify(4, 10**6, DELTA, "closed").in_domain
    outside = amplify(4, 10**4, DELTA, "closed")
    assert not outside.in_domain
    assert outside.lower <= outside.upper
    inside = amplify(1, 10**4, DELTA, "closed")
    assert inside.attack < amplify(1, 10**4, DELTA, "clone").upper < inside.lower


def test_invert_closed_is_the_printed_figure_and_its_domain():
    found = invert(1, 297170, DELTA)
    assert found.in_domain
    assert Fraction("6.781212974696023") < found.lower < found.upper < Fraction("6.781212974696024")
    assert found.upper - found.lower < Fraction(1, 10**50)
    assert not invert(5, 297170, DELTA).in_domain


@pytest.mark.parametrize(
    ("epsilon", "n", "delta"), [("1", 1, "1e-6"), ("0.1", 10**3, "1e-6"), ("1", 297170, "1e-6"), ("1e-3", 10**9, "1e-9")]
)
def test_invert_clone_meets_delta_at_its_lower_end_and_not_at_its_upper(epsilon, n, delta):
    found = invert(epsilon, n, delta, "clone")
    target, failure = Fraction(epsilon), Fraction(delta)
    assert target <= found.lower < found.upper
    assert CLONE.delta(found.lower, n, target, failure)[1] <= failure
    assert CLONE.delta(found.upper, n, target, failure)[0] > failure
    assert found.upper - found.lower < found.upper * Fraction(1, 10**6)


def test_invert_laplace_beats_the_clones_and_meets_delta():
    found = invert("0.1", 10**3, DELTA, "laplace")
    assert found.lower > invert("0.1", 10**3, DELTA, "clone").upper
    assert Family().delta(found.lower, 10**3, Fraction("0.1"), DELTA)[1] <= DELTA
    assert Family().delta(found.upper, 10**3, Fraction("0.1"), DELTA)[0] > DELTA


@pytest.mark.parametrize(("epsilon", "n"), [("1", 297170), ("5", 297170), ("0.01", 10**3), ("1", 100), ("1e-12", 10**18)])
def test_closed_rule_is_valid_short_and_the_largest_of_its_kind(epsilon, n):
    epsilon0, target = epsilon0_rule(epsilon, n, DELTA), Fraction(epsilon)
    if epsilon0 == target:
        limit = closed.domain(n, DELTA)
        assert limit is None or min(limit[0], closed.inverse(target, n, DELTA)[0]) <= target
        return
    assert epsilon0 > target
    assert closed.in_domain(epsilon0, n, DELTA)
    assert closed.f(epsilon0, n, DELTA)[1] <= target
    more = epsilon0 * (1 + Fraction(1, 10**9))
    assert not closed.in_domain(more, n, DELTA) or closed.f(more, n, DELTA)[0] > target
    assert epsilon0.denominator & (epsilon0.denominator - 1) == 0


def test_closed_rule_caps_at_the_domain_and_falls_back_to_epsilon():
    assert float(epsilon0_rule(5, 297170, DELTA)) == pytest.approx(7.154725, abs=1e-6)
    assert epsilon0_rule(1, 100, DELTA) == 1


@pytest.mark.parametrize("method", ["clone", "laplace"])
def test_exact_rules_are_certified_and_larger_than_the_closed_one(method):
    family = CLONE if method == "clone" else Family()
    epsilon0 = epsilon0_rule("0.1", 10**4, DELTA, method)
    assert epsilon0 > epsilon0_rule("0.1", 10**4, DELTA)
    assert family.delta(epsilon0, 10**4, Fraction("0.1"), DELTA)[1] <= DELTA


EXTREMES = [
    (epsilon, n, delta)
    for epsilon in ("1e-12", "1e-6", "0.02", "1", "15", "60", "1000", "1e6")
    for n in (1, 2, 50, 10**4, 10**9, 10**18)
    for delta in ("1e-300", "1e-9", "0.3")
]


@pytest.mark.parametrize(("epsilon0", "n", "delta"), EXTREMES)
def test_extremes_give_ordered_answers_and_the_blanket_is_never_worse_than_the_clones(epsilon0, n, delta):
    local = Fraction(epsilon0)
    by_closed, by_clones, by_blanket = (amplify(epsilon0, n, delta, method) for method in ("closed", "clone", "laplace"))
    for bound in (by_clones, by_blanket):
        assert 0 <= bound.attack <= bound.lower <= bound.upper <= local
    assert by_blanket.upper <= by_clones.upper
    assert 0 <= by_closed.lower <= by_closed.upper
    if by_closed.in_domain:
        assert by_closed.attack <= by_clones.upper <= by_closed.upper


@pytest.mark.parametrize(("epsilon", "n", "delta"), EXTREMES)
def test_extremes_of_the_inverse_are_ordered_and_no_less_than_epsilon(epsilon, n, delta):
    target = Fraction(epsilon)
    by_closed, by_clones, by_blanket = (invert(epsilon, n, delta, method) for method in ("closed", "clone", "laplace"))
    for bound in (by_clones, by_blanket):
        assert target <= bound.lower <= bound.upper
    assert by_clones.lower <= by_blanket.lower
    assert by_closed.lower <= by_closed.upper


@pytest.mark.parametrize("method", ["clone", "laplace"])
def test_the_bounds_are_monotone_in_all_arguments(method):
    """Along each chain both ends rise, but for the width of the enclosures."""
    wide = 1 + Fraction(1, 1000)
    for chain in (
        [amplify(e, 300, "1e-6", method, attack=False) for e in ("0.01", "0.1", "1", "3", "8", "20")],
        [amplify(2, n, "1e-6", method, attack=False) for n in (10**12, 10**8, 10**5, 3000, 400, 50, 7, 1)],
        [amplify(2, 300, delta, method, attack=False) for delta in ("0.3", "0.01", "1e-5", "1e-20", "1e-200")],
        [invert(e, 300, "1e-6", method) for e in ("1e-3", "0.1", "1", "3", "8")],
        [invert("0.5", n, "1e-6", method) for n in (1, 7, 50, 400, 3000, 10**5, 10**8, 10**12)],
    ):
        for smaller, larger in pairwise(chain):
            assert smaller.upper <= larger.upper * wide
            assert smaller.lower <= larger.lower * wide


def test_large_crowds_need_no_epsilon_at_all():
    bound = amplify(1, 10**12, "1e-6")
    assert bound.lower == bound.upper == 0


@pytest.mark.parametrize("call", [amplify, invert, epsilon0_rule])
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 10, "0.1"), None),
        (("nan", 10, "0.1"), None),
        ((1, 0, "0.1"), "n"),
        ((1, 10, 0), "delta"),
        ((1, 10, "1"), "delta"),
        ((1, 10, "0.1", "magic"), "method"),
    ],
)
def test_bad_arguments_are_refused_by_name(call, arguments, name):
    with pytest.raises(InvalidValue) as refusal:
        call(*arguments)
    assert refusal.value.name == (name or ("epsilon0" if call is amplify else "epsilon"))
