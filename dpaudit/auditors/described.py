"""Data that an audit made up, in words: it may be shown, but it should be short."""

from __future__ import annotations

from typing import Any

import numpy as np


def describe(data: Any) -> Any:
    """Data that an audit made up, short enough to read."""
    if isinstance(data, np.ndarray):
        if data.size <= 12:
            return data.tolist()
        values, counts = np.unique(data, return_counts=True)
        if len(values) <= 4:
            exceptions = [
                {"index": [int(i) for i in np.flatnonzero(data.ravel() == v)[:3]], "value": float(v)}
                for v, c in zip(values, counts, strict=True)
                if c <= 3
            ]
            return {"records": int(data.size), "value": float(values[counts.argmax()]), "except": exceptions}
        return {"records": int(data.size), "first": [float(v) for v in data.ravel()[:4]]}
    if data is None or isinstance(data, int | float | str | bool):
        return data
    return repr(data)[:200]
