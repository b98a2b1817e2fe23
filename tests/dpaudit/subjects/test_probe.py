"""Released values that notice when they decide something."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sealed import Sealed
from dpaudit.subjects.probe import PathWatch, Probe

LOOKS: dict[str, Callable[[Any], Any]] = {
    "branch": lambda p: bool(p[0] > 0),
    "any": lambda p: bool((p > 0).any()),
    "int": lambda p: int(p[0]),
    "float": lambda p: float(p[0]),
    "complex": lambda p: complex(p[0]),
    "round": lambda p: round(p[0]),
    "math": lambda p: math.floor(p[0]),
    "item": lambda p: p[0].item(),
    "tolist": lambda p: p.tolist(),
    "tobytes": lambda p: p.tobytes(),
    "memory": lambda p: p.data,
    "text": lambda p: str(p),
    "format": lambda p: f"{p[0]:.2f}",
    "array": lambda p: np.array(p),
    "array of entries": lambda p: np.array([p[0], p[1]]),
    "index": lambda p: [1, 2, 3, 4][np.argmax(p)],
    "range": lambda p: range(np.argmax(p)),
    "max": lambda p: max(p),
    "sorted": lambda p: sorted(p),
    "contains": lambda p: 3.0 in p,
    "array_equal": lambda p: np.array_equal(p, p),
    "out": lambda p: np.add(p, 1, out=np.zeros(3)),
    "out of a function": lambda p: np.median(p, out=np.zeros(())),
    "in place": lambda p: operator.iadd(np.zeros(3), p),
    "at": lambda p: np.add.at(np.zeros(3), [0, 1, 2], p),
    "copyto": lambda p: np.copyto(np.zeros(3), p),
    "assignment": lambda p: operator.setitem(np.zeros(3), slice(None), p),
    "function": lambda p: np.apply_along_axis(lambda v: v, 0, p),
    "scale": lambda p: dp.Laplace(abs(p[0]) + 1),
    "cohort size": lambda p: range(int(np.floor(p[0]))),
}

KEEPS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda p: 2 * p + 1 - p / 3,
    "comparison": lambda p: p > 0,
    "functions": lambda p: np.where(p > 0, np.sqrt(np.abs(p)), np.zeros(3)),
    "sort": np.sort,
    "argmax": np.argmax,
    "entries": lambda p: p[np.argmax(p)],
    "slices": lambda p: p[1:],
    "iteration": lambda p: sum(p),
    "sums": lambda p: p.sum() + p.mean() + np.median(p),
    "own entries": lambda p: operator.setitem(p, p < 0, 0.0),
    "in place": lambda p: operator.iadd(p, 1),
    "modf": lambda p: np.modf(p),
    "matmul": lambda p: np.eye(3) @ p,
    "copy": lambda p: copy.copy(p),
    "shape": lambda p: np.zeros(p.shape) + len(p) + p.ndim + p.size,
}


def probe() -> tuple[PathWatch, Probe]:
    watch = PathWatch()
    return watch, watch.observe(np.array([0.5, -0.5, 2.0]))


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_turning_a_released_value_into_plain_ones_is_noticed(look: Callable[[Any], Any]) -> None:
    watch, value = probe()
    look(value)
    assert watch.looked


@pytest.mark.parametrize("keep", KEEPS.values(), ids=KEEPS.keys())
def test_arithmetic_on_released_values_decides_nothing(keep: Callable[[Any], Any]) -> None:
    watch, value = probe()
    keep(value)
    assert not watch.looked


@pytest.mark.parametrize("keep", [k for name, k in KEEPS.items() if name not in ("own entries", "in place")])
def test_probed_arithmetic_gives_the_numbers_of_plain_arithmetic(keep: Callable[[Any], Any]) -> None:
    _, value = probe()
    assert np.array_equal(np.asarray(keep(value)), keep(np.array([0.5, -0.5, 2.0])))


def test_a_sum_of_released_and_sealed_data_stays_sealed() -> None:
    _, value = probe()
    sealed = dp.seal([0.1, 0.2, 0.3], 0, 1)
    assert isinstance(value + sealed, Sealed)
    assert isinstance(sealed - value, Sealed)


MEETINGS: dict[str, Callable[[Any, Any], Any]] = {
    "times": lambda p, x: p * x,
    "by": lambda p, x: x * p,
    "at": lambda p, x: x @ p,
    "dot": lambda p, x: np.dot(p, x),
    "clip": lambda p, x: x.clip(-abs(p), abs(p)),
    "shift, then clip": lambda p, x: (x - p).clip(0, 1),
    "where": lambda p, x: np.where(p > 0, x, 0.0),
    "stack": lambda p, x: np.stack([p, x]),
    "bins": lambda p, x: np.histogram(x, bins=np.sort(p)),
    "places": lambda p, x: x[np.argsort(p)],
    "groups": lambda p, x: np.bincount(np.argsort(p), weights=x),
}


@pytest.mark.parametrize("meet", MEETINGS.values(), ids=MEETINGS.keys())
def test_a_released_value_that_meets_private_data_is_noticed(meet: Callable[[Any, Any], Any]) -> None:
    """It may decide the sensitivity of the next release, and so its cost."""
    watch, value = probe()
    meet(value, dp.seal([0.1, 0.2, 0.3], 0, 1))
    assert watch.looked
