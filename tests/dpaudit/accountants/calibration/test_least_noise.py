"""Calibrated noise keeps its claim by another route than the one that found it, and a millionth less noise does not."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accountants import account_releases
from dpaudit.accountants.calibration.least_noise import Calibration, calibrate
from dpaudit.accountants.calibration.noise_search import NoiseTask, least
from dpaudit.accountants.losses.numerical import composed_delta
from dpaudit.accountants.losses.parts import Part
from dpaudit.channel.release_cost import zcdp_delta
from dpaudit.claims import InvalidValue, show
from dpaudit.ledger import Cohort, Release
from dpaudit.noise import GRID, MECHANISMS, Noise, noise_from

STEPS = int(1 / GRID)  # sensitivity 1
LESS = 1 - Fraction(1, 10**6)


def weaker(found: Calibration, by: Fraction = LESS) -> Noise:
    """The same mechanism with so much less noise."""
    name, parameters = found.rule.noise.name, found.rule.noise.parameters()
    value = Fraction(parameters[MECHANISMS[name].size_name])
    shrunk = value / by if name == "randomized-response" else value * by
    return noise_from(name, {**parameters, MECHANISMS[name].size_name: show(shrunk)})


def release(noise: Noise, steps: int) -> Release:
    sensitivity = steps * noise.grid
    return Release(name="r", mechanism=noise.name, parameters=noise.parameters(), sensitivity=sensitivity, steps=steps)


def accounted(noise: Noise, steps: int, count: int, delta: Fraction) -> Fraction:
    """What ``dpaudit account`` says about so many such releases of the same records."""
    moved = steps * noise.grid
    one = Release(name="r", mechanism=noise.name, parameters=noise.parameters(), sensitivity=moved, steps=steps)
    return account_releases([one] * count, delta, fixed=True).epsilon


@given(st.fractions("1/10", 10, max_denominator=99), st.fractions("1/10", 9, max_denominator=99), st.integers(1, 40))
@settings(deadline=None)
def test_pure_noise_costs_exactly_what_was_asked_for(epsilon: Fraction, sensitivity: Fraction, count: int) -> None:
    found = calibrate("laplace", epsilon, sensitivity=sensitivity, count=count)
    steps = math.ceil(sensitivity / GRID)
    assert accounted(found.rule.noise, steps, count, Fraction(0)) == epsilon == found.gives.upper == found.gives.lower
    assert accounted(weaker(found), steps, count, Fraction(0)) > epsilon
    bits = calibrate("randomized-response", epsilon, count=count)
    assert accounted(bits.rule.noise, 1, count, Fraction(0)) == epsilon
    assert accounted(weaker(bits), 1, count, Fraction(0)) > epsilon


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Continuous noise, sensitivity 1: δ(ε) = Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ) (Balle & Wang 2018, Thm 8), by bisection."""
    low, high = mpmath.mpf("0.01"), mpmath.mpf(10**5)
    for _ in range(80):
        s = mpmath.sqrt(low * high)
        found = mpmath.ncdf(1 / (2 * s) - epsilon * s) - mpmath.exp(epsilon) * mpmath.ncdf(-1 / (2 * s) - epsilon * s)
        low, high = (s, high) if found > delta else (low, s)
    return float(high)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("8", "1e-3"), ("0.01", "0.1"), ("30", "1e-12")])
def test_one_gaussian_has_the_least_sigma(epsilon: str, delta: str) -> None:
    found = calibrate("gaussian", epsilon, delta)
    claim, failure = Fraction(epsilon), Fraction(delta)
    assert found.rule.method == "exact"
    assert found.rule.noise.delta(claim, STEPS) <= failure < weaker(found).delta(claim, STEPS)
    assert float(found.rule.value) == pytest.approx(analytic_sigma(float(epsilon), float(delta)), rel=1e-6)
    assert found.gives.lower <= found.gives.upper <= claim
    assert accounted(found.rule.noise, STEPS, 1, failure) <= claim < accounted(weaker(found), STEPS, 1, failure)


def test_gaussian_noise_on_a_coarse_grid_is_not_the_continuous_one() -> None:
    found = calibrate("gaussian", "1", "1e-6", grid=1, sensitivity=3)
    assert found.rule.noise.delta(Fraction(1), 3) <= Fraction(1, 10**6) < weaker(found).delta(Fraction(1), 3)
    assert 'grid="1"' in found.python
    assert abs(float(found.rule.value) / (3 * analytic_sigma(1, 1e-6)) - 1) > 1e-5


@pytest.mark.parametrize(("mechanism", "count"), [("gaussian", 100), ("laplace", 30), ("laplace", 15)])
def test_several_releases_keep_the_claim_numerically(mechanism: str, count: int) -> None:
    claim, failure = Fraction(1), Fraction(1, 10**6)
    found = calibrate(mechanism, claim, failure, count=count)
    assert found.rule.method == "numerical"
    assert composed_delta([Part(found.rule.noise, STEPS, count)], claim)[1] <= failure
    assert composed_delta([Part(weaker(found), STEPS, count)], claim)[1] > failure
    assert accounted(found.rule.noise, STEPS, count, failure) <= claim < accounted(weaker(found), STEPS, count, failure)
    assert found.gives.lower <= found.gives.upper <= claim
    if mechanism == "gaussian":  # K Gaussians are one of σ/√K
        assert float(found.rule.value) == pytest.approx(math.sqrt(count) * analytic_sigma(1, 1e-6), rel=1e-6)
    values = [found.rule.value, *[rule.value for rule in found.others]]
    assert values == sorted(values)
    assert all(rule.adaptive for rule in found.others)


def test_sums_of_rho_keep_the_claim_as_the_account_sees_it() -> None:
    claim, failure = Fraction(2), Fraction(1, 10**6)
    found = calibrate("gaussian", claim, failure, count=20, method="zcdp")
    assert account_releases([release(found.rule.noise, STEPS)] * 20, failure).epsilon <= claim
    total = 20 / (2 * found.rule.value**2)
    assert zcdp_delta(total, claim) <= failure < zcdp_delta(total / LESS**2, claim)


def response_delta(bit: Fraction, count: int, epsilon: Fraction) -> mpmath.mpf:
    """δ(ε) of ``count`` randomised responses, summed over all 2^count outputs."""
    keep = 1 / (1 + mpmath.exp(-mpmath.mpf(bit.numerator) / bit.denominator))
    total = mpmath.mpf(0)
    for output in product((0, 1), repeat=count):
        ones = sum(output)
        first, second = (keep**k * (1 - keep) ** (count - k) for k in (count - ones, ones))
        total += max(mpmath.mpf(0), first - mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) * second)
    return total


@pytest.mark.parametrize(
    ("count", "epsilon", "delta"), [(1, "1", "1e-3"), (5, "1", "1e-2"), (8, "2", "1e-4"), (10, "0.3", "0.05")]
)
def test_randomised_responses_have_the_largest_epsilon(count: int, epsilon: str, delta: str) -> None:
    found = calibrate("randomized-response", epsilon, delta, count=count)
    assert found.rule.method == "exact"
    with mpmath.workdps(40):
        assert response_delta(found.rule.value, count, Fraction(epsilon)) <= mpmath.mpf(delta)
        assert response_delta(found.rule.value / LESS, count, Fraction(epsilon)) > mpmath.mpf(delta)


def test_a_delta_that_saves_next_to_nothing_is_not_spent() -> None:
    found = calibrate("laplace", 1, "1e-6")
    assert (found.rule.method, found.rule.value) == ("pure", 1)
    assert found.others[0].method == "exact"
    assert Fraction(999, 1000) < found.others[0].value < 1
    assert calibrate("laplace", 1, "1e-2").rule.method == "exact"


def test_a_curve_that_promises_too_much_is_caught_by_these_checks() -> None:
    """The twin: noise for half of δ(ε), as if the attacker knew one side only, breaks the claim."""
    claim, failure = Fraction(1), Fraction(1, 10**6)
    task = NoiseTask("gaussian", claim, failure, STEPS, GRID, 1)
    planted = least(task, lambda noise: noise.delta(claim, STEPS) / 2)
    assert planted.delta(claim, STEPS) > failure
    assert float(Fraction(planted.parameters()["sigma"])) < analytic_sigma(1, 1e-6) * (1 - 1e-3)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized-response"])
def test_the_line_of_python_is_the_noise_and_short(mechanism: str) -> None:
    found = calibrate(mechanism, "1", "1e-6", count=7)
    assert eval(found.python, {"dp": dp}) == found.rule.noise
    assert len(show(found.rule.value)) <= 16


def test_a_sensitivity_below_the_grid_is_charged_as_one_step_of_it() -> None:
    assert calibrate("laplace", 1, sensitivity="1e-9").rule.value == GRID


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("uniform", 1), "mechanism"),
        (("laplace", 0), "epsilon"),
        (("laplace", 1, 1), "delta"),
        (("gaussian", 1), "delta"),
        (("laplace", "1e-10", 0), "scale"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_by_name(arguments: tuple[object, ...], named: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        calibrate(*arguments)  # type: ignore[arg-type]
    assert caught.value.name == named


def test_a_rule_that_does_not_serve_is_refused() -> None:
    with pytest.raises(InvalidValue, match="method"):
        calibrate("gaussian", 1, "1e-6", method="pure")
    with pytest.raises(InvalidValue, match="one of"):
        calibrate("gaussian", 1, "1e-6", method="guess")


def test_a_tiny_epsilon_at_a_large_delta_needs_no_more_noise_than_a_larger_one() -> None:
    tiny, small = (calibrate("laplace", epsilon=epsilon, delta="0.3") for epsilon in ("1e-9", "1e-6"))
    assert float(tiny.rule.value) == pytest.approx(float(small.rule.value), rel=1e-5)
    assert tiny.rule.value >= small.rule.value


def test_what_is_calibrated_is_within_its_budget_when_it_is_accounted_for() -> None:
    """The plain sum, which is preferred where more gains little, is above the target here."""
    noise = calibrate("randomized-response", epsilon="0.01", delta="1e-6", method="exact").rule.noise
    epsilon = noise.epsilon(1)
    release = Release(
        name="r", mechanism=noise.name, parameters=noise.parameters(), sensitivity=Fraction(1), derived=None,
        epsilon=epsilon, delta=Fraction(0), cohort=Cohort.all(), to="server",
    )  # fmt: skip
    target = Fraction("0.01")
    held, shown = (account_releases([release], Fraction("1e-6"), fixed=True, limit=limit) for limit in (target, None))
    assert held.epsilon <= target < shown.epsilon == epsilon


@pytest.mark.parametrize(("epsilon", "count", "rate"), [("1", 1, "1/2"), ("3", 10, "0.01"), ("0.2", 7, "1")])
def test_pure_noise_on_samples_costs_what_was_asked_for_by_its_formula(epsilon: str, count: int, rate: str) -> None:
    """K ln(1 + q(e^{1/b} − 1)), in 40 digits, and with a millionth less noise it is above ε."""
    found = calibrate("laplace", epsilon, 0, count=count, sampling=rate)
    with mpmath.workdps(40):
        costs = [
            count * mpmath.log1p(mpmath.mpf(float(Fraction(rate))) * mpmath.expm1(1 / (mpmath.mpf(str(size)))))
            for size in (float(found.rule.value), float(found.rule.value * LESS))
        ]
    assert costs[0] <= Fraction(epsilon) * (1 + 1e-14)
    assert costs[1] > float(Fraction(epsilon))
    assert found.gives.upper <= Fraction(epsilon)


def test_laplace_noise_on_samples_keeps_the_claim_and_a_thousandth_less_does_not() -> None:
    found = calibrate("laplace", "2", "1e-5", count=100, sampling="0.05")
    assert found.rule.method == "numerical"
    one, less = (
        composed_delta([Part(noise, STEPS, 100, sampling=Fraction("0.05"))], 2)
        for noise in (found.rule.noise, weaker(found, Fraction(99, 100)))
    )
    assert one[1] <= Fraction("1.0001e-5")
    assert less[0] > Fraction("1e-5")
    assert found.others[0].method == "pure"
    assert found.others[0].value > found.rule.value


def test_rare_samples_at_a_tiny_delta_are_calibrated_by_what_they_cost() -> None:
    """δ(ε) has no moment there that takes few abscissae: by it, the noise had an ε fifteen times below what was asked for."""
    found = calibrate("gaussian", "6.4508028", "1e-12", count=10_000, sampling="0.0001")
    assert float(found.rule.value) == pytest.approx(0.5, rel=1e-5)


def test_answers_are_not_calibrated_on_samples() -> None:
    with pytest.raises(InvalidValue, match="not answers"):
        calibrate("randomized-response", "1", "1e-6", sampling="0.1")
