"""Algorithm 1 of the paper: Lap(1/ε) for sums of rewards in [−1, 1], which one reward moves by 2."""

from __future__ import annotations

import algorithms

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
bug = algorithms.central(epsilon="1", horizon=1000, calibration="printed")
repaired = algorithms.central(epsilon="1", horizon=1000, calibration="corrected")
