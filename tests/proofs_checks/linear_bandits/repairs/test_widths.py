"""Our own widths, each with a planted one that is too narrow."""

from __future__ import annotations

import pytest

from proofs_checks.linear_bandits.lemmas import central as lemma_central
from proofs_checks.linear_bandits.lemmas import local as lemma_local
from proofs_checks.linear_bandits.repairs.tight_width import code, tight
from proofs_checks.linear_bandits.repairs.widths import central_gamma, central_width, local_gamma, local_width


def test_the_corrected_central_width_holds():
    assert central_gamma(True).verdict == "verified"


def test_the_printed_central_width_in_its_place_is_refuted():
    assert central_gamma(True, width=lemma_central.printed_width).verdict == "refuted"


def test_the_corrected_local_width_holds():
    assert local_gamma(True).verdict == "verified"


def test_the_printed_local_width_in_its_place_is_refuted():
    assert local_gamma(True, width=lemma_local.printed_width).verdict == "refuted"


@pytest.mark.parametrize(
    ("check", "wider"),
    [(central_gamma, lambda n, level: 2 * central_width(n, level)), (local_gamma, lambda *at: 2 * local_width(*at))],
)
def test_a_wider_width_than_the_code_uses_is_not_verified(check, wider):
    assert check(True, width=wider).verdict == "conditional"


@pytest.mark.parametrize("check", [central_gamma, local_gamma])
def test_with_the_noise_that_privacy_needs_the_printed_width_fails_more_often_than_1_in_T_and_ours_does_not(check):
    printed, corrected = check(True).evidence["why it is needed"]
    assert printed["noise"] == corrected["noise"]
    assert printed["P·T"] > 1 > corrected["P·T"]


def test_the_tight_width_holds():
    found = tight(True)
    assert found.verdict == "verified"
    regrets = {(row["model"], row["calibration"]): row["regret"] for row in found.evidence["regret, K=10, d=2, T=10^6, ε=1"]}
    assert regrets["central", "tight"] < regrets["central", "printed"] / 2


def test_half_of_the_tight_width_is_refuted_and_double_is_not_the_minimum():
    assert tight(True, width=lambda case: code(case) / 2).verdict == "refuted"
    assert tight(True, width=lambda case: code(case) * 2).verdict == "conditional"
