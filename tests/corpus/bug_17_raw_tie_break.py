"""The winner of a noisy vote; when two are level, the raw counts decide."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA002"), "repaired": ("certified", "")}
votes = dp.replace_one(n=4, low=0, high=1)  # the first two may vote for A, the others for B


def noisy_counts(records: Any, channel: Any) -> Any:
    a = channel.release("A", records[:2].sum(), dp.Laplace(scale=1, grid=1), sensitivity=1)
    b = channel.release("B", records[2:].sum(), dp.Laplace(scale=1, grid=1), sensitivity=1)
    return a, b


@dp.subject(claim=dp.Claim(epsilon="1", observer="actions"), neighbours=votes)
def bug(records: Any, channel: Any, trials: Any) -> Any:
    a, b = noisy_counts(records, channel)
    return np.where(a == b, records[:2].sum() > records[2:].sum(), a > b)


@dp.subject(claim=dp.Claim(epsilon="1", observer="actions"), neighbours=votes)
def repaired(records: Any, channel: Any, trials: Any) -> Any:
    a, b = noisy_counts(records, channel)
    return a >= b
