"""The first half of an array is changed in place through a view, once too often: sealed data keeps the array as it was.

A trace alone would see a sum that one record moves by 1; on plain data it moves by 3.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA002"), "repaired": ("certified", "")}
bits_6 = dp.replace_one(n=6, values=[0, 1])


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=bits_6)
def bug(bits: Any, channel: Any) -> Any:
    counts = bits.copy()
    folded = counts[:3]
    folded += counts[3:]
    folded += counts[3:]
    return channel.release("sum", counts.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=bits_6)
def repaired(bits: Any, channel: Any) -> Any:
    folded = bits[:3]
    folded += bits[3:]
    return channel.release("sum", folded.sum(), dp.Laplace(scale=1), sensitivity=1)
