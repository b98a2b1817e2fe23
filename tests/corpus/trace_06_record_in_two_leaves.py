"""Running sums of pairs of rounds: a record is in two values of the stream, and its tree declares one."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
ROUNDS, LEVELS = 8, 4
rewards_8 = dp.replace_one(n=ROUNDS, low=0, high=1)


def pairs(rewards: Any, channel: Any, scale: int, sensitivity: int) -> Any:
    tree = channel.tree("pairs", steps=ROUNDS, noise=dp.Laplace(scale), sensitivity=sensitivity)
    return [tree.add(rewards[max(end - 1, 0) : end + 1].sum()) for end in range(ROUNDS)]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def bug(rewards: Any, channel: Any) -> Any:
    return pairs(rewards, channel, LEVELS, 1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def repaired(rewards: Any, channel: Any) -> Any:
    return pairs(rewards, channel, 2 * LEVELS, 2)
