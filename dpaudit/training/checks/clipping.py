"""The clipped sum that was used against the one that is recomputed from the gradients of each sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpaudit.training.checks.result import CheckResult

CLIPPING = "clipping"
TOLERANCE = 1e-3  # of clip × batch: 32-bit sums of a thousand gradients differ by 3e-5 of it


class ClippingCheck:
    """Holds the largest gap of any batch, as a multiple of what rounding allows, and the largest norm that was clipped."""

    def __init__(self) -> None:
        self.gap, self.allowed, self.batches, self.samples, self.longest = 0.0, 1.0, 0, 0, 0.0

    def add(self, samples: Sequence[Any], before: Sequence[Any], after: Sequence[Any], norms: Sequence[float]) -> None:
        """Per-sample gradients of each parameter, the sums before and after; ``norms``: one for all, or one per parameter."""
        size = len(samples[0])
        if not size:
            return
        lengths = _lengths(samples, len(norms) > 1)
        gap = 0.0
        for place, gradient in enumerate(samples):
            clip, length = (norms[place], lengths[place]) if len(norms) > 1 else (norms[0], lengths[0])
            expected = (clip / length.clamp(min=clip)) @ gradient.reshape(size, -1)
            used = after[place] if before[place] is None else after[place] - before[place]
            gap += float((used.reshape(-1) - expected).norm()) ** 2
        total = math.sqrt(sum(norm**2 for norm in norms))
        gap, allowed = math.sqrt(gap), TOLERANCE * total * size
        if self.batches == 0 or gap / allowed > self.gap / self.allowed:
            self.gap, self.allowed = gap, allowed
        self.batches, self.samples = self.batches + 1, self.samples + size
        self.longest = max(self.longest, *(float(length.max()) / norm for length, norm in zip(lengths, norms, strict=True)))

    def result(self) -> CheckResult:
        if not self.batches:
            return CheckResult.not_run(CLIPPING, "DPA003", "no batch with a sample was seen")
        message = f"the clipped sum differs from the recomputed one by {self.gap:.3g} (allowed {self.allowed:.3g}), "
        message += f"{self.samples:,} gradients in {self.batches} batches, the longest {self.longest:.3g} times the norm"
        return CheckResult.by_gap(CLIPPING, "DPA003", self.gap, self.allowed, message)


def _lengths(samples: Sequence[Any], each: bool) -> list[Any]:
    """The norms of every sample's gradient: of each parameter, or of all together."""
    lengths = [gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in samples]
    if each:
        return lengths
    squares = [length.square() for length in lengths]
    return [sum(squares[1:], squares[0]).sqrt()]
