"""Features of an output: common values (atoms) apart from continuous parts, and summaries of a row. Fixed by training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpaudit.auditors.games.output_columns import Parts, ordered
from dpaudit.auditors.runs.output_cells import ORDERED

LEAST_COUNT, LEAST_SHARE = 8, 0.002  # training runs that hold an atom
MOST_ATOMS = 12  # of a continuous column, and as many odd values
FEW = 64  # distinct values that are all atoms
WIDEST = 64  # columns that are looked at one by one; summaries look at all
COMMON = 6  # atoms of several columns that are counted along a row
_ODD = 2.0**33  # more than any checksum: odd values are told apart by kind and number


@dataclass(frozen=True)
class Atoms:
    """The common values of one column: numbers, and odd things such as None, NaN or a text."""

    column: int
    numbers: np.ndarray
    odd: np.ndarray
    continuous: bool  # are there numbers beside the atoms?

    @classmethod
    def of(cls, column: int, kinds: np.ndarray, numbers: np.ndarray) -> Atoms:
        plain = (kinds >= 1) & (kinds <= ORDERED)
        values, counts = np.unique(numbers[plain], return_counts=True)
        least = max(LEAST_COUNT, LEAST_SHARE * len(kinds))
        atoms = values if len(values) <= FEW else _commonest(values, counts, least)
        odd = _commonest(*np.unique((kinds * _ODD + numbers)[~plain], return_counts=True), least)
        return cls(column, atoms, odd, len(atoms) < len(values))

    def read(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        """The continuous part, NaN where there is none; and a code: 0 for it, the atom's place, below 0 for what is odd."""
        kinds, numbers = parts.kinds[:, self.column], parts.numbers[:, self.column]
        plain = (kinds >= 1) & (kinds <= ORDERED)
        code = np.where(plain, _places(self.numbers, numbers), -(kinds + len(self.odd) + 1.0))
        known = _places(self.odd, kinds * _ODD + numbers)
        code = np.where(~plain & (known > 0), -known, code)
        return np.where(plain & (code == 0), numbers, np.nan), code


def _commonest(values: np.ndarray, counts: np.ndarray, least: float) -> np.ndarray:
    often = np.flatnonzero(counts >= least)
    return np.sort(values[often[np.argsort(counts[often], kind="stable")[::-1][:MOST_ATOMS]]])


def _places(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """1, 2, … for known values, 0 for others."""
    if not len(known):
        return np.zeros(len(values))
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place + 1.0, 0.0)


@dataclass(frozen=True)
class Features:
    """From parts to a table with NaN where something is missing."""

    columns: tuple[Atoms, ...]
    common: np.ndarray = field(default_factory=lambda: np.zeros(0))  # atoms of at least two columns
    useful: np.ndarray | None = None  # those of all features that differ between runs
    codes: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # places of the codes among the useful ones

    @classmethod
    def of(cls, parts: Parts, coins: np.ndarray) -> Features:
        every = _most_telling(parts, coins)
        columns = tuple(Atoms.of(int(c), parts.kinds[:, c], parts.numbers[:, c]) for c in every)
        values, counts = np.unique(np.concatenate([a.numbers for a in columns] or [np.zeros(0)]), return_counts=True)
        common = values[counts >= 2]
        common = common[np.argsort(-np.array([(parts.numbers == atom).sum() for atom in common]), kind="stable")][:COMMON]
        blank = cls(columns, common)
        table = blank(parts)
        useful = np.flatnonzero([len(np.unique(column[:1000])) > 1 or len(np.unique(column)) > 1 for column in table.T])
        coded = [bool(place < 2 * len(columns) and place % 2) for place in useful]
        return cls(columns, common, useful, np.flatnonzero(coded))

    def __call__(self, parts: Parts) -> np.ndarray:
        read = [atoms.read(parts) for atoms in self.columns]
        features = [side for both in read for side in both]
        continuous = [x for (x, _), atoms in zip(read, self.columns, strict=True) if atoms.continuous]
        if len(continuous) > 1:
            features += _summaries(np.stack(continuous, axis=1))
        if len(self.columns) > 1:
            plain = ordered(parts)
            features += [((parts.numbers == atom) & plain).sum(axis=1) * 1.0 for atom in self.common]
            features.append((~plain).sum(axis=1) * 1.0)
            discrete = [atoms.column for atoms in self.columns if not atoms.continuous]
            features.append(np.where(plain[:, discrete], parts.numbers[:, discrete], 0.0).sum(axis=1))
        table = np.stack(features, axis=1) if features else np.zeros((len(parts.kinds), 0))
        return table if self.useful is None else table[:, self.useful]


def _summaries(continuous: np.ndarray) -> list[np.ndarray]:
    """Of the parts that are there: how many, the largest, the least, the sum, where the first and where the last is."""
    there = ~np.isnan(continuous)
    some, width = there.any(axis=1), continuous.shape[1]
    largest = np.where(there, continuous, -np.inf).max(axis=1)
    least = np.where(there, continuous, np.inf).min(axis=1)
    first, last = there.argmax(axis=1), width - 1 - there[:, ::-1].argmax(axis=1)
    figures = [largest, least, np.where(there, continuous, 0.0).sum(axis=1), first * 1.0, last * 1.0]
    return [there.sum(axis=1) * 1.0, *(np.where(some, figure, np.nan) for figure in figures)]


def _most_telling(parts: Parts, coins: np.ndarray) -> np.ndarray:
    """Columns that differ between runs; if there are many, those whose mean, spread or kinds differ most between the sides."""
    differ = ((parts.numbers != parts.numbers[:1]) | (parts.kinds != parts.kinds[:1])).any(axis=0)
    columns = np.flatnonzero(differ)
    if len(columns) <= WIDEST or coins.all() or not coins.any():
        return columns[:WIDEST]
    x = parts.numbers[:, columns]
    sides = [x, np.abs(x - x.mean(axis=0)), parts.kinds[:, columns]]
    apart = [np.abs(s[coins].mean(axis=0) - s[~coins].mean(axis=0)) / np.maximum(s.std(axis=0), 1e-300) for s in sides]
    return np.sort(columns[np.argsort(np.max(apart, axis=0), kind="stable")[::-1][:WIDEST]])
