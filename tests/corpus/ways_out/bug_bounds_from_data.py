"""Data is sealed with its own least and largest value: the sensitivity that follows is that of this data alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {
    "bug": ("unproven", "DPA002"),
    "bug_of_sealed_data": ("unproven", "DPA002"),
    "bug_constant_bounds": ("unproven", ""),
    "repaired": ("certified", ""),
}
claim = dp.Claim(epsilon="1")
ages = np.array([20.0, 30.0, 40.0])
pairs = [(ages, np.array([20.0, 30.0, 90.0])), (ages, np.array([21.0, 30.0, 40.0]))]


@dp.subject(claim=claim, neighbours=pairs)
def bug(values: Any, channel: Any) -> Any:
    sealed = dp.seal(values, values.min(), values.max())
    return channel.release("sum", sealed.sum(), dp.Laplace(scale=100), sensitivity=100)


@dp.subject(claim=claim, neighbours=dp.replace_one(n=3, low=0, high=100))
def bug_of_sealed_data(values: Any, channel: Any) -> Any:
    sealed = dp.seal(values, values.min(), values.max() + 1)
    return channel.release("sum", sealed.sum(), dp.Laplace(scale=101), sensitivity=101)


@dp.subject(claim=claim, neighbours=pairs)
def bug_constant_bounds(values: Any, channel: Any) -> Any:
    """Nothing says that the data keeps to these bounds in a deployment: the pairs give none."""
    return channel.release("sum", dp.seal(values, 0, 100).sum(), dp.Laplace(scale=100), sensitivity=100)


@dp.subject(claim=claim, neighbours=dp.replace_one(n=3, low=0, high=100))
def repaired(values: Any, channel: Any) -> Any:
    return channel.release("sum", values.sum(), dp.Laplace(scale=100), sensitivity=100)
