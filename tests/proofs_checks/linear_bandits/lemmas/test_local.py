"""The local concentration lemma as printed and with the corrected width."""

from __future__ import annotations

from proofs_checks.linear_bandits.lemmas.local import concentration, noise_tail
from proofs_checks.linear_bandits.repairs.widths import local_width


def test_the_first_batch_leaves_the_printed_width_too_often():
    found = concentration(True)
    assert found.verdict == "refuted"
    assert "batch 1 (n = 3)" in found.evidence["summary"]
    simulated = found.evidence["simulated"]
    # within 5 standard errors of a Poisson count: error rate below 10^-6
    assert abs(simulated["errors above γ, one side"] - simulated["expected"]) < 5 * simulated["expected"] ** 0.5


def test_the_corrected_width_is_not_left():
    assert concentration(True, width=local_width).verdict == "verified"


def test_the_noise_alone_exceeds_its_printed_part_too_often():
    assert noise_tail(True).verdict == "refuted"
    assert noise_tail(True, width=local_width).verdict == "verified"
