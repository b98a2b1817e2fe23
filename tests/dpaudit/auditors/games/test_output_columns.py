"""Columns fixed by training: tables of numbers and rows of cells."""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.games.output_columns import Columns, ordered
from dpaudit.auditors.runs.output_cells import Kind, cells


def stacked(*outputs: object) -> np.ndarray:
    rows = [cells(output) for output in outputs]
    table = np.zeros((len(rows), max(map(len, rows))))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def test_columns_of_numbers_are_those_of_training_whatever_comes_later() -> None:
    columns = Columns.of(np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 3.0]]), of_cells=False)
    infinite, missing = float(Kind.INFINITY), float(Kind.FLOAT)
    assert columns(np.array([[7.0, 6.0, np.inf, 9.0]])).tolist() == [[7, 0, infinite]]
    assert columns(np.array([[7.0]])).tolist() == [[7, 0, missing]]
    assert columns(np.array([[np.nan, 0.0, 0.0]])).tolist() == [[0, 0, missing]]


def test_cells_go_to_the_column_of_their_path_and_unknown_ones_are_counted() -> None:
    training = stacked({"a": 1.0, "b": 2}, {"a": 3.0}, {"a": None, "b": 5})
    columns = Columns.of(training, of_cells=True)
    known = columns.parts(training)
    assert (known.numbers[:, -1] == 0).all()
    later = columns.parts(stacked({"b": 9, "c": 4.0, "d": "text"}, {"a": 8.0, "b": 9}))
    assert [9.0, 9.0] in later.numbers.T.tolist()
    assert later.numbers[:, -1].tolist() == [3.0, 0.0]  # c, d and the length of a text


def test_what_is_missing_or_odd_is_no_number() -> None:
    rows = stacked((1.0, None), (float("nan"), 2.0), (3.0,))
    parts = Columns.of(rows, of_cells=True).parts(rows)
    numbers = np.where(ordered(parts), parts.numbers, np.nan)
    columns = {tuple(column.tolist()) for column in numbers.T}
    assert any(column[0] == 1.0 and np.isnan(column[1]) and column[2] == 3.0 for column in columns)
    assert any(np.isnan(column[0]) and column[1] == 2.0 and np.isnan(column[2]) for column in columns)
