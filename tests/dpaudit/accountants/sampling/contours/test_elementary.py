import flint
import numpy as np
import pytest

from dpaudit.accountants.sampling.contours.elementary import EXP_ERROR, TURN_ERROR, exp, log1p, turn
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
