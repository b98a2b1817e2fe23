"""Shuffled elimination: the coins of the binary-sum protocol, and what the accountant makes of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import dpaudit as dp
from algorithms.baselines.arms.tenenbaum import Tenenbaum

SYSTEM = Tenenbaum(Fraction(1), Fraction(1, 10**6), 10**6)


def test_a_bit_is_replaced_by_a_fair_coin_with_probability_lambda_over_n():
    n = SYSTEM.pulls(np.array([1]), np.array([10])).item()
    assert n == math.ceil(192 * math.log(4e6))
    flip = 1 / (1 + math.exp(SYSTEM.response(n)))
    assert math.isclose(2 * flip, 64 * math.log(4e6) / n, rel_tol=1e-6)


def test_epochs_double():
    lengths = SYSTEM.pulls(np.array([1, 2, 3]), np.array([10, 10, 10]))
    assert (lengths[1:] == 2 * lengths[:-1]).all()


def test_the_clone_bound_certifies_the_first_epochs_claim_with_room():
    n = SYSTEM.pulls(np.array([1]), np.array([10])).item()
    assert dp.amplify(SYSTEM.response(n), n, "1e-6", method="clone").upper < 1
