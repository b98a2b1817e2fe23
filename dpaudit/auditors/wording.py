"""What an audit made up and what it shows, in words: data may be printed, but it should be short."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import Lower
from dpaudit.sealed.frames.frame import Frame

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
    if isinstance(data, Frame):
        data = data.records()
    if isinstance(data, list) and len(data) > SHORT:
        return _listed(data)
    return repr(data)[:200]


def beating(figure: Fraction, limit: Fraction) -> str:
    """A lower bound, rounded down, with as many digits as show that it is above the limit, and a space; empty where that takes
    more than a person reads."""
    for digits in range(6, 13):
        shown = Context(prec=digits, rounding=ROUND_FLOOR).divide(Decimal(figure.numerator), Decimal(figure.denominator))
        if Fraction(shown) > limit:
            return f"{float(shown):.{digits}g} "
    return ""


def not_yet_refuted(lower: Lower, level: float, error: str, samples: int, enough: int | None) -> str:
    """Why a bound above the claim does not refute it. ``level`` is the bound at the refuting confidence, from ``samples`` runs a
    side; ``enough`` runs a side would do, were their guesses as good; None where they are not, or nobody can say."""
    sentence = f"the {100 * lower.confidence:.6g} % bound {lower.epsilon:.6g} is above the claim"
    sentence += f", but only one at confidence 1−{error} refutes"
    if enough is None and samples > lower.samples:
        return f"{sentence}, and {samples:,} fresh runs a side do not show it again"
    shown = f": that is {np.floor(max(level, 0.0) * 1e6) / 1e6:.6g} after {samples:,} runs a side"
    more = "" if enough is None else f"; about {_two_digits_up(enough):,} would do if their guesses are as good (--samples)"
    return sentence + shown + more


def power_words(detectable: str | None, verdict: str, *, exact: bool) -> str | None:
    """What an audit that did not refute could have refuted. ``exact``: by exact losses, not by guesses. None: nothing to say."""
    if verdict == "refuted" or (detectable is None and verdict != "unproven"):
        return None
    if detectable is None:
        return "says nothing about larger ε"
    if exact:
        return f"on the pairs tried the losses are exact: one above {detectable} would have refuted this"
    allowed = f"had these guesses been right as often as ε={detectable} allows, this would have been refuted"
    return f"on the pairs tried: {allowed}"


def _two_digits_up(count: int) -> int:
    unit = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def _listed(records: list[Any]) -> str:
    """Most records hold one value, or they do not; of any kind."""
    texts = [repr(one)[:40] for one in records]
    common = max(dict.fromkeys(texts), key=texts.count)
    others = [place for place, text in enumerate(texts) if text != common]
    if len(others) > len(records) // 2:
        return f"{len(records)} records, first " + ", ".join(texts[:4])
    exceptions = [f"record {place} = {texts[place]}" for place in others[:SHOWN]]
    exceptions += [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return f"{len(records)} records of {common}" + (", except " + ", ".join(exceptions) if exceptions else "")


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
    exceptions = [f"row {i} = {_row(table[i])}" for i in others[:SHOWN]]
    exceptions += [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return f"{len(table)} rows of {_row(common)}" + (", except " + ", ".join(exceptions) if exceptions else "")


def _row(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in row) + ")"


def _many(records: np.ndarray) -> str:
    """Most records hold one value, or they do not."""
    values, counts = np.unique(records, return_counts=True)
    common = values[counts.argmax()]
    others = np.flatnonzero(records != common)
    if len(others) > len(records) // 2:
        return f"{len(records)} records, first " + ", ".join(f"{value:g}" for value in records[:4])
    exceptions = [f"record {i} = {records[i]:g}" for i in others[:SHOWN]]
    exceptions += [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return f"{len(records)} records of {common:g}" + (", except " + ", ".join(exceptions) if exceptions else "")
