"""LinUCB's sums x·y of d coordinates get Laplace noise for one number: the L1 sensitivity of the vector is ignored.

Seen in public implementations of private LinUCB: scale log₂T/ε for each node, whatever d is.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
DIMENSION = 4
rows_5 = dp.replace_one(n=5, low=[-1] * DIMENSION, high=[1] * DIMENSION)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_5)
def bug(products: Any, channel: Any) -> Any:
    return channel.release("sum of xy", products.sum(axis=0), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_5)
def repaired(products: Any, channel: Any) -> Any:
    return channel.release("sum of xy", products.sum(axis=0), dp.Laplace(scale=2 * DIMENSION), sensitivity=2 * DIMENSION)
