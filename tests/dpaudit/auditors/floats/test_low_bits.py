"""Events of last bits: exact on every float, and the same again when they are read from JSON."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditors.floats.low_bits import Depth, LowBitEvent, Residues, Unreachable, read_event, residues
from dpaudit.claims import InvalidValue

finite = st.floats(allow_nan=False, allow_infinity=False)
EVENTS = [
    LowBitEvent(Depth(52)),
    LowBitEvent(Depth(-3), -1.5, math.inf, 2),
    LowBitEvent(Residues(5, frozenset({(0, 1), (1, 3), (-4, 0)})), -math.inf, 0.25),
    LowBitEvent(Unreachable("numpy's Laplace sampler", 0.1, 2 / 3), 0.0, 1.0, 1),
]


@given(finite.filter(lambda x: x == 0 or abs(x) > 1e-300), st.sampled_from([3, 5, 7, 63]))
def test_residues_are_those_of_the_exact_mantissa(value: float, modulus: int) -> None:
    binades, remainders = residues(np.array([value]), modulus)
    units = Fraction(value) * Fraction(2) ** (53 - int(binades[0]))
    assert units.denominator == 1
    assert remainders[0] == units.numerator % modulus
    assert value == 0 or 0.5 <= abs(Fraction(value)) / Fraction(2) ** int(binades[0]) < 1


def test_multiples_of_five_units_leave_no_remainder_and_a_shift_by_one_does() -> None:
    """Noise on 5·2^-52·ℤ below 1: mantissas are multiples of 5; 2^52 leaves 1, so after 1 is added none between 1 and 2 is."""
    noise = 5 * np.random.default_rng(1).integers(1, 2**49, 1000) * 2.0**-52
    every = frozenset((binade, 0) for binade in range(-40, 2))
    event = LowBitEvent(Residues(5, every))
    assert event.holds(noise).all()
    assert not event.holds(1 + noise).any()
    assert LowBitEvent(Residues(5, frozenset({(1, 1)}))).holds(1 + noise).all()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event.feature).__name__)
def test_an_event_is_the_same_after_json(event: LowBitEvent) -> None:
    again = read_event(json.loads(json.dumps(event.to_dict(), allow_nan=False)))
    assert again == event
    values = np.concatenate([np.random.default_rng(2).laplace(size=500), [0.0, -0.0, 1.0, 1e300, 5e-324]])
    assert (again.holds(values) == event.holds(values)).all()
    assert event.words().startswith("outputs")


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event.feature).__name__)
def test_nan_and_infinities_have_no_last_bits(event: LowBitEvent) -> None:
    assert not event.holds(np.array([np.nan, np.inf, -np.inf])).any()


def test_an_interval_confines_an_event() -> None:
    values = np.array([0.1, 0.3, 0.7])
    assert LowBitEvent(Depth(10)).holds(values).all()
    assert LowBitEvent(Depth(10), 0.1, 0.7).holds(values).tolist() == [True, True, False]
    assert "between 0.1 and 0.7" in LowBitEvent(Depth(10), 0.1, 0.7).words()


@pytest.mark.parametrize(
    "facts",
    [
        {"feature": "residues", "modulus": 5, "cells": [[0, 5]], "column": 0},
        {"feature": "residues", "modulus": 10**9, "cells": [[0, 1]], "column": 0},
        {"feature": "residues", "modulus": 5, "cells": [[10**9, 1]], "column": 0},
        {"feature": "residues", "modulus": 5, "cells": [], "column": 0},
        {"feature": "unreachable", "sampler": "os.system", "centre": 0, "scale": 1, "column": 0},
        {"feature": "depth", "places": 52, "column": -1},
        {"feature": "equality", "sampler": "any float64 sampler", "column": 0},
    ],
)
def test_what_is_no_event_is_refused(facts: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        read_event(facts)
