"""Algorithm 3 of the paper: ε0 from the formula of Feldman, McMillan and Talwar 2021, also where their theorem does not hold.

Rewards in [0, 1], so that the sensitivity 1 of the printed algorithm is right and the formula is all that is wrong.
"""

from __future__ import annotations

import algorithms

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
setting = {"epsilon": "5", "delta": "1e-6", "horizon": 3000, "low": 0, "high": 1}
bug = algorithms.shuffled(**setting, calibration="printed")
repaired = algorithms.shuffled(**setting, calibration="corrected")
