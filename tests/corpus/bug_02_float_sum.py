"""A sum in floating point: one record changes how all later ones are rounded, and moves the sum by more than itself.

Casacuberta, Shoemate, Vadhan, Wagaman, "Widespread underestimation of sensitivity in differentially private libraries", 2022;
OpenDP issue 2923. Half precision shows with 1,500 records what double precision shows with many more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
records_1500 = dp.replace_one(n=1500, low=0, high=3)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_1500)
def bug(records: Any, channel: Any) -> Any:
    running = np.add.accumulate(records.astype(np.float16))
    return channel.release("sum", running[-1], dp.Laplace(scale=3), sensitivity=3)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_1500)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Laplace(scale=3), sensitivity=3)
