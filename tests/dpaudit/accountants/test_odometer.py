"""The odometer: sums by hand, and simulated analysts who choose the noise and when to stop by what they see."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.accountants import odometer
from dpaudit.accountants.odometer import stopping_epsilon
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, MemoryLedger, Release
from dpaudit.noise import written_forms

TRIALS, ROUNDS = 20_000, 40
MILLIONTH = Fraction(1, 10**6)


def release(mechanism: str, cohort: Any = None, **parameters: str) -> Release:
    return Release(name=mechanism, mechanism=mechanism, parameters=parameters, sensitivity=Fraction(1), cohort=Cohort.of(cohort))


def test_few_pure_releases_read_their_sum_with_delta_zero() -> None:
    readings = odometer([release("laplace", scale="10")] * 4)
    assert [(r.epsilon, r.delta) for r in readings] == [(Fraction(k, 10), 0) for k in (1, 2, 3, 4)]


def test_many_pure_releases_read_less_than_their_sum() -> None:
    readings = odometer([release("laplace", scale="10")] * 2000, delta="1e-6")
    assert readings[-1].epsilon == stopping_epsilon(Fraction(2000, 200), MILLIONTH / 2) < 200
    assert readings[-1].delta == MILLIONTH
    epsilons = [r.epsilon for r in readings]
    assert epsilons == sorted(epsilons)


def test_disjoint_records_are_read_in_parallel() -> None:
    apart = [release("laplace", range(k, k + 1), scale="10") for k in range(50)]
    assert odometer(apart)[-1].epsilon == Fraction(1, 10)


def test_gaussian_noise_needs_delta() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        odometer([release("gaussian", sigma="10")], delta=0)
    assert odometer([release("gaussian", sigma="10")])[0].epsilon < 1


def test_charges_that_were_never_stored_count_from_the_start() -> None:
    ledger = MemoryLedger()
    ledger.charge(release("gaussian", sigma="10", grid="1").charge())
    ledger.charge(Release(name="l", mechanism="laplace", sensitivity=Fraction(1), epsilon=Fraction(2)).charge())
    ledger.append(release("laplace", scale="10"))
    assert odometer(ledger)[-1].epsilon > 2


def overruns(factor: float, delta: float) -> float:
    """How often the loss of an adaptive analyst exceeds ``factor`` times the odometer at some moment.

    Gaussian releases; the analyst spends more when the loss so far is large, and stops at the first overrun.
    """
    rng = np.random.default_rng(20)
    loss, rho = np.zeros(TRIALS), np.zeros(TRIALS)
    over = np.zeros(TRIALS, dtype=bool)
    orders = 1 + 2.0 ** (np.arange(-8, 24) / 2)
    size = math.log(len(orders) / delta)
    for _ in range(ROUNDS):
        now = np.where(loss > 2 * rho, 0.02, 0.005)
        loss += now + np.sqrt(2 * now) * rng.standard_normal(TRIALS)
        rho += now
        lines = (orders * rho[:, None] + size / (orders - 1)).min(axis=1)
        over |= loss > factor * lines
    return float(over.mean())


def test_an_adaptive_analyst_exceeds_the_odometer_at_most_with_probability_delta() -> None:
    """δ = 0.05; 20,000 trials. Were the true rate 0.05, more than 0.06 would be seen with probability below 1e-9."""
    assert overruns(1.0, 0.05) <= 0.06


def test_half_the_odometer_is_exceeded_far_more_often() -> None:
    """The twin."""
    assert overruns(0.4, 0.05) > 0.06


def test_the_simulated_line_is_the_programs() -> None:
    orders = 1 + 2.0 ** (np.arange(-8, 24) / 2)
    for rho in (0.01, 0.3, 7.0):
        line = float((orders * rho + math.log(32 / 1e-6) / (orders - 1)).min())
        assert float(stopping_epsilon(Fraction(str(rho)), MILLIONTH)) == pytest.approx(line, rel=1e-9)


def test_curves_and_samples_enter_by_their_divergences() -> None:
    """ρ of a Gaussian as a curve at many orders costs what the Gaussian costs; a sample far less than all records."""
    curve = [[str(order), str(order * Fraction(1, 200))] for order in (Fraction(5, 4), 2, 4, 8, 16, 64, 4000)]
    forms = written_forms()
    stated = [Release.from_json({"mechanism": "rdp", "curve": curve}, forms=forms)] * 20
    plain = [Release.from_json({"mechanism": "gaussian", "sigma": "10", "sensitivity": "1"}, forms=forms)] * 20
    sampled = [
        Release.from_json({"mechanism": "gaussian", "sigma": "10", "sensitivity": "1", "sampling": "0.1"}, forms=forms)
    ] * 20
    ends = [odometer(each, delta="1e-6")[-1].epsilon for each in (stated, plain, sampled)]
    assert ends[1] <= ends[0] <= ends[1] * Fraction(11, 10)
    assert ends[2] < ends[1] / 2
    rising = [reading.epsilon for reading in odometer(stated, delta="1e-6")]
    assert rising == sorted(rising)


def test_a_curve_of_low_orders_alone_is_used_there_alone() -> None:
    low = Release.from_json({"mechanism": "rdp", "curve": [["2", "0.01"]]}, forms=written_forms())
    high = Release.from_json({"mechanism": "rdp", "curve": [["2", "0.01"], ["200", "1"]]}, forms=written_forms())
    assert odometer([low], delta="1e-6")[0].epsilon > 3 * odometer([high], delta="1e-6")[0].epsilon
    assert odometer([high, low], delta="1e-6")[1].epsilon >= odometer([low], delta="1e-6")[0].epsilon
