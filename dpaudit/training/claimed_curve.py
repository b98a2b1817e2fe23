"""The curve δ(ε) of a training's releases, and of the same training with less or more noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.readings.reads import Read, touched
from dpaudit.accountants.record_groups import groups
from dpaudit.accountants.sampling.constant_steps import join_steps
from dpaudit.auditors.one_run import Profile
from dpaudit.claims import DpauditError
from dpaudit.ledger import Release, load_releases
from dpaudit.noise import MECHANISMS, written_forms

TENTHS_OF_PERCENT = ("1e-6", "1e-4", "0.001", "0.01", "0.03", "0.1", "0.2", "0.4", "0.7", "1", "1.5", "2", "3", "5")
PERCENT = (1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 23, 26, 30, 34, 38, 42, 47, 53, 60, 70, 80, 90)
# Every point is a statement of its own: more of them only lose less.
DELTAS = (*(Fraction(text) / 1000 for text in TENTHS_OF_PERCENT), *(Fraction(percent, 100) for percent in PERCENT))


@dataclass(frozen=True)
class TrainingReleases:
    """What a training released, with noise and sampling fixed in advance."""

    releases: tuple[Release, ...]

    @classmethod
    def of(cls, path: str) -> TrainingReleases:
        """From a ledger, or a file of hand-written releases."""
        return cls(tuple(join_steps(load_releases(path, written_forms()))[0]))

    @property
    def scalable(self) -> bool:
        """Has every release a scale of noise that can be multiplied?"""
        return all(_size(release) is not None for release in self.releases)

    def scaled(self, factor: Fraction) -> TrainingReleases:
        """The same with this many times the noise."""
        return TrainingReleases(tuple(_scaled(release, factor) for release in self.releases))

    def epsilon(self, delta: Fraction) -> Fraction:
        """What they cost the record that pays most; rounded up."""
        reads = [Read.of(release) for release in self.releases]
        return least(groups(touched(reads, (), "server", delta)), delta, fixed=True).epsilon

    def profile(self, deltas: Sequence[Fraction] = DELTAS) -> Profile:
        """Points (ε, δ), each of which the training keeps if it is what its releases say."""
        epsilons = [np.nextafter(float(self.epsilon(delta)), np.inf) for delta in deltas]
        return Profile(np.array(epsilons), np.array([np.nextafter(float(delta), 1.0) for delta in deltas]))


def _size(release: Release) -> str | None:
    kind = MECHANISMS.get(release.mechanism)
    return kind.size_name if kind is not None and kind.stronger > 0 else None


def _scaled(release: Release, factor: Fraction) -> Release:
    name = _size(release)
    if name is None:
        raise DpauditError(f"{release.mechanism} has no scale of noise")
    size = Fraction(release.parameters[name]) * factor
    return replace(release, parameters={**release.parameters, name: str(size)})
