"""The Gaussian mechanism's σ = Δ√(2 log(1.25/δ))/ε without its 2: too little at ε = 4 and δ = 10^-2.

Seen in a public implementation of locally private LinUCB (a comment has the 2, the code has not).
"""

from __future__ import annotations

import math
from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
claim = dp.Claim(epsilon="4", delta="0.01")
reward_1 = dp.replace_one(n=1, low=-1, high=1)
SHORT, WHOLE = (dp.Gaussian(sigma=round(2 * math.sqrt(factor * math.log(1.25 / 0.01)) / 4, 3)) for factor in (1, 2))


@dp.subject(claim=claim, neighbours=reward_1, plan=[("xy", SHORT, 2)])
def bug(rewards: Any, channel: Any) -> Any:
    return channel.release("xy", rewards.sum(), SHORT, sensitivity=2)


@dp.subject(claim=claim, neighbours=reward_1, plan=[("xy", WHOLE, 2)])
def repaired(rewards: Any, channel: Any) -> Any:
    return channel.release("xy", rewards.sum(), WHOLE, sensitivity=2)
