"""SmartNoise SQL: queries over a table with bounds, with the ε and δ that ``get_privacy_cost`` states for each (δ rounded up).

A query groups many copies of the same records, each copy a group of its own: every group is one run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from case import Case

GROUPS = 1000
VALUES = [5, 2, 4, 6, 8, 3, 7, 1, 9, 10]
REMOVED = (VALUES, VALUES[:-1])
FEW = ([10], [])
ROWS = "one row added or removed (row_privacy)"
PEOPLE = "one person added or removed"
MANY = ([(person, value) for person, value in enumerate(VALUES)], [(person, value) for person, value in enumerate(VALUES[:-1])])
OFTEN = ([*MANY[1], *[(9, 10)] * 5], MANY[1])  # the person in question has five rows
COLUMNS = {
    "x": {"type": "float", "lower": 0.0, "upper": 10.0}, "k": {"type": "int", "lower": 0, "upper": 10}, "g": {"type": "int"},
}  # fmt: skip


def reader(records: Sequence[Any], table: dict[str, Any], gaussian: bool) -> Any:
    """A private connection to ``GROUPS`` copies of these records."""
    import pandas as pd
    import snsql

    people = [each if isinstance(each, tuple) else (person, each) for person, each in enumerate(records)]
    rows = [(group, 100 * group + person, float(value), value) for group in range(GROUPS) for person, value in people]
    empty = [(GROUPS, 100 * GROUPS, 0.0, 0)]  # so that a table of no records has its columns
    frame = pd.DataFrame(rows or empty, columns=["g", "person", "x", "k"])
    private = {"person": {"type": "int", "private_id": not table.get("row_privacy", False)}}
    privacy = snsql.Privacy(epsilon=1.0, delta=0.01)
    if gaussian:
        for statistic in (snsql.Stat.count, snsql.Stat.sum_int, snsql.Stat.sum_float):
            privacy.mechanisms.map[statistic] = snsql.Mechanism.gaussian
    return snsql.from_df(frame, privacy=privacy, metadata={"": {"s": {"t": {**table, **COLUMNS, **private}}}})


def query(columns: str, gaussian: bool = False, **table: Any) -> Callable[[Any], Any]:
    """Runs of ``SELECT columns``: one group each. A group that is not answered is one without a number."""

    @cache
    def connection(side: str) -> Any:
        return reader(sides[side], table, gaussian)

    sides: dict[str, Any] = {}

    def call(records: Any) -> Any:
        sides[repr(records)] = records
        answered = connection(repr(records)).execute(f"SELECT g, {columns} FROM s.t GROUP BY g")[1:]
        found = {row[0]: [1.0, *(float(cell or 0) for cell in row[1:])] for row in answered}
        width = 1 + columns.count(" AS ")
        return [found.get(group, [0.0] * width) for group in range(GROUPS)]

    return call


OPEN: dict[str, Any] = {"censor_dims": False, "clamp_counts": False}
BY_ROW: dict[str, Any] = {"row_privacy": True, **OPEN}
BY_PERSON: dict[str, Any] = {"row_privacy": False, "max_ids": 1, **OPEN}


def rows(columns: str, epsilon: str = "1", delta: str = "0.015", name: str = "", **table: Any) -> Case:
    """A query in which each row is a person's only one."""
    settings = {**BY_ROW, **table}
    return Case(name or columns.split(" AS ")[0], query(columns, **settings), REMOVED, epsilon, delta, ROWS, GROUPS)


def bounds(records: Any) -> Any:
    from snsql.sql._mechanisms.approx_bounds import approx_bounds

    return [[number if number is not None else -1.0 for number in approx_bounds(records, 1.0)] for _ in range(10)]


CASES = [
    rows("COUNT(*) AS n"),
    rows("COUNT(x) AS n"),
    rows("COUNT(DISTINCT k) AS n"),
    rows("SUM(x) AS n"),
    rows("SUM(k) AS n"),
    rows("AVG(x) AS n", "2"),
    rows("VAR(x) AS n", "3"),
    rows("VARIANCE(k) AS n", "3", name="VARIANCE(k), integers"),
    rows("STDDEV(x) AS n", "3"),
    rows("SUM(x) / COUNT(*) AS n", "2"),
    rows("SQRT(SUM(x)) AS n"),
    rows("COUNT(*) AS n, SUM(x) AS m", "2", name="COUNT(*), SUM(x)"),
    rows("COUNT(*) AS n", name="COUNT(*), clamp_counts", clamp_counts=True),
    rows("SUM(x) AS n", name="SUM(x), clamp_columns", clamp_columns=True),
    rows("COUNT(*) AS n", name="COUNT(*), Gaussian", gaussian=True),
    rows("SUM(x) AS n", name="SUM(x), Gaussian", gaussian=True),
    rows("SUM(k) AS n", name="SUM(k), Gaussian", gaussian=True),
    Case(
        "COUNT(*), censor_dims", query("COUNT(*) AS n", row_privacy=True, censor_dims=True), FEW, "1", "0.015", ROWS, GROUPS,
    ),
    Case(
        "COUNT(DISTINCT person), censor_dims", query("COUNT(DISTINCT person) AS n", max_ids=1, censor_dims=True), FEW, "1",
        "0.015", PEOPLE, GROUPS,
    ),
    *(
        Case(f"{column}, by person", query(f"{column} AS n", **BY_PERSON), MANY, epsilon, "0.015", PEOPLE, GROUPS)
        for column, epsilon in (("COUNT(*)", "1"), ("COUNT(DISTINCT person)", "1"), ("SUM(x)", "1"), ("AVG(x)", "2"))
    ),
    *(
        Case(f"{column}, sample_max_ids", query(f"{column} AS n", **BY_PERSON), OFTEN, "1", "0.015", PEOPLE, GROUPS)
        for column in ("COUNT(*)", "SUM(x)")
    ),
    Case("approx_bounds", bounds, ([3] * 15, [3] * 14), "1", "0", "one value added or removed", 10),
]  # fmt: skip
