import math

import flint
import numpy as np
import pytest

from dpaudit.accountants.numerics.elementary import (
    EXP_ERROR,
    EXPM1_ERROR,
    LIBRARY,
    TABLE_ERROR,
    TURN_ERROR,
    U,
    exp,
    exp_table,
    exp_up,
    expm1,
    log1p,
    log_up,
    turn,
)
from dpaudit.claims.balls import precision


def test_exp_stays_within_its_error_bound():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-700, 700, 2000), rng.uniform(-1, 1, 2000)])
    with precision(200):
        off = [abs(float((flint.arb(float(b)) / flint.arb(float(a)).exp() - 1).mid())) for a, b in zip(x, exp(x), strict=True)]
    assert max(off) <= EXP_ERROR
    assert max(off) > EXP_ERROR / 40  # the bound is about what happens, not a safe distance from everything


def test_log1p_stays_within_the_error_it_states():
    rng = np.random.default_rng(2)
    v = np.concatenate([rng.uniform(-0.9, 1, 1000), 10 ** rng.uniform(-12, 12, 1000), -(10 ** rng.uniform(-12, -0.1, 1000))])
    value, error = log1p(v, np.zeros_like(v))
    with precision(200):
        for a, b, bound in zip(v, value, error, strict=True):
            assert abs(float((flint.arb(float(b)) - (flint.arb(float(a)) + 1).log()).mid())) <= bound


def test_turns_stay_within_their_error_bound():
    rng = np.random.default_rng(3)
    t = np.concatenate([rng.uniform(-1e6, 1e6, 2000), rng.uniform(-10, 10, 2000)])
    with precision(200):
        for a, b in zip(t, turn(t), strict=True):
            assert abs(complex((flint.acb(b.real, b.imag) - flint.acb(0, float(a)).exp()).mid())) <= TURN_ERROR


def test_arguments_out_of_range_are_refused():
    with pytest.raises(ArithmeticError):
        exp(np.array([701.0]))
    with pytest.raises(ArithmeticError):
        exp(np.array([np.nan]))
    with pytest.raises(ArithmeticError):
        turn(np.array([2.0**21]))


def test_expm1_stays_within_its_error_bound():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-40, 40, 1000), rng.uniform(-0.5, 0.5, 1000), 10 ** rng.uniform(-15, -1, 500)])
    with precision(200):
        off = [
            abs(float((flint.arb(float(b)) / flint.arb(float(a)).expm1() - 1).mid())) for a, b in zip(x, expm1(x), strict=True)
        ]
    assert U / 4 < max(off) <= EXPM1_ERROR


def test_the_libraries_stay_far_within_what_they_are_allowed():
    """Bounds on what is left out allow ``LIBRARY`` relatively; here each function must stay within a thousandth of that."""
    rng = np.random.default_rng(5)
    wide, small, positive = rng.uniform(-600, 600, 500), rng.uniform(-3, 3, 500), 10 ** rng.uniform(-30, 30, 500)
    cases = [
        (math.exp, wide, lambda x: x.exp()), (np.exp, wide, lambda x: x.exp()), (math.log, positive, lambda x: x.log()),
        (np.log, positive, lambda x: x.log()), (math.expm1, small, lambda x: x.expm1()),
        (math.log1p, positive, lambda x: x.log1p()),
        (math.cos, small, lambda x: x.cos()), (np.cos, small, lambda x: x.cos()), (math.sin, small, lambda x: x.sin()),
        (math.asin, small / 3.1, lambda x: x.asin()), (lambda x: math.atan2(x, 1.0), small, lambda x: x.atan()),
    ]  # fmt: skip
    with precision(200):
        for function, points, exactly in cases:
            for x in points:
                true = exactly(flint.arb(float(x)))
                assert abs(float((flint.arb(float(function(x))) / true - 1).mid())) <= LIBRARY / 1000


def test_scalars_are_rounded_up():
    with precision(200):
        for x in (-800.0, -700.5, -3.3, -1e-9, 0.0, 2.5, 690.0):
            assert flint.arb(exp_up(x)) > flint.arb(x).exp()
        for x in (1e-300, 0.3, 1.0, 7.0, 1e200):
            assert flint.arb(log_up(x)) > flint.arb(x).log()


def test_tables_of_powers_stay_within_their_error_bound():
    for start, step, count in ((-3.0, -0.01, 500), (0.3, 1e-5, 1000), (2.0, -0.37, 7)):
        table = exp_table(start, step, count)
        assert len(table) == count
        with precision(200):
            for k, found in enumerate(table):
                exponent = flint.arb(start) + k * flint.arb(step)
                off = abs(float((flint.arb(float(found)) / exponent.exp() - 1).mid()))
                assert off <= TABLE_ERROR + 4 * U * (abs(start) + abs(step) * count)
