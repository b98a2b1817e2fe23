"""One rounding of a figure: lower bounds down, upper bounds up, whoever prints them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditors.events.transcript_witness import Witness, why
from dpaudit.claims import Claim, exact
from dpaudit.claims.decimals import about_at_most, at_least, at_most

FLOATS = st.floats(min_value=1e-12, max_value=1e6)


@given(FLOATS)
def test_lower_bounds_are_never_shown_above_and_upper_bounds_never_below(value: float) -> None:
    assert exact(at_least(value)) <= Fraction(repr(value)) <= exact(at_most(value))
    assert exact(about_at_most(value)) >= Fraction(repr(value))


@pytest.mark.parametrize(("value", "down", "up"), [(10.0100004, "10.01", "10.0100004"), (1.99999999, "1.9999", "1.99999999")])
def test_the_two_directions_differ_where_digits_are_cut(value: float, down: str, up: str) -> None:
    assert (at_least(value), at_most(value)) == (down, up)


def test_a_figure_that_beats_a_claim_is_shown_above_it() -> None:
    shown = at_least(10.000001, Fraction(10))
    assert exact(shown) > 10
    assert at_least(10.000001) == "10"  # the twin: without the claim it is cut


def test_an_exact_loss_is_called_exact_only_where_it_is_shown_whole() -> None:
    claim = Claim("1")
    short = why(Witness(Fraction(2), "exact replay", {"kind": "transcript"}), claim)
    long = why(Witness(Fraction(10**20 + 1, 10**20), "exact replay", {"kind": "transcript"}), claim)
    assert "has loss 2, exactly; the claim allows 1" in short
    assert "exactly" not in long


def test_what_is_not_finite_has_a_text() -> None:
    assert at_least(math.inf) == at_most(math.inf) == "inf"
