"""The widths that the algorithms use, asked for one situation: so that what is proven is what runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.elimination.confidence import Calibration, Model, Situation, widths


def code_width(
    model: Model,
    calibration: Calibration,
    *,
    power: float,
    horizon: int,
    size: int,
    counts: Sequence[int],
    coefficients: Sequence[float],
    scale: float,
    rank: int = 1,
    dim: int = 1,
    batches: int = 1,
    norm: float | None = None,
) -> float:
    """γ of one action whose estimate has these coefficients on the pulled actions, ``size`` actions being active; rewards ±1.

    ``norm`` is ‖α‖² in V⁻¹, Σ_k n_k l_k² when not given; ``scale`` the Laplace scale, 0 without noise.
    """
    levers, pulls = np.asarray(coefficients, dtype=float), np.asarray(counts, dtype=np.int64)
    one = np.array([float((pulls * levers**2).sum()) if norm is None else norm])
    every = np.broadcast_to(levers[None, :, None], (1, len(levers), size))
    at = Situation(
        power, horizon, batches, dim, 2.0, np.ones((1, size), bool), np.array([rank]), np.array([len(levers)]), pulls[None, :],
        every, np.broadcast_to(one[:, None], (1, size)), np.array([scale]), np.array([1 / scale if scale else np.inf]),
    )  # fmt: skip
    return float(widths(model, calibration, at)[0, 0])
