"""A tree over T = 8 rewards with noise for log₂T = 3 levels: where T is a power of two there is one level more, the root.

Seen in public implementations of tree aggregation for bandits (⌈log₂T⌉ in place of ⌈log₂T⌉ + 1).
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
ROUNDS, LEVELS = 8, 3
rewards_8 = dp.replace_one(n=ROUNDS, low=-1, high=1)


def running_sums(rewards: Any, channel: Any, accounted: int) -> Any:
    """All dyadic nodes, root included, each with its share of ε among the levels that were counted."""
    for level in range(LEVELS + 1):
        for start in range(0, ROUNDS, 2**level):
            node = rewards[start : start + 2**level].sum()
            channel.release(f"node {level}, {start}", node, dp.Laplace(scale=2 * accounted), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def bug(rewards: Any, channel: Any) -> Any:
    running_sums(rewards, channel, LEVELS)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_8)
def repaired(rewards: Any, channel: Any) -> Any:
    running_sums(rewards, channel, LEVELS + 1)
