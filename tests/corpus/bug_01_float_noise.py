"""Laplace noise in floating point: its low bits tell what it was added to.

Mironov, "On significance of the least significant bits for differential privacy", 2012; diffprivlib issue 94, Opacus issue 616.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA006"), "repaired": ("certified", "")}
count = dp.replace_one(n=1, low=0, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=count)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return records.sum() + rng.laplace(scale=1, size=trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=count)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Laplace(scale=1), sensitivity=1)
