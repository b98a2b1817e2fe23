"""What the part of pandas that is not traced says: at the line of the user, with what to write instead."""

from __future__ import annotations

from dpaudit.claims import DpauditError
from dpaudit.sealed.callers import caller

REWRITES = {
    "mean": "release .sum() and .count(), and divide what comes back",
    "median": "channel.select over public candidates c, each with the score −|(x <= c).sum() − half the count|",
    "std": "release .sum(), (x ** 2).sum() and .count(), and compute it from what comes back",
    "min": "the bounds are public; for a robust end, select a quantile with channel.select over public candidates",
    "unique": "the values of bounds are public; for keys that are not known, channel.threshold_counts",
    "apply": "numpy functions of the column, .map({value: …}) of listed values, .where(condition, other)",
    "iloc": "rows are private; frame[condition] keeps those that fulfil it",
    "describe": "release .sum(), .count() or .value_counts(), each with its own noise",
    "corr": "release (x * y).sum() and the like, and compute it from what comes back",
    "agg": "of one column at a time: groupby(…)[column].sum(), .count() or .size(); on a column .sum() or .count()",
    "query": 'frame[frame["column"] > 3]; conditions are joined by & and |',
    "dropna": "frame[frame[column].notna()]; sums and counts leave missing entries out anyhow",
    "str": "the listed values are public: .map({value: …}) says what each of them becomes",
    "rename": "frame.assign(new=frame[old]) has the column by its new name",
    "value_counts": "release the counts, and compute the rest from what comes back",
    "__array__": "numpy functions of the column; for bins np.histogram(column.to_numpy(), bins=[…]) with public ends",
    "pivot_table": "frame.groupby([first, second])[column].sum() has one entry for each pair of listed keys",
}
_ALIKE = {
    "var": "std", "sem": "std", "quantile": "median", "max": "min", "idxmax": "min", "idxmin": "min", "nunique": "unique",
    "drop_duplicates": "unique", "duplicated": "unique", "mode": "unique", "transform": "apply", "aggregate": "agg",
    "eval": "query", "iterrows": "iloc", "itertuples": "iloc", "head": "iloc", "tail": "iloc", "sort_values": "iloc",
    "sample": "iloc", "at": "iloc", "iat": "iloc", "index": "iloc", "cov": "corr", "pivot": "pivot_table", "nlargest": "iloc",
    "nsmallest": "iloc", "rank": "iloc", "tolist": "iloc", "to_list": "iloc", "items": "iloc",
}  # fmt: skip


class NotTraced(DpauditError, AttributeError):
    """An operation on a frame of which nobody knows how it depends on a record. Keeps its name, the place and what to write."""

    def __init__(self, operation: str, where: str, rewrite: str) -> None:
        self.operation, self.where, self.rewrite = operation, where, rewrite
        super().__init__(f"{operation} of a sealed frame is not traced, at {where}; {rewrite}")


def not_traced(name: str, what: str = "") -> NotTraced:
    """The error for a method of pandas that is not known here; ``what``: in which state it is asked for."""
    rewrite = REWRITES.get(_ALIKE.get(name, name), "use .sum(), .count(), .value_counts(), .groupby(…) and numpy functions")
    return NotTraced(f".{name}{what}", caller(), rewrite)
