"""Growth, number and length of the batches, each as printed and planted."""

from __future__ import annotations

import numpy as np

from proofs_checks.linear_bandits.algorithms.batches import (
    batch_count,
    corrected_batches,
    exact_lengths,
    horizon_fits,
    largest_fitting,
    printed_batches,
    q_range,
    runs,
)


def test_q_is_between_e_and_its_square_with_the_natural_logarithm_only():
    assert q_range(True).verdict == "verified"
    assert q_range(True, exponent=lambda t: np.log(2 * t) / np.log2(t)).verdict == "refuted"


def test_log_t_batches_fill_the_horizon_from_1097_on():
    found = batch_count(True)
    assert found.verdict == "conditional"
    assert found.correction.startswith("T ≥ 1097")


def test_batches_that_grow_by_e_never_fill_the_horizon():
    assert batch_count(True, exponent=np.ones_like).verdict == "refuted"


def test_the_printed_batches_do_not_fit_at_1097():
    found = horizon_fits(True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["T"] == 1097
    assert found.evidence["counterexample"]["Σ n_i"] == sum(exact_lengths(1097, 6)) == 1099


def test_the_largest_number_that_fits_fits():
    assert horizon_fits(True, batches=largest_fitting).verdict == "verified"
    assert corrected_batches(True).verdict == "verified"


def test_the_printed_number_in_place_of_the_corrected_one_is_refuted():
    assert corrected_batches(True, batches=printed_batches).verdict == "refuted"


def test_one_batch_fewer_is_not_what_the_code_plays():
    assert corrected_batches(True, batches=lambda _, fitting: np.maximum(fitting - 1, 0)).verdict == "conditional"


def test_runs_of_numbers_are_shortened():
    assert runs([1, 2, 3, 7]) == ["1–3", "7"]
