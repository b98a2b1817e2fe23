"""What the canaries of one or more trainings show: a lower bound on ε, and whether a claim, or a claimed curve, is refuted.

A claim is refuted at the confidence that is asked for: at δ > 0 the canaries of a run are too few to show more (the bound's term
2mδ is far above the 10^-6 of other audits).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.auditors.one_run import NUMBERS, CanaryGuesses, guess_canaries, guessed_shares, split_bound, split_curve_refuted
from dpaudit.claims import InvalidValue
from dpaudit.training.canary_scores import CanaryScores
from dpaudit.training.claimed_curve import TrainingReleases

GUESSES = f"one run, {len(NUMBERS)} numbers of guesses fixed in advance"
PLAIN = f"{GUESSES} (Steinke, Nasr, Jagielski 2023)"
CURVE = f"{GUESSES}, on the curve of the releases at other noise (Mahloujifar, Melis, Chaudhuri 2024)"
HALVINGS = 10  # of an octave of noise
OCTAVES = 8  # more or less noise than the releases say, at most
MARGIN = Fraction(999, 1000)  # an accountant's ε may lie above the true one by less than a thousandth


@dataclass(frozen=True)
class CanaryAudit:
    """``lower`` at ``confidence``. ``noise``: less than this many times the releases' noise was used; None: nobody knows."""

    lower: float
    confidence: float
    method: str
    canaries: int
    curve_refuted: bool = False
    noise: float | None = None

    def refutes(self, epsilon: Fraction) -> bool:
        """This ε at the same δ, or the curve that it lies on."""
        return self.curve_refuted or Fraction(self.lower) > epsilon


def pooled_guesses(runs: Sequence[CanaryScores]) -> list[CanaryGuesses]:
    """For every number of guesses, the counts of all trainings together; their coins are fresh each time.

    The numbers follow from how many canaries all of them have: how many trainings are pooled is fixed in advance too.
    """
    shares = guessed_shares(sum(len(run.scores) for run in runs))
    each = [[guess_canaries(run.scores, run.included, share) for run in runs] for share in shares]
    return [
        CanaryGuesses(sum(g.right for g in several), sum(g.guesses for g in several), sum(g.canaries for g in several))
        for several in each
    ]


def audit_canaries(
    runs: Sequence[CanaryScores], delta: Fraction, *, confidence: float = 0.95, releases: TrainingReleases | None = None
) -> CanaryAudit:
    """``releases``: what the training says that it released; then every (ε,δ) on their curve is tested at once."""
    if not 0 < confidence < 1:
        raise InvalidValue("confidence", confidence, "between 0 and 1")
    guesses, alpha = pooled_guesses(runs), 1 - confidence
    canaries = guesses[0].canaries
    if releases is None:
        return CanaryAudit(_down(split_bound(guesses, _up(delta), alpha)), confidence, PLAIN, canaries)
    if not releases.scalable:  # two tests share the error
        refuted = split_curve_refuted(guesses, releases.profile(), alpha / 2)
        return CanaryAudit(_down(split_bound(guesses, _up(delta), alpha / 2)), confidence, PLAIN, canaries, refuted)
    noise = _noise_below(guesses, releases, alpha)
    if noise is None:
        return CanaryAudit(0.0, confidence, CURVE, canaries)
    epsilon = _down(float(releases.scaled(noise).epsilon(delta) * MARGIN))
    return CanaryAudit(epsilon, confidence, CURVE, canaries, noise <= 1, float(noise))


def _noise_below(guesses: Sequence[CanaryGuesses], releases: TrainingReleases, alpha: float) -> Fraction | None:
    """A factor such that these guesses refute the training with that many times the noise of its releases; None: none does.

    More noise keeps a smaller curve, so who is refuted with a factor is refuted with all above it: one test, one error.
    """

    def refuted(exponent: float) -> bool:
        return split_curve_refuted(guesses, releases.scaled(_power(exponent)).profile(), alpha)

    high = next((float(octave) for octave in range(OCTAVES + 1) if refuted(octave)), None)
    if high is None:
        return None
    while high <= 0 and high > -OCTAVES and refuted(high - 1):
        high -= 1
    low = high - 1
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return _power(high)


def _power(exponent: float) -> Fraction:
    return Fraction(round(2.0**exponent * 2**24), 2**24)


def _down(value: float) -> float:
    return math.floor(value * 1e6) / 1e6


def _up(delta: Fraction) -> float:
    return math.nextafter(float(delta), 1.0) if delta else 0.0
