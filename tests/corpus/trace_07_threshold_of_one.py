"""Words are shown from a noisy count on that lets those of one person pass too often."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
words = dp.add_remove(n=1, values=[3, 5])
claim = dp.Claim(epsilon="1", delta="0.01")


@dp.subject(claim=claim, neighbours=words)
def bug(keys: Any, rng: Any, trials: Any) -> Any:
    noisy = len(keys) + rng.geometric(1 - 1 / 2.718, trials) - rng.geometric(1 - 1 / 2.718, trials)
    return (noisy >= 3) * (len(keys) > 0)


@dp.subject(claim=claim, neighbours=words)
def repaired(keys: Any, channel: Any) -> Any:
    return len(channel.threshold_counts("words", keys, epsilon="1", delta="0.01"))
