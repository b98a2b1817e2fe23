"""Outputs as cells: whatever differs has other cells, the same number in another width has the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs.output_cells import Kind, cells

ONE = dp.replace_one(n=1, low=0, high=1)


def payload(number: int) -> np.float64:
    """NaN whose last bits say something."""
    return (np.array([np.nan]).view(np.uint64) + np.uint64(number)).view(np.float64)[0]


DISTINCT: list[Any] = [
    0, 1, 2.5, "a", "b", "", b"c", None, (1, 2), (2, 1), (1, "a"), (1, None), ("a", 1), (), np.arange(3), np.arange(4),
    np.zeros((2, 2)), [1, [2, "x"]], [1, [3, "x"]], True, float("nan"), float("inf"), np.array(["u", "v"]),
    0.0, -0.0, 2**53, 2**53 + 1, 2**70, 2**70 + 1, 10**400, b"a", np.zeros((2, 3)), np.zeros((3, 2)), np.array([0.0, 1.0]),
    (1.0,), np.array([1.0, 0.0]), [1], (1,), ((1, 2), 3.0), (1, (2, 3.0)), [], (0.0, -0.0), (-0.0, 0.0),
    np.array([0.0, -0.0, 0.0]), np.array([0.0, 0.0, -0.0]), np.array([2**62]), np.array([2**62 + 1]),
    (1, [2**53]), (1, [2**53 + 1]),
    "\ud800", {"a": 1}, {"a": 2}, {"b": 1}, {1: 1}, {"1": 1}, {}, {1, 2}, {1, 3}, set(), "1.5", "1.50",
    {"a": None}, {"a": [1, 2]}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, np.int32(3), np.arange(3, dtype=np.int32),
    np.zeros(2), np.zeros(2, np.float32), np.float32(1.5), payload(1), payload(2), np.array([payload(1)]),
    np.array([payload(2)]),
]  # fmt: skip


def test_different_outputs_have_different_cells() -> None:
    rows = {tuple(cells(value).tolist()) for value in DISTINCT}
    assert len(rows) == len(DISTINCT)
    assert all(len(row) % 3 == 0 and all(row[1::3]) and all(row[0::3]) for row in rows)


ALIKE = [
    (1.5, np.float64(1.5)), (3, np.int64(3)), (np.nan, np.float64("nan")), (True, np.bool_(True)),
    ({"a": 1, "b": 2}, {"a": np.int64(1), "b": 2}), ({1, 2}, frozenset({2, 1})), ("x", np.str_("x")),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_numpys_names_for_what_python_returns_have_the_same_cells(one: Any, other: Any) -> None:
    assert sorted(cells(one).reshape(-1, 3).tolist()) == sorted(cells(other).reshape(-1, 3).tolist())


def test_a_text_is_read_by_checksum_by_length_and_as_a_number() -> None:
    kinds = cells("1.5").reshape(-1, 3)[:, 1].tolist()
    assert kinds == [Kind.TEXT, Kind.LENGTH, Kind.FLOAT]
    assert cells("1.5").reshape(-1, 3)[2, 2] == 1.5
    assert cells("one").reshape(-1, 3)[:, 1].tolist() == [Kind.TEXT, Kind.LENGTH]
    assert np.isfinite(cells(["nan", float("inf"), -0.0, 10**400, None])).all()


def test_one_part_keeps_its_place_whatever_the_others_are() -> None:
    places = [dict(zip(row[0::3], row[2::3], strict=True)) for row in map(cells, ({"a": 7.0}, {"b": 1.0, "a": 8.0}))]
    shared = places[0].keys() & places[1].keys()
    assert {(places[0][key], places[1][key]) for key in shared} == {(7.0, 8.0), (1.0, 2.0), (0.0, 0.0)}  # value, length, kind


@pytest.mark.parametrize("value", [object(), {"a": object()}, 1j, np.array([object()]), [1, {2j}]])
def test_what_no_subject_may_return_is_refused_by_its_type(value: Any) -> None:
    with pytest.raises(dp.DpauditError, match="may return numbers, texts, bytes, None, arrays"):
        cells(value)


LEAKS: list[Any] = [
    (-0.0, 0.0), (2**53, 2**53 + 1), (True, 1), (b"a", "a"), (np.zeros((2, 3)), np.zeros((3, 2))), (None, np.array([0.0, 1.0])),
    ((1.0,), np.array([1.0, 0.0])), ([1], (1,)), ({"a": 1}, {"b": 1}), ({1, 2}, {1, 3}), ("1.5", "1.50"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), LEAKS)
def test_a_leak_by_type_shape_sign_or_last_digit_is_refuted(one: Any, other: Any) -> None:
    """Its twin returns the one or the other by a coin of its own; error 10^-6."""

    def leak(data: Any, rng: Any) -> Any:
        return one if data[0] > 0.5 else other

    def coin(data: Any, rng: Any) -> Any:
        return one if rng.random() < 0.5 else other

    verdicts = [dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=ONE)(f), samples=200, seed=1) for f in (leak, coin)]
    assert [str(verdict.verdict) for verdict in verdicts] == ["refuted", "unproven"]
