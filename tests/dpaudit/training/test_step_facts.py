"""What one step releases: exact facts, and the pair of a record that several samples of one step may hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpaudit.claims import InvalidValue
from dpaudit.training.step_facts import StepFacts

HALF = StepFacts(Fraction(3, 2), Fraction(1), Fraction(1, 10), 7)


def test_a_release_holds_noise_clip_rate_and_count() -> None:
    release = HALF.release(12, constant=True)
    assert (release.parameters["sigma"], release.sensitivity, release.sampling, release.count) == ("1.5", 1, "0.1", 12)
    assert release.coordinates == 7
    assert release.extra["clip"] == "1"


def test_the_grid_is_too_fine_to_change_the_ratio_of_clip_and_noise() -> None:
    for clip in ("0.1", "1", "0.0007", "12.34"):
        facts = StepFacts(Fraction(clip), Fraction(clip), Fraction(1, 10), 1)
        repeated = facts.repeated(1)
        moved = repeated.steps * repeated.noise.grid
        assert Fraction(clip) <= moved <= Fraction(clip) * (1 + Fraction(1, 2**29))


def test_rate_one_is_no_sample() -> None:
    release = StepFacts(Fraction(1), Fraction(1), Fraction(1), 1).release(1, constant=True)
    assert release.sampling is None


@pytest.mark.parametrize("field", ["noise", "clip", "rate"])
def test_nothing_is_recorded_without_noise_clip_or_rate(field: str) -> None:
    values = {"noise": Fraction(1), "clip": Fraction(1), "rate": Fraction(1, 2), "coordinates": 1, field: Fraction(0)}
    with pytest.raises(InvalidValue):
        StepFacts(**values)  # type: ignore[arg-type]


def hockey_stick(first: np.ndarray, second: np.ndarray, epsilon: float, width: float) -> float:
    return float(np.maximum(first - np.exp(epsilon) * second, 0).sum() * width)


@pytest.mark.parametrize("accumulated", [2, 3])
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_accumulated_samples_are_dominated_by_what_is_charged_and_not_by_what_opacus_charges(
    rate: float, accumulated: int
) -> None:
    """By quadrature: the record is in Bin(n, q) of the samples, each moves the sum by one clip; σ = 1."""
    facts = StepFacts(Fraction(1), Fraction(1), Fraction(str(rate)), 1, accumulated=accumulated)
    grid = np.linspace(-14, 18, 20_001)
    width, base = grid[1] - grid[0], norm.pdf(grid)
    true = sum(binom.pmf(j, accumulated, rate) * norm.pdf(grid, loc=j) for j in range(accumulated + 1))
    charged_rate, moved = float(facts.sampling), float(facts.sensitivity)
    charged = (1 - charged_rate) * base + charged_rate * norm.pdf(grid, loc=moved)
    opacus = (1 - accumulated * rate) * base + accumulated * rate * norm.pdf(grid, loc=1)
    understated = False
    for epsilon in (0.01, 0.2, 0.5, 1.0, 2.0, 4.0):
        for one, other in ((true, charged), (true, opacus)):
            removed, added = hockey_stick(one, base, epsilon, width), hockey_stick(base, one, epsilon, width)
            bound = hockey_stick(other, base, epsilon, width), hockey_stick(base, other, epsilon, width)
            if other is charged:
                assert removed <= bound[0] + 1e-9
                assert added <= bound[1] + 1e-9
            else:
                understated |= removed > bound[0] * 1.01 + 1e-9
    assert understated, "the twin: one clip at rate nq would do"
