"""Noise for a matrix of squares is scaled to the rows' norm L̃ in place of L̃²: too little where rows are longer than 1.

Seen in public implementations of Shariff and Sheffet's Wishart mechanism.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
LENGTH = 3
values_5 = dp.replace_one(n=5, low=-LENGTH, high=LENGTH)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=values_5)
def bug(values: Any, channel: Any) -> Any:
    return channel.release("squares", (values * values).sum(), dp.Laplace(scale=LENGTH), sensitivity=LENGTH)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=values_5)
def repaired(values: Any, channel: Any) -> Any:
    return channel.release("squares", (values * values).sum(), dp.Laplace(scale=LENGTH**2), sensitivity=LENGTH**2)
