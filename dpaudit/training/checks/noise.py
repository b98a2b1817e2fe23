"""The noise that was added against the noise that is claimed, and noise that was added before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scipy.stats import chi2

from dpaudit.training.checks.result import CheckResult

NOISE, SEED = "noise", "generator"
_WORDS, _FEWEST = 16, 4  # numbers of a step's noise that tell it from any other
_STEP = 1000  # parts of a deviation: rounding moves the noise by less, and sixteen numbers seldom agree so closely by chance


class NoiseCheck:
    """Σ(noise/σC)² over all coordinates and steps is χ² with as many degrees of freedom, whatever the data."""

    def __init__(self) -> None:
        self.squares, self.count, self.steps = 0.0, 0, 0
        self.marks: set[bytes] = set()
        self.repeated = 0

    def add(self, noises: Iterable[Any], deviation: float) -> None:
        """What was added to each parameter's summed gradient in one step."""
        mark = b""
        for noise in noises:
            flat = noise.detach().double().reshape(-1) / deviation
            self.squares += float(flat @ flat)
            self.count += flat.numel()
            if len(mark) < 8 * _WORDS:
                mark += (flat[:_WORDS] * _STEP).floor().long().cpu().numpy().tobytes()
        self.steps += 1
        self.repeated += mark in self.marks
        self.marks.add(mark)

    def result(self) -> CheckResult:
        if not self.count:
            return CheckResult.not_run(NOISE, "DPA005", "no step was made")
        lower, upper = chi2.cdf(self.squares, self.count), chi2.sf(self.squares, self.count)
        found = (self.squares / self.count) ** 0.5
        p_value = float(min(1.0, 2 * min(lower, upper)))
        return CheckResult.by_chance(
            NOISE, "DPA005", p_value, f"its deviation is {found:.4f} times the claimed one, over {self.count:,} draws"
        )

    def generator_result(self, others: Iterable[NoiseCheck] = ()) -> CheckResult:
        """Equal noise in two steps, or in two trainings, is no noise: their difference shows the gradients."""
        if self.count < _FEWEST * max(self.steps, 1):
            return CheckResult.not_run(SEED, "DPA005", "no step was made, or its noise has too few numbers to tell it by")
        shared = sum(len(self.marks & other.marks) for other in others)
        again = self.repeated + shared
        message = "no step's noise was used before"
        if again:
            where = "of another training" if shared else "of this training"
            message = f"{again} of {self.steps} steps use the noise of another step {where}: a generator was seeded alike"
        return CheckResult.by_gap(SEED, "DPA005", again, 0, message)
