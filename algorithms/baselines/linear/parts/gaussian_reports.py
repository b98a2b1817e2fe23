"""Clients' reports of xy with Gaussian noise: what leaves them in the local systems.

In the case of one context, x is public and the report's coordinate along x is all that depends on the reward: |x|·y + N(0,
σ²), or y + N(0, (σ/|x|)²) for the door. Across x a report is noise alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.clients import BatchRecords
from algorithms.elimination.pulls import Pulls

_LEAST_NORM = 2.0**-10  # a shorter action teaches nothing next to the noise


def sums_of_reports(
    channel: Any, rewards: Any, pulls: Pulls, block: int, sigma: float, points: np.ndarray, to: str
) -> np.ndarray:
    """Σ (y + N(0, (σ/|x|)²)) over the clients of each trial's block."""
    norms = np.maximum(np.linalg.norm(points, axis=1), _LEAST_NORM)
    sizes = sigma / norms
    noise = dp.Gaussian(Fraction(float(sizes[0])) if (sizes == sizes[0]).all() else sizes)
    records = BatchRecords(rewards, pulls)
    reports = channel.reports(f"block {block}", records, noise, sensitivity=2, cohort=pulls.cohort(), to=to)
    return np.ravel(np.asarray(reports.sum()))
