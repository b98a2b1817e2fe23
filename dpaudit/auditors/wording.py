"""Data that an audit made up, in words: it may be shown, but it should be short."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

SHORT = 12  # records that are all shown
SHOWN = 3  # exceptions that are


def describe(data: Any) -> Any:
    """Data that an audit made up, short enough to read."""
    if isinstance(data, np.ndarray):
        if data.ndim == 2:
            return _rows(data)
        return _all(data) if data.size <= SHORT else _many(data.ravel())
    if data is None or isinstance(data, int | float | str | bool):
        return data
    return repr(data)[:200]


def beating(figure: Fraction, limit: Fraction) -> str:
    """A lower bound, rounded down, with as many digits as show that it is above the limit, and a space; empty where that takes
    more than a person reads."""
    for digits in range(6, 13):
        shown = Context(prec=digits, rounding=ROUND_FLOOR).divide(Decimal(figure.numerator), Decimal(figure.denominator))
        if Fraction(shown) > limit:
            return f"{float(shown):.{digits}g} "
    return ""


def _all(records: np.ndarray) -> Any:
    """Every record; in JSON, NaN and the infinities are texts."""
    listed = records.tolist()
    if records.ndim != 1:
        return listed
    return [one if not isinstance(one, float) or np.isfinite(one) else str(one) for one in listed]


def _rows(table: np.ndarray) -> str:
    """Rows of several numbers each: the commonest, and the others."""
    rows, counts = np.unique(table, axis=0, return_counts=True)
    common = rows[counts.argmax()] if len(rows) else np.zeros(0)
    others = np.flatnonzero((table != common).any(axis=1))
    told = [f"row {i} = {_row(table[i])}" for i in others[:SHOWN]]
    told += [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return f"{len(table)} rows of {_row(common)}" + (", except " + ", ".join(told) if told else "")


def _row(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in row) + ")"


def _many(records: np.ndarray) -> str:
    """Most records hold one value, or they do not."""
    values, counts = np.unique(records, return_counts=True)
    common = values[counts.argmax()]
    others = np.flatnonzero(records != common)
    if len(others) > len(records) // 2:
        return f"{len(records)} records, first " + ", ".join(f"{value:g}" for value in records[:4])
    told = [f"record {i} = {records[i]:g}" for i in others[:SHOWN]]
    told += [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return f"{len(records)} records of {common:g}" + (", except " + ", ".join(told) if told else "")
