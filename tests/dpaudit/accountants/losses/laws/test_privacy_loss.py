"""Moment functions against sums over the values of the loss, and the bounds on how they fall against the functions."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from dpaudit.accountants.losses.laws.privacy_loss import (
    FINE,
    GaussianLoss,
    LaplaceLoss,
    LatticeLoss,
    PrivacyLoss,
    ResponseLoss,
    least_sine,
)
from dpaudit.claims.balls import precision

BITS = 200
FINE_STEPS = FINE + 89
LAWS: dict[str, PrivacyLoss] = {
    "response": ResponseLoss(Fraction("0.3")),
    "large response": ResponseLoss(Fraction(12)),
    "laplace, one step": LaplaceLoss(Fraction("0.7"), 1),
    "coarse laplace": LaplaceLoss(Fraction("0.7"), 9),
    "fine laplace": LaplaceLoss(Fraction("0.1"), FINE_STEPS),
    "finest laplace": LaplaceLoss(Fraction(2), 2**20),
    "gaussian": GaussianLoss(Fraction("0.4")),
    "lattice": LatticeLoss(Fraction("0.5"), Fraction("0.25"), (Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(1, 4))),
}


def values(law: LaplaceLoss) -> list[tuple[float, float]]:
    """(L − top, probability) of discrete Laplace noise, output by output: o ≤ 0, 0 < o < steps, o ≥ steps."""
    a, m = float(law.epsilon) / law.steps, law.steps
    inner = [(-2 * a * o, math.tanh(a / 2) * math.exp(-a * o)) for o in range(1, m)]
    ends = 1 / (1 + math.exp(-a))
    return [(0.0, ends), *inner, (-2 * a * m, ends * math.exp(-a * m))]


@pytest.mark.parametrize("name", ["laplace, one step", "coarse laplace", "fine laplace"])
def test_the_moment_of_laplace_noise_is_the_sum_over_its_outputs(name: str) -> None:
    law = LAWS[name]
    assert isinstance(law, LaplaceLoss)
    table = values(law)
    assert math.fsum(p for _, p in table) == pytest.approx(1, abs=1e-14)
    for z in (0.5, 3 + 2j, 0.1 + 40j):
        direct = sum(p * cmath.exp(z * x) for x, p in table)
        with precision(BITS):
            whole, atoms = law.moment(flint.acb(z.real, z.imag))
        assert complex(whole.real, whole.imag) == pytest.approx(direct, rel=1e-12)
        ends = table[0][1] + table[-1][1] * cmath.exp(z * table[-1][0])
        assert complex(atoms.real, atoms.imag) == pytest.approx(direct if law.steps <= FINE else ends, rel=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_floats_agree_with_the_enclosure(name: str) -> None:
    law = LAWS[name]
    points = np.array([0.2, 1.5 + 0.3j, 2 + 11j])
    with precision(BITS):
        enclosed = [law.moment(flint.acb(z.real, z.imag))[0] for z in points]
    for value, ball in zip(law.log_moment(points), enclosed, strict=True):
        assert cmath.exp(value) == pytest.approx(complex(ball.real, ball.imag), rel=1e-10)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "gaussian"])
def test_the_moment_of_the_atoms_is_the_sum_over_the_atoms(name: str) -> None:
    law = LAWS[name]
    with precision(BITS):
        atoms = [(float(below), float(mass)) for below, mass in law.atoms()]
        found = law.moment(flint.acb(0.7, 1.3))[1]
    assert complex(found.real, found.imag) == pytest.approx(sum(p * cmath.exp(-(0.7 + 1.3j) * b) for b, p in atoms), abs=1e-12)
    assert [below for below, _ in atoms] == sorted(below for below, _ in atoms)
    assert all((Fraction(below) / law.gap).limit_denominator(10**6).denominator == 1 for below, _ in atoms)


@pytest.mark.parametrize("name", LAWS)
def test_the_bound_on_the_decay_holds_at_random_points_of_random_intervals(name: str) -> None:
    """A node is skipped only where the bound says so, and the share of the inner part is never more than bounded."""
    law = LAWS[name]
    rng = np.random.default_rng(11)
    useful = 0
    with precision(BITS):
        for c in (0.05, 0.5, 4.0):
            peak = law.moment(flint.acb(c))[0].real
            low = 10 ** rng.uniform(-1, 5, 40)
            high = low * (1 + 10 ** rng.uniform(-5, 0, 40))
            bounds, shares = law.decay(c, low, high)
            useful += int((bounds > 1e-3).sum())
            for a, b, bound, share in zip(low, high, bounds, shares, strict=True):
                for t in rng.uniform(a, b, 4):
                    whole, atoms = law.moment(flint.acb(c, t))
                    size = float(whole.abs_upper() / peak)
                    assert size <= math.exp(-bound) * (1 + 1e-9)
                    inner = float((whole - atoms).abs_upper() / peak)
                    assert inner <= share * math.exp(-bound) * (1 + 1e-6) + 1e-12
    assert useful or name in ("lattice", "large response")


def test_a_smaller_bound_on_the_decay_would_be_noticed() -> None:
    """The twin: at the point where the bound is attained, it cannot be raised by one percent."""
    law = LAWS["response"]
    t = np.array([4.0])
    bound = float(law.decay(0.5, t, t)[0][0])
    with precision(BITS):
        size = float(law.moment(flint.acb(0.5, 4.0))[0].abs_upper() / law.moment(flint.acb(0.5))[0].real)
    assert size <= math.exp(-bound) < size * 1.001
    assert not size <= math.exp(-bound * 1.01)


def test_the_least_sine_over_an_interval() -> None:
    low, high = np.array([0.1, 3.0, 10.0]), np.array([0.2, 3.3, 1e6])
    found = least_sine(1.0, low, high)
    assert found[0] == pytest.approx(math.sin(0.1))
    assert found[1] == found[2] == 0


def test_the_gaussian_moment_is_that_of_its_normal_loss() -> None:
    with precision(BITS):
        found = GaussianLoss(Fraction("0.4")).moment(flint.acb(1.5, 0.5))[0]
    z = 1.5 + 0.5j
    assert complex(found.real, found.imag) == pytest.approx(cmath.exp(z * 0.2 + z * z * 0.2))


def test_many_masses_do_not_widen_a_moment() -> None:
    """Turned 1,500 times by Horner's rule alone, its ball would be wider than 1 by hundreds of digits."""
    masses = tuple(Fraction(1, 1500) for _ in range(1500))
    law, z = LatticeLoss(Fraction(1), Fraction(1, 700), masses), complex(1.5, 900.25)
    with precision(BITS):
        found = law.moment(flint.acb(z.real, z.imag))[0]
        ratio = complex(math.cos(z.imag / 700), -math.sin(z.imag / 700)) * math.exp(-z.real / 700)
        assert float(found.real.rad()) < 1e-40
        assert complex(found) == pytest.approx((1 - ratio**1500) / (1 - ratio) / 1500, rel=1e-11)
