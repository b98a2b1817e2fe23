from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.accountants.numerics.array_contour import enclose_atoms, estimate_atoms
from dpaudit.accountants.numerics.contour import enclose
from dpaudit.accountants.numerics.enumeration import enumerated
from dpaudit.accountants.shuffle.blankets import response_blanket
from dpaudit.accountants.shuffle.few_values import FewValues
from dpaudit.claims.balls import lower, precision, upper


def _law(n: int, k: int = 4) -> FewValues:
    return response_blanket(k).enclosures(Fraction(1), n, Fraction("0.1"))[0]


@pytest.mark.parametrize("n", [5, 12, 25])
def test_doubles_enclose_what_enumeration_gives(n: int) -> None:
    with precision(192):
        law = _law(n)
        low, high = enclose_atoms(law)
        exact, _ = enumerated(law)
        assert lower(low) <= upper(exact)
        assert lower(exact) <= upper(high)
        assert float(upper(high) - lower(low)) < 1e-4 * float(exact)


def test_doubles_and_balls_agree_where_both_are_narrow() -> None:
    with precision(192):
        law = _law(5000)
        first, second = ((lower(low), upper(high)) for low, high in (enclose(law), enclose_atoms(law)))
        assert max(first[0], second[0]) <= min(first[1], second[1])
        assert second[1] - second[0] < second[1] / 10**4


def test_the_upper_end_holds_with_too_few_nodes_and_only_widens() -> None:
    with precision(192):
        law = _law(300)
        coarse, fine = (enclose_atoms(law, nodes) for nodes in (1 << 8, 1 << 15))
        assert upper(coarse[1]) >= lower(fine[0])
        assert lower(coarse[0]) <= upper(fine[1])
        assert upper(coarse[1]) - lower(coarse[0]) > upper(fine[1]) - lower(fine[0])


def test_so_many_reports_that_rounding_decides_are_refused() -> None:
    with precision(256), pytest.raises(ArithmeticError):
        enclose_atoms(_law(10**14))


def test_an_estimate_is_near_the_enclosure() -> None:
    with precision(192):
        law = _law(40)
        _, high = enclose_atoms(law)
        assert math.exp(estimate_atoms(law.floats)) == pytest.approx(float(upper(high)), rel=1e-3)
