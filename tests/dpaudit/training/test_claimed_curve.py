"""The curve of a training's releases: every point is true, by the closed form of one Gaussian release."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.claims import DpauditError
from dpaudit.training.claimed_curve import TrainingReleases


def releases(folder: Path, **record: str) -> TrainingReleases:
    file = folder / "releases.jsonl"
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return TrainingReleases.of(str(file))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2), Fraction(1, 4)])
def test_every_point_of_the_curve_lies_on_or_above_the_true_one_and_not_far(tmp_path: Path, factor: Fraction) -> None:
    profile = releases(tmp_path, mechanism="gaussian", sigma="2", sensitivity="1").scaled(factor).profile()
    mu = 1 / (2 * float(factor))
    true = np.array([gaussian_delta(mu, epsilon) for epsilon in profile.epsilons])
    assert (true <= profile.deltas * (1 + 1e-9)).all()
    positive = (profile.epsilons > 1e-6) & (profile.deltas >= 1e-6)
    assert (true[positive] >= profile.deltas[positive] * (1 - 1e-3)).all()
    assert not (np.array([gaussian_delta(1.1 * mu, e) for e in profile.epsilons]) <= profile.deltas).all()  # the twin


def test_what_has_no_scale_is_not_scaled(tmp_path: Path) -> None:
    response = releases(tmp_path, mechanism="randomized-response", epsilon="1")
    assert not response.scalable
    with pytest.raises(DpauditError, match="no scale"):
        response.scaled(Fraction(2))
    assert releases(tmp_path, mechanism="laplace", scale="2", sensitivity="1", sampling="1/10", count="5").scalable
