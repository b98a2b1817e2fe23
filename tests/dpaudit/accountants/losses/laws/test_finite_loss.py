"""A finite loss: moments, atoms and decay against the plain sum over its values."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest

from dpaudit.accountants.losses.laws.finite_loss import FiniteLoss, finite_loss
from dpaudit.accountants.losses.laws.privacy_loss import ResponseLoss
from dpaudit.claims.balls import precision
from dpaudit.noise.loss_facts import LossAtom

NONE = Fraction(0)


def kary(epsilon: Fraction, k: int) -> tuple[LossAtom, ...]:
    return LossAtom(epsilon, 1, NONE), LossAtom(NONE, k - 2, -epsilon), LossAtom(-epsilon, 1, -epsilon)


def plain(atoms: tuple[LossAtom, ...]) -> list[tuple[float, float]]:
    weights = [atom.weight * float(mpmath.exp(mpmath.mpf(atom.exponent.numerator) / atom.exponent.denominator)) for atom in atoms]
    return [(float(atom.loss), weight / sum(weights)) for atom, weight in zip(atoms, weights, strict=True)]


LAWS = [
    kary(Fraction(7, 10), 5),
    kary(Fraction(3), 100),
    (*kary(Fraction(1), 4)[:2], LossAtom(Fraction(-3, 7), 2, Fraction(-1, 3))),
]


def test_two_equal_and_opposite_losses_are_randomised_response() -> None:
    assert finite_loss(kary(Fraction(1, 3), 2)) == ResponseLoss(Fraction(1, 3))
    assert isinstance(finite_loss(kary(Fraction(1, 3), 3)), FiniteLoss)


@pytest.mark.parametrize("atoms", LAWS)
def test_moments_and_atoms_are_those_of_the_values(atoms: tuple[LossAtom, ...]) -> None:
    law = finite_loss(atoms)
    top = float(law.top)
    with precision(128):
        for z in (0.5 + 0j, 2 + 3j):
            expected = sum(p * np.exp(z * (loss - top)) for loss, p in plain(atoms))
            assert complex(law.moment(flint.acb(z.real, z.imag))[0]) == pytest.approx(expected, rel=1e-12)
            assert np.exp(law.log_moment(np.array([z])))[0] == pytest.approx(expected, rel=1e-12)
        listed = [(top - float(below), float(p)) for below, p in law.atoms()]
    assert [each for pair in listed for each in pair] == pytest.approx([each for pair in plain(atoms) for each in pair])
    assert all((law.top - atom.loss) % law.gap == 0 for atom in atoms)


@pytest.mark.parametrize("atoms", LAWS)
def test_decay_is_a_lower_bound_on_every_interval_and_close_at_points(atoms: tuple[LossAtom, ...]) -> None:
    law, c = finite_loss(atoms), 0.8
    low = np.linspace(0, 30, 400)
    high = low + 0.05
    bound, rest = law.decay(c, low, high)
    values, shares = np.array(plain(atoms)).T
    shares = shares * np.exp(c * values)
    t = low + 0.05 * np.random.default_rng(3).random((50, 1))
    true = -np.log(np.abs((shares * np.exp(1j * t[..., None] * values)).sum(-1)) / shares.sum())
    assert (bound <= true + 1e-12).all()
    assert not rest.any()
    narrow = law.decay(c, low, low)[0]
    exact = -np.log(np.abs((shares * np.exp(1j * low[:, None] * values)).sum(-1)) / shares.sum())
    assert narrow == pytest.approx(exact, abs=1e-6)


def test_a_symmetric_law_has_the_same_curve_with_its_sides_exchanged() -> None:
    """P(L = −x) = e^−x P(L = x): what a mechanism must state for one law to serve both directions."""
    for atoms in LAWS[:2]:
        law = dict(plain(atoms))
        for loss, probability in law.items():
            assert law[-loss] == pytest.approx(np.exp(-loss) * probability)
