"""The models are what they claim, they learn something, and the twin with a tenth of the noise is caught."""

import numpy as np
import pytest
from private_models import FEATURES, PEOPLE, fit_with_noise, noisy_fit, objective_perturbation, output_perturbation

import dpaudit as dp


@pytest.mark.parametrize("subject", [objective_perturbation, output_perturbation], ids=["objective", "output"])
def test_it_is_certified(subject):
    dp.assert_private(subject, samples=200, seed=1)


@pytest.mark.parametrize("subject", [objective_perturbation, output_perturbation], ids=["objective", "output"])
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
