from fractions import Fraction

import pytest

from dpaudit.accountants import Known, Part, compose, composed_delta
from dpaudit.accountants.sampling import SampledGaussian, sampled_epsilon
from dpaudit.noise import GRID, Gaussian, Laplace, RandomizedResponse

STEP = int(1 / GRID)
SAMPLED = Part(Gaussian("1.5"), STEP, 2250, sampling=Fraction(1, 25))


def test_a_sampled_part_alone_is_the_sampled_accountant():
    found, smooth = compose([SAMPLED], "1e-5"), sampled_epsilon([SampledGaussian("0.04", "1.5", 2250)], "1e-5")
    assert found.lower <= smooth.upper
    assert smooth.lower <= found.upper
    assert float(found.upper) == pytest.approx(6.76878039, rel=1e-8)


def test_a_rate_of_one_is_the_plain_composition():
    sampled, plain = (compose([Part(Gaussian(10), STEP, 50, sampling=rate)], "1e-6") for rate in (Fraction(1), None))
    assert sampled.lower <= plain.upper
    assert plain.lower <= sampled.upper
    assert float(sampled.upper) == pytest.approx(float(plain.upper), rel=1e-9)


def test_others_join_the_same_contour():
    others = [Part(Laplace(10), STEP, 20), Part(Gaussian(5), STEP, 3), Part(RandomizedResponse("0.2"), 1, 1)]
    together, apart = compose([SAMPLED, *others], "1e-5"), compose([SAMPLED], "1e-5")
    halves = compose([SAMPLED], "5e-6").upper + compose(others, "5e-6").upper
    assert apart.upper < together.lower
    assert together.upper < halves
    assert together.upper - together.lower < Fraction(1, 10**6)


def test_what_is_known_by_its_guarantee_only_has_no_lower_end():
    found = compose([SAMPLED, Known(Fraction(1, 10), Fraction(1, 10**7))], "1e-5")
    assert found.lower == 0
    assert compose([SAMPLED], "1e-5").upper < found.upper


def test_epsilon_and_delta_of_a_mixture_are_inverse():
    parts = [SAMPLED, Part(Laplace(10), STEP, 20)]
    epsilon = compose(parts, "1e-5")
    low, high = composed_delta(parts, epsilon.upper)
    assert low <= Fraction(1, 10**5)
    assert float(high) == pytest.approx(1e-5, rel=1e-6)


def test_sampled_laplace_noise_costs_its_amplified_epsilon():
    part = Part(Laplace(1), STEP, 10, sampling=Fraction(1, 100))
    assert part.pure() == 10 * part.pure_one()
    assert float(part.pure()) == pytest.approx(0.1703686, rel=1e-6)  # 10 ln(1 + (e − 1)/100)


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 10**40), Fraction(1, 10**400)])
def test_a_rate_too_small_to_compose_is_charged_as_a_larger_one_and_never_as_everybody(rate: Fraction) -> None:
    noise = Gaussian("1.5")
    found = compose([Part(noise, STEP, 100, sampling=rate)], "1e-12")
    assert found.lower == 0
    assert found.upper <= compose([Part(noise, STEP, 100, sampling=Fraction(1, 10**9))], "1e-12").upper < Fraction(1, 10**4)
    assert compose([Part(noise, STEP, sampling=rate)], "1e-6").upper == 0  # δ(0) < q


def test_noise_too_large_to_compose_is_charged_as_less_noise() -> None:
    far, near = (compose([Part(Gaussian(sigma), STEP, 10**6, sampling=Fraction(1, 100))], "1e-6") for sigma in (10**7, 10**6))
    assert far.lower == 0
    assert 0 < far.upper <= near.upper
