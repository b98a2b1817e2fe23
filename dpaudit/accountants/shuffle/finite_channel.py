"""Any finite randomiser, written as the matrix of its probabilities: its ε0, its privacy blanket and the attacks on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from dpaudit.accountants.shuffle.few_values import Number, Terms
from dpaudit.accountants.shuffle.finite_family import FiniteFamily
from dpaudit.claims import InvalidValue, exact
from dpaudit.claims.balls import ball, decimal, lower, precision, upper
from dpaudit.ledger import load_file

LARGEST = 10**4  # entries of a matrix
ROUNDED = Fraction(1, 10**12)  # how far from 1 the sum of a row may be
_BITS = 256

Row = tuple[Fraction, ...]
Ratios = tuple[tuple[Fraction, Fraction, Fraction], ...]  # (weight, u, v): G = u − e^ε v with that weight


@dataclass(frozen=True)
class FiniteChannel:
    """R_x(y) as rows, one per value x. ``rounding``: how far a row's sum was from 1 before the row was divided by it."""

    rows: tuple[Row, ...]
    rounding: Fraction = Fraction(0)

    @cached_property
    def epsilon0(self) -> tuple[Fraction, Fraction]:
        """Enclose the least ε0 for which it is ε0-LDP: the log of the largest ratio in one column."""
        ratio = max(max(column) / min(column) for column in zip(*self.rows, strict=True))
        if ratio == 1:
            return Fraction(0), Fraction(0)
        with precision(_BITS):
            log = ball(ratio).log()
            return decimal(lower(log), 30, up=False), decimal(upper(log), 30, up=True)

    def blanket(self) -> FiniteFamily:
        """ω = min_x R_x, every ordered pair of values."""
        least = tuple(min(column) for column in zip(*self.rows, strict=True))
        return _family(self._ratios(zero, one, least) for zero, one in self._pairs())

    def attack(self) -> FiniteFamily:
        """All others hold one value z: δ(ε) exactly, for every ordered pair and every z."""
        return _family(self._ratios(zero, one, others) for zero, one in self._pairs() for others in self.rows)

    def _pairs(self) -> Iterable[tuple[Row, Row]]:
        return ((zero, one) for zero in self.rows for one in self.rows if zero != one)

    def _ratios(self, zero: Row, one: Row, blanket: Row) -> Ratios:
        weights: dict[tuple[Fraction, Fraction], Fraction] = {}
        for first, second, weight in zip(zero, one, blanket, strict=True):
            values = first / weight, second / weight
            weights[values] = weights.get(values, Fraction(0)) + weight
        return tuple(sorted((weight, *values) for values, weight in weights.items()))


def _family(ratios: Iterable[Ratios]) -> FiniteFamily:
    distinct = sorted(set(ratios))  # symmetric channels have few that differ

    def laws(number: Number, _: Any, epsilon: Any) -> tuple[Terms, ...]:
        e, mean = number(epsilon).exp(), -number(epsilon).expm1()
        return tuple(
            Terms(_atoms(number, each, e, mean), mean, number(1 - sum(weight for weight, _, _ in each))) for each in distinct
        )

    return FiniteFamily(laws)


def _atoms(number: Number, ratios: Ratios, e: Any, mean: Any) -> tuple[tuple[Any, Any], ...]:
    return tuple((number(weight), number(u) - e * number(v) if u != v else number(u) * mean) for weight, u, v in ratios)


def read_channel(source: object) -> FiniteChannel:
    """A matrix, or a JSON file that holds one: a list of rows R_x(y), numbers or exact texts ("1/3", "0.25").

    Every row sums to 1, exactly or but for 1e-12 by which it was rounded; then it is divided by its sum. Outputs that no value
    has are left out; one that some values have and others do not shows who reported it: refused. Raises ``InvalidValue``.
    """
    if isinstance(source, FiniteChannel):
        return source
    rows = load_file(source) if isinstance(source, str | Path) else source
    if isinstance(rows, dict) and set(rows) == {"rows"}:
        rows = rows["rows"]
    matrix = _matrix(rows)
    sums = [sum(row, Fraction(0)) for row in matrix]
    rounding = max(abs(total - 1) for total in sums)
    if rounding > ROUNDED:
        wrong = next(place for place, total in enumerate(sums, 1) if abs(total - 1) > ROUNDED)
        raise InvalidValue(
            "channel", f"row {wrong} with sum {float(sums[wrong - 1]):.13g}", "rows of probabilities that sum to 1"
        )
    columns = [column for column in zip(*matrix, strict=True) if any(column)]
    if any(min(column) == 0 for column in columns):
        raise InvalidValue("channel", "an output that only some values have", "ε0-LDP: every output possible for every value")
    exact_rows = tuple(tuple(entry / total for entry in row) for row, total in zip(zip(*columns, strict=True), sums, strict=True))
    return FiniteChannel(exact_rows, rounding)


def _matrix(rows: object) -> list[Row]:
    tolist = getattr(rows, "tolist", None)
    rows = tolist() if callable(tolist) else rows
    if not isinstance(rows, Sequence) or isinstance(rows, str | bytes) or len(rows) < 2:
        raise InvalidValue("channel", type(rows).__name__, "a list of at least two rows of probabilities")
    if not all(isinstance(row, Sequence) and not isinstance(row, str | bytes) for row in rows):
        raise InvalidValue("channel", "a row that is no list", "a list of rows of probabilities")
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not 1 <= len(rows) * max(widths) <= LARGEST:
        raise InvalidValue("channel", "rows of several lengths, or too many", f"rows of one length, at most {LARGEST} entries")
    matrix = [tuple(exact(entry, "channel") for entry in row) for row in rows]
    if any(entry < 0 for row in matrix for entry in row):
        raise InvalidValue("channel", "a negative entry", "rows of probabilities")
    return matrix
