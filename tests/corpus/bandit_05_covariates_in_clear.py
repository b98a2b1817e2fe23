"""Rewards get noise, contexts are handed to the server as they are, under a claim that covers a client's whole row.

Seen in public implementations of locally private linear bandits.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA002"), "repaired": ("certified", "")}
rows_3 = dp.replace_one(n=3, low=[-1, -1], high=[1, 1])  # a client's context and reward


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_3)
def bug(rows: Any, channel: Any) -> Any:
    channel.release("rewards", rows[:, 1].sum(), dp.Laplace(scale=2), sensitivity=2)
    return rows[:, 0]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_3)
def repaired(rows: Any, channel: Any) -> Any:
    return channel.release("rows", rows.sum(axis=0), dp.Laplace(scale=4), sensitivity=4)
