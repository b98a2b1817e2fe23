"""Canaries of simulated trainings: bounds below the truth, broken noise refuted, ties and pools."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditors.one_run import split_curve_refuted
from dpaudit.claims import InvalidValue
from dpaudit.training.canary_audit import audit_canaries, pooled_guesses
from dpaudit.training.canary_scores import CanaryScores
from dpaudit.training.claimed_curve import TrainingReleases

DELTA = Fraction(1, 10**5)
TRUE = 4.377178  # ε at δ = 10^-5 of Gaussian noise with σ = 1 and sensitivity 1


def training(seed: int, noise: float = 1.0, canaries: int = 5000) -> CanaryScores:
    """Every canary moves its own coordinate by 1, in noise of this σ."""
    rng = np.random.default_rng([seed, 19])
    included = rng.random(canaries) < 0.5
    return CanaryScores(included, noise * rng.normal(size=canaries) + included)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> TrainingReleases:
    file = tmp_path_factory.mktemp("training") / "releases.jsonl"
    file.write_text(json.dumps({"mechanism": "gaussian", "sigma": "1", "sensitivity": "1"}) + "\n", encoding="utf-8")
    return TrainingReleases.of(str(file))


def test_the_bound_lies_below_the_truth_and_the_curve_gives_more(releases: TrainingReleases) -> None:
    """At confidence 0.95 per run; this seed's bounds are 2.1 and 2.8 to a half."""
    plain = audit_canaries([training(1)], DELTA)
    curve = audit_canaries([training(1)], DELTA, releases=releases)
    assert 1.6 < plain.lower < curve.lower < TRUE
    assert curve.noise is not None
    assert curve.noise > 1
    assert not curve.curve_refuted
    assert not curve.refutes(Fraction("4.3772"))


def test_half_the_noise_is_refuted_by_the_curve_and_the_true_noise_is_not(releases: TrainingReleases) -> None:
    runs = [training(seed, 0.4, 20_000) for seed in (1, 2)]
    broken = audit_canaries(runs, DELTA, releases=releases)
    assert broken.curve_refuted
    assert broken.noise is not None
    assert 0.4 < broken.noise < 1
    assert broken.refutes(Fraction("4.3772"))
    honest = audit_canaries([training(seed, 1.0, 20_000) for seed in (1, 2)], DELTA, releases=releases)
    assert not honest.curve_refuted


def test_a_true_curve_is_refuted_about_as_rarely_as_stated(releases: TrainingReleases) -> None:
    """200 trainings at error 0.05; more refutations than the limit have probability below 10^-6. The twin claims more noise."""
    profile, limit = releases.profile(), int(binom.isf(1e-6, 200, 0.05))
    guesses = [pooled_guesses([training(seed, canaries=1000)]) for seed in range(200)]
    assert sum(split_curve_refuted(each, profile, 0.05) for each in guesses) <= limit
    twin = releases.scaled(Fraction(4)).profile()
    assert sum(split_curve_refuted(each, twin, 0.05) for each in guesses) > limit


def test_equal_scores_show_nothing_however_the_rows_are_sorted() -> None:
    coins = np.arange(5000) < 2500
    for included in (coins, ~coins):
        assert audit_canaries([CanaryScores(included, np.zeros(5000))], DELTA).lower == 0
    assert audit_canaries([CanaryScores(coins, coins.astype(float))], DELTA).lower > 2  # the twin: the scores know


def test_several_trainings_are_pooled() -> None:
    one, two = pooled_guesses([training(1)]), pooled_guesses([training(1), training(2)])
    assert [g.canaries for g in two] == [2 * g.canaries for g in one]
    assert all(b.right > a.right for a, b in zip(one, two, strict=True))
    assert two[1].guesses == pytest.approx(4 * 10_000**0.5, abs=2)  # as of one training with so many canaries


def test_a_confidence_is_a_probability() -> None:
    for confidence in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidValue, match="confidence"):
            audit_canaries([training(1, canaries=10)], DELTA, confidence=confidence)


def test_few_canaries_show_nothing() -> None:
    assert audit_canaries([training(1, canaries=3)], DELTA).lower == 0
