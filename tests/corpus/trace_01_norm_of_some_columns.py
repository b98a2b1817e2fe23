"""Rows are divided by the norm of their first columns, and the others go on without a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", ""), "repaired_numpy": ("certified", "")}
rows_5 = dp.replace_one(n=5, low=[-1, -1, -1], high=[1, 1, 1])


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_5)
def bug(rows: Any, channel: Any) -> Any:
    clipped = rows / np.maximum(1, np.abs(rows[:, :2]).sum(axis=1, keepdims=True))
    return channel.release("sums", clipped.sum(axis=0), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_5)
def repaired(rows: Any, channel: Any) -> Any:
    clipped = dp.clip_rows(rows, 1, order=1)
    return channel.release("sums", clipped.sum(axis=0), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rows_5)
def repaired_numpy(rows: Any, channel: Any) -> Any:
    """Not on the grid: rounding is charged, and the scale is larger by that."""
    clipped = rows / np.maximum(1, np.abs(rows).sum(axis=1, keepdims=True))
    return channel.release("sums", clipped.sum(axis=0), dp.Laplace(scale="2.00001"), sensitivity=2)
