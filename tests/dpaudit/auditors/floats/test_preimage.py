"""Which floats a sampler can give: nothing it gave is missed, and wrong parameters are noticed."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditors.floats.preimage import Additive, any_float, guessed, inverse_cdf, numpy_laplace, scaled_float

N = 20_000
PARAMETERS = [(0.0, 1.0), (1.0, 1.0), (-1.0, 2.0), (98.0, 2.0), (0.49, 0.02), (3.3, 1 / 0.7), (1e6, 1e5)]


def textbook(count: int, scale: float, seed: int) -> np.ndarray:
    """∓scale·log(1 − 2|U − ½|) from Python's own generator and logarithm."""
    rng = random.Random(seed)
    uniforms = [rng.random() - 0.5 for _ in range(count)]
    return np.array([-scale * math.copysign(1.0, u) * math.log(1 - 2 * abs(u)) for u in uniforms if abs(u) < 0.5])


@pytest.mark.parametrize(("centre", "scale"), PARAMETERS)
def test_every_output_of_numpys_laplace_has_a_preimage(centre: float, scale: float) -> None:
    noise = np.random.default_rng(1).laplace(scale=scale, size=N)
    assert numpy_laplace(centre + noise, centre, scale).all()


@pytest.mark.parametrize(("centre", "scale"), PARAMETERS)
def test_every_output_of_the_textbook_laplace_has_a_preimage(centre: float, scale: float) -> None:
    assert inverse_cdf(centre + textbook(N, scale, 1), centre, scale).all()


def test_the_two_samplers_are_told_apart() -> None:
    assert not numpy_laplace(textbook(N, 1.0, 2), 0.0, 1.0).all()
    assert not inverse_cdf(np.random.default_rng(2).laplace(size=N), 0.0, 1.0).all()


def test_a_scale_that_is_two_per_cent_off_has_no_preimages() -> None:
    noise = np.random.default_rng(3).laplace(size=N)
    assert numpy_laplace(noise, 0.0, 1.02).mean() < 0.5


def test_four_in_five_single_releases_name_the_data() -> None:
    """r = 0 against r = 1 at scale 1: 81 % by a prototype; ±3 % is ten standard deviations of 20,000 releases."""
    rng = np.random.default_rng(4)
    zeros, ones = rng.laplace(size=N // 2), 1 + rng.laplace(size=N // 2)
    named = np.concatenate([~numpy_laplace(zeros, 1.0, 1.0), ~numpy_laplace(ones, 0.0, 1.0)])
    assert 0.78 < named.mean() < 0.84


floats = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(centre=floats, noise=floats)
def test_a_sum_of_two_floats_has_a_preimage_among_floats(centre: float, noise: float) -> None:
    assert any_float(np.array([centre + noise]), centre, 1.0).all()


@given(odd=st.integers(1, 2**52 - 1).map(lambda k: 2 * k + 1))
def test_bits_below_those_of_the_noise_have_no_preimage(odd: int) -> None:
    """1 + l with l in (−1, −½) is a multiple of 2^-53: an odd multiple of 2^-54 below ½ is never reached."""
    value = float(Fraction(odd, 2**54))
    assert any_float(np.array([value]), 0.0, 1.0).all()
    assert any_float(np.array([value]), 1.0, 1.0).all() == (value >= 0.5)


def test_centres_and_scale_are_read_off_the_outputs() -> None:
    rng = np.random.default_rng(5)
    found = guessed(rng.laplace(scale=1 / 0.7, size=N), 1 + rng.laplace(scale=1 / 0.7, size=N))
    assert Additive(0.0, 1.0, 1 / 0.7) in found
    assert guessed(np.zeros(N), np.ones(N)) == []


def test_centres_of_wide_noise_are_guessed_among_whole_numbers() -> None:
    """Laplace at ε = 0.01: a median of 2,000 outputs is off by some units, and 0 fits both sides."""
    rng = np.random.default_rng(7)
    found = guessed(rng.laplace(scale=100, size=2000), 1 + rng.laplace(scale=100, size=2000))
    assert Additive(0.0, 1.0, 100.0) in found


@pytest.mark.parametrize(("centre", "scale"), [*PARAMETERS, (0.0, 5.0), (1.0, 5.0), (7.25, 1 / 3)])
def test_every_scaled_float_has_a_preimage(centre: float, scale: float) -> None:
    rng = np.random.default_rng(8)
    assert scaled_float(centre + rng.normal(scale=scale, size=N), centre, scale).all()
    assert scaled_float(centre + rng.laplace(scale=scale, size=N), centre, scale).all()


def test_products_with_five_skip_one_float_in_five_below_a_power_of_two() -> None:
    """5·z for floats z in [½, ⅘) lies in [2.5, 4), at steps of 1¼ units: a fifth of the floats there is no product; above 4,
    steps are below a unit and none is missed. By enumeration of neighbouring floats; ±2 % is far beyond their pattern."""
    start = np.frombuffer(np.array([2.6, 4.2]).tobytes(), dtype=np.int64)
    low, high = ((np.arange(1000) + first).view(np.float64) for first in start)
    products = {5.0 * z for z in (np.arange(1000) + np.array([2.6 / 5]).view(np.int64) - 10).view(np.float64)}
    reached = scaled_float(low, 0.0, 5.0)
    assert 0.78 < reached.mean() < 0.82
    assert all((value in products) == flag for value, flag in zip(low[:1000], reached, strict=True))
    assert scaled_float(high, 0.0, 5.0).all()


def preimages(output: Fraction, centre: int, unit: Fraction) -> int:
    """How many noises log(j·2^-52), 1 ≤ j ≤ 2^52, give this output below the centre when the sum is rounded to the unit."""
    ends = [(output + side * unit / 2 - centre) for side in (-1, 1)]
    with localcontext() as context:
        context.prec = 60
        low, high = (min(Decimal(2) ** 52, (Decimal(e.numerator) / Decimal(e.denominator)).exp() * 2**52) for e in ends)
        return int(high) - int(low)


@pytest.mark.parametrize("far", [1, 3, 6, 9])
def test_rounding_far_from_zero_leaves_no_output_that_tells(far: int) -> None:
    """Laplace noise of scale 1 around 10^6, where floats are 2^-33 apart: n noises share each output on D and m on D', as many as
    the densities say but for one. So no event of such outputs has a ratio beyond e·(n+1)/(n−1)."""
    unit, centre = Fraction(1, 2**33), 10**6
    for step in range(20):
        output = centre - far - step * unit
        here, there = preimages(output, centre, unit), preimages(output, centre + 1, unit)
        expected = 2**19 * math.exp(-far)
        assert abs(here - expected) <= 1 + expected * 1e-8
        assert abs(there - expected / math.e) <= 1 + expected * 1e-8


def test_fifteen_scales_away_outputs_tell_again() -> None:
    """One in six such outputs has a noise on D and one in sixteen on D', but only one run in three million goes there."""
    unit, centre = Fraction(1, 2**33), 10**6
    counts = [(preimages(y, centre, unit), preimages(y, centre + 1, unit)) for y in (centre - 15 - k * unit for k in range(200))]
    assert sum(here > 0 and there == 0 for here, there in counts) > 10
    assert sum(here > 0 and there > 0 for here, there in counts) < 10
