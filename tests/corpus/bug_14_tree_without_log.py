"""A binary tree of noisy sums: each record is in one node per level, so the noise needs a factor log₂ T + 1. It is missing.

Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
ROUNDS, LEVELS = 8, 4
rewards_8 = dp.replace_one(n=ROUNDS, low=0, high=1)


def tree(rewards: Any, channel: Any, scale: int) -> Any:
    return [
        channel.release(f"{start}:{start + 2**level}", rewards[start : start + 2**level].sum(), dp.Laplace(scale), sensitivity=1)
        for level in range(LEVELS)
        for start in range(0, ROUNDS, 2**level)
    ]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def bug(rewards: Any, channel: Any) -> Any:
    return tree(rewards, channel, 1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def repaired(rewards: Any, channel: Any) -> Any:
    return tree(rewards, channel, LEVELS)
