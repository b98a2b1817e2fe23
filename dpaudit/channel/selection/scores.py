"""What a call that selects says of its scores, and what sealed scores prove of how far their differences move."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.channel.declarations import Asked, declared_sensitivity
from dpaudit.claims import DpauditError, Finding, InvalidValue, exact, exact_epsilon, positive, show
from dpaudit.noise import GRID, Exponential, Noise, NoisyMax, PermuteAndFlip, mechanism_of, to_units
from dpaudit.noise.mechanism import LARGEST
from dpaudit.sealed.array import Sealed, Untraced, caller, dependence, unseal

METHODS = {kind.name: kind for kind in (Exponential, PermuteAndFlip)}


class NotOneWay(DpauditError):
    """DPA005: scores were said to move all one way for every pair of neighbours, and their trace does not prove it."""

    rule = "DPA005"

    def __init__(self, release: str) -> None:
        self.release = release
        super().__init__(
            f"release {release!r} declares monotone=True, but one record may raise a score and lower another; that they all move "
            "one way is proven for counts and sums of one sign under add_remove, not under replace_one. Leave monotone out: the "
            "scale is then twice as large at the same ε"
        )


def selecting_noise(method: Any, epsilon: Any, sensitivity: Any, monotone: Any) -> Noise:
    """The mechanism that costs exactly ε for scores that move by ``sensitivity``, as a whole number of steps of the grid."""
    if method not in METHODS:
        raise InvalidValue("method", method if isinstance(method, str) else type(method).__name__, "one of " + ", ".join(METHODS))
    moved = -(-positive(sensitivity, "sensitivity") // GRID) * GRID
    cost = exact_epsilon(epsilon)
    if not cost:
        raise InvalidValue("epsilon", epsilon, "greater than 0")
    if not isinstance(monotone, bool):
        raise InvalidValue("monotone", type(monotone).__name__, "True or False")
    return METHODS[method](moved * (1 if monotone else 2) / cost, GRID, monotone)


def noisy_max_of(noise: Any) -> Noise:
    """Report noisy max with this noise. Raises InvalidValue for noise of which no theorem is at hand."""
    if mechanism_of(noise).verb == NoisyMax.verb:
        noisy_max: Noise = noise
        return noisy_max
    if not isinstance(noise.size, Fraction) or noise.rate is None:
        raise InvalidValue(
            "noise", noise.name, "dp.Laplace(scale): the theorem of noisy max is about Laplace noise, one for all trials; with "
            "other noise release all scores and take the arg max of what the channel returns",
        )  # fmt: skip
    return NoisyMax(noise.size, noise.grid)


def score_units(scores: Any, grid: Fraction, trials: int | None) -> np.ndarray:
    """Scores in steps of the grid: (candidates,), or (trials, candidates). Raises InvalidValue without showing them."""
    units = to_units(unseal(scores) if isinstance(scores, Sealed) else scores, grid)
    if trials is not None and units.ndim == 1:
        units = np.broadcast_to(units, (trials, len(units)))
    wanted = 1 if trials is None else 2
    if units.ndim != wanted or not units.shape[-1] or (trials is not None and len(units) != trials):
        expected = "(candidates,)" if trials is None else f"(candidates,) or ({trials}, candidates)"
        raise InvalidValue("scores", f"shape {units.shape}", f"of shape {expected}: one score per candidate")
    return units


def one_sensitivity(sensitivity: Any) -> Fraction:
    """Selection has one sensitivity for all trials."""
    declared = declared_sensitivity(sensitivity, None)
    assert isinstance(declared, Fraction)
    return declared


def with_gap(asked: Asked, scores: Any, *, strict: bool) -> tuple[Asked, list[Finding]]:
    """The same call, charged for how far differences of scores are proven to move; findings where less was declared.

    Where the call says that all scores move one way, that must be proven; where it does not say so, the proof counts for noisy
    max alone, as its ε is nowhere declared. Raises NotOneWay at a strict door.
    """
    moves = dependence(scores) if isinstance(scores, Sealed) and asked.steps is not None else None
    if moves is None or isinstance(moves, Untraced) or asked.steps is None:
        return asked, []
    gap = moves.gap_steps(asked.noise.grid)
    if not getattr(asked.noise, "monotone", False):
        half = -(-gap // 2) if asked.noise.verb == "noisy_max" else asked.steps
        return replace(asked, steps=min(half, asked.steps)), []
    if gap <= asked.steps or asked.derived is None:
        return asked, []
    error = NotOneWay(asked.name)
    if strict:
        raise error
    return replace(asked, steps=gap), [Finding("DPA005", error.detail, caller(), asked.name)]


def threshold_units(threshold: Any, grid: Fraction, trials: int | None) -> np.ndarray:
    """A public threshold in steps of the grid, one or one per trial; an exact text by its value."""
    if isinstance(threshold, np.ndarray) and threshold.ndim:
        if threshold.shape != (trials,):
            raise InvalidValue("threshold", f"shape {threshold.shape}", "one number, or one per trial")
        return to_units(threshold, grid)
    number = threshold.item() if isinstance(threshold, np.generic | np.ndarray) else threshold
    units = math.floor(exact(number, "threshold") / grid + Fraction(1, 2))
    return np.asarray(min(max(units, -LARGEST), LARGEST))


def threshold_words(threshold: Fraction) -> dict[str, str]:
    """The note of a ledger."""
    return {"threshold": show(threshold)}
