"""Noise for the mean of a batch, added to its sum: the sensitivity is off by the size of the batch.

Tramèr et al., "Debugging differential privacy: a case study for privacy auditing", 2022.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
BATCH = 64
gradients = dp.replace_one(n=BATCH, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=gradients)
def bug(clipped: Any, channel: Any) -> Any:
    return channel.release("gradient", clipped.sum(), dp.Laplace(scale=2 / BATCH), sensitivity=2 / BATCH)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=gradients)
def repaired(clipped: Any, channel: Any) -> Any:
    return channel.release("gradient", clipped.mean(), dp.Laplace(scale=2 / BATCH), sensitivity=2 / BATCH)
