"""The privacy losses of an audit's own runs, counted in bins, so that a report can draw them. No bound rests on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit.claims import Losses

BINS = 45  # odd, so that no loss at all is in the middle of a bin; nine groups of five for a text
_TAIL = 0.999  # of the losses lie within the bins


@dataclass(frozen=True)
class Frame:
    """Bins from −span to span, and how a score reads as a loss."""

    span: float
    intercept: float = 0.0
    slope: float = 1.0

    @classmethod
    def around(cls, scores: np.ndarray, intercept: float = 0.0, slope: float = 1.0) -> Frame:
        """For losses such as these; those far out in the tails are left to the outermost bins."""
        sizes = np.abs(intercept + slope * scores)
        sizes = sizes[np.isfinite(sizes)]
        span = float(np.quantile(sizes, _TAIL)) if len(sizes) else 0.0
        return cls(1.02 * span if span > 1e-9 else 1.0, intercept, slope)

    def count(self, scores: np.ndarray) -> np.ndarray:
        losses = np.clip(np.nan_to_num(self.intercept + self.slope * scores), -self.span, self.span)
        places = np.floor((losses + self.span) * (BINS / (2 * self.span))).astype(np.int64)
        return np.bincount(np.minimum(places, BINS - 1), minlength=BINS)

    def losses(self, data: np.ndarray, neighbour: np.ndarray, score: str) -> Losses:
        """From the counts of both data sets."""
        return Losses(-self.span, self.span, tuple(data.tolist()), tuple(neighbour.tolist()), score)
