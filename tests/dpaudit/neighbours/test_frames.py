"""Neighbouring tables: subjects that take a frame are certified, refuted and deployed like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.neighbours.frames import Frames

BOUNDS = {"age": (0, 100), "income": (0, 1000, None), "city": ["Paris", "Rome", "Oslo"]}
N = 20


def subject(scale: float, neighbours: Any = None) -> Any:
    @dp.subject(claim=dp.Claim("1"), neighbours=neighbours or dp.replace_one(n=N, bounds=BOUNDS))
    def income_by_city(frame: Any, channel: Any) -> Any:
        grown = frame[frame["age"] >= 18]
        return channel.release("income", grown.groupby("city")["income"].sum(), dp.Laplace(scale), sensitivity=2000)

    return income_by_city


def test_a_group_by_is_certified_and_its_twin_with_half_the_noise_is_not() -> None:
    assert dp.audit(subject(2000), samples=200, seed=1).verdict == "certified"
    assert dp.audit(subject(500), samples=200, seed=1).verdict == "refuted"


def test_it_is_deployed_on_a_frame_of_pandas(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30.0] * N, "income": [500.0] * N, "city": ["Rome"] * N})
    with dp.open_ledger(tmp_path / "today.ledger") as ledger:
        noisy = subject(2000).deploy(ledger)(frame)
    assert noisy.shape == (3,)
    with dp.open_ledger(tmp_path / "other.ledger") as ledger, pytest.raises(InvalidValue, match="of 20"):
        subject(2000).deploy(ledger)(frame[:5])


@pytest.mark.parametrize("removal", [False, True])
def test_pairs_differ_in_one_record(removal: bool) -> None:
    relation = (dp.add_remove if removal else dp.replace_one)(n=N, bounds=BOUNDS)
    assert isinstance(relation, Frames)
    for first, second in relation.pairs(np.random.default_rng(0)):
        one, other = first.records(), second.records()
        if removal:
            assert len(one) == N
            assert any(one[:k] + one[k + 1 :] == other for k in range(N))
        else:
            assert sum(a != b for a, b in zip(one, other, strict=True)) <= 1


def test_bounds_exclude_other_declarations() -> None:
    with pytest.raises(InvalidValue):
        dp.replace_one(5, 0, 1, bounds=BOUNDS)
    with pytest.raises(InvalidValue):
        dp.replace_one(5, values=[1, 2], bounds=BOUNDS)
