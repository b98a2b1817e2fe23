"""The law of a loss with finitely many values, of which each probability is a whole number times a power of e."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import (
    Atom,
    Complexes,
    Floats,
    PrivacyLoss,
    ResponseLoss,
    cautious,
    least_sine,
    log_mean,
)
from dpaudit.claims.balls import Ball, ball
from dpaudit.noise.loss_facts import LossAtom


def finite_loss(atoms: Sequence[LossAtom]) -> PrivacyLoss:
    """The law of these atoms; two of them, ±ε, are randomised response."""
    likely = tuple(atom for atom in sorted(atoms, key=lambda atom: atom.loss, reverse=True) if atom.weight)
    first, last = likely[0], likely[-1]
    if len(likely) == 2 and first.loss == -last.loss and first.weight == last.weight:
        return ResponseLoss(first.loss)
    return FiniteLoss(likely)


@dataclass(frozen=True)
class FiniteLoss:
    """P(L = loss) ∝ weight·e^exponent for each atom; the atoms stand from the largest loss down."""

    values: tuple[LossAtom, ...]

    @property
    def top(self) -> Fraction:
        return self.values[0].loss

    @property
    def gap(self) -> Fraction:
        """The greatest number of which every distance to the top is a whole multiple."""
        below = [self.top - atom.loss for atom in self.values[1:]]
        denominator = math.lcm(*(step.denominator for step in below))
        return Fraction(math.gcd(*(int(step * denominator) for step in below)), denominator)

    def atoms(self) -> Iterator[Atom]:
        total = self._total()
        yield from ((self.top - atom.loss, _weight(atom) / total) for atom in self.values)

    def _total(self) -> Ball:
        return sum((_weight(atom) for atom in self.values), start=flint.arb(0))

    def moment(self, z: Any) -> tuple[Any, Any]:
        value = flint.acb(0)
        for below, probability in self.atoms():
            value += probability * (-ball(below) * z).exp()
        return value, value

    def log_moment(self, z: Complexes) -> Complexes:
        return log_mean(z, *self._floats(0.0))

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """|Σ a_j e^{−itx_j}|² = (Σ a_j)² − 4 Σ_{j<k} a_j a_k sin²((x_j − x_k)t/2), a_j = P(x_j) e^{−cx_j}."""
        below, share = self._floats(c)
        share = share / share.sum()
        lost = np.zeros_like(low)
        for j, k in combinations(range(len(below)), 2):
            lost += 4 * share[j] * share[k] * least_sine(float(below[k] - below[j]) / 2, low, high) ** 2
        return cautious(-np.log1p(-np.minimum(lost, 1 - 1e-15)) / 2), np.zeros_like(low)

    def _floats(self, c: float) -> tuple[Floats, Floats]:
        """Distances to the top, and probabilities times e^{−c·distance}."""
        below = np.array([float(self.top - atom.loss) for atom in self.values])
        log_weight = np.array([math.log(atom.weight) + float(atom.exponent) for atom in self.values])
        total = np.logaddexp.reduce(log_weight)
        return below, np.exp(log_weight - total - c * below)


def _weight(atom: LossAtom) -> Ball:
    return atom.weight * ball(atom.exponent).exp()
