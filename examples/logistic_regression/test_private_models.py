"""The models are what they claim, they learn something, and the twin with a tenth of the noise is caught."""

import numpy as np
import pytest
from private_models import (
    FEATURES,
    PEOPLE,
    fit_with_noise,
    functional_mechanism,
    minimisers,
    noisy_fit,
    objective_with_noise,
    output_perturbation,
    perturbed_objective,
)  # fmt: skip

import dpaudit as dp


@pytest.mark.parametrize("subject", [functional_mechanism, output_perturbation], ids=["functional", "output"])
def test_it_is_certified(subject):
    dp.assert_private(subject, samples=200, seed=1)


@pytest.mark.parametrize("subject", [functional_mechanism, output_perturbation], ids=["functional", "output"])
def test_it_finds_the_direction_that_decides(subject, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (PEOPLE, FEATURES))
    data = np.column_stack([rows, np.where(rows[:, 0] > 0, 1.0, -1.0)])
    with dp.open_ledger(tmp_path / "model.ledger") as ledger:
        model = subject.deploy(ledger)(data)
    assert np.mean(np.sign(rows @ model) == data[:, FEATURES]) > 0.75


def test_a_fit_of_scikit_learn_is_attacked_as_a_black_box():
    dp.assert_private(fit_with_noise, require="not-refuted", samples=20_000, seed=1)


def test_a_tenth_of_the_noise_is_refuted():
    with pytest.raises(AssertionError, match="refuted"):
        dp.assert_private(noisy_fit(0.1), require="not-refuted", samples=20_000, seed=1)


def test_objective_perturbation_is_attacked_and_never_certified():
    verdict = dp.assert_private(perturbed_objective, require="not-refuted", samples=20_000, seed=1)
    assert verdict.verdict == "unproven"
    assert verdict.lower.epsilon > 0.05


def test_an_objective_with_a_tenth_of_the_noise_is_refuted():
    with pytest.raises(AssertionError, match="refuted"):
        dp.assert_private(objective_with_noise(0.1), require="not-refuted", samples=20_000, seed=1)


def test_the_minimisers_are_those_of_the_objective():
    rng = np.random.default_rng(3)
    rows, linear = rng.uniform(-1, 1, (20, FEATURES)), rng.normal(size=(5, FEATURES))
    found = minimisers(rows, linear, 0.1)
    wrong = 1 / (1 + np.exp(found @ rows.T))
    assert np.abs(linear + 0.1 * found - wrong @ rows / 20).max() < 1e-8
