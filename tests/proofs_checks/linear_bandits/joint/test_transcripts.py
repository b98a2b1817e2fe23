"""Transcripts of the shipped loop lose at most ε with Lap(2/ε), and twice that with the printed noise."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.linear_bandits.joint.transcripts import transcript_loss


def test_transcripts_lose_exactly_epsilon_and_the_printed_noise_twice_that():
    assert transcript_loss() == 1
    assert transcript_loss(Fraction(1)) == 2
