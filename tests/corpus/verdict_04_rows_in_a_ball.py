"""Rows are clipped coordinate by coordinate, and noise is for rows of L2 norm 1: a corner of the cube lies √3 away."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", ""), "repaired_numpy": ("certified", "")}
claim = dp.Claim(epsilon="1", delta="1e-5")
rows_4 = dp.replace_one(n=4, low=[-2, -2, -2], high=[2, 2, 2])
noise = dp.Gaussian(sigma=8)


@dp.subject(claim=claim, neighbours=rows_4)
def bug(rows: Any, channel: Any) -> Any:
    return channel.release("sums", np.clip(rows, -1, 1).sum(axis=0), noise, sensitivity=2)


@dp.subject(claim=claim, neighbours=rows_4, plan=[("sums", noise, 2)])
def repaired(rows: Any, channel: Any) -> Any:
    return channel.release("sums", dp.clip_rows(rows, 1).sum(axis=0), noise, sensitivity=2)


@dp.subject(claim=claim, neighbours=rows_4, plan=[("sums", noise, "2.001")])
def repaired_numpy(rows: Any, channel: Any) -> Any:
    """Not on the grid: rounding is charged, for which the declared sensitivity leaves room."""
    clipped = rows / np.maximum(1, np.sqrt(np.square(rows).sum(axis=1, keepdims=True)))
    return channel.release("sums", clipped.sum(axis=0), noise, sensitivity=2.001)
