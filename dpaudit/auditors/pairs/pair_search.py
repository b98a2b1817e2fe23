"""Search among neighbouring data: corners and coordinate ascent, then a smaller pair that still refutes.

Pairs of a Hypothesis strategy are searched and shrunk by Hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.neighbours.listed_values import Values
from dpaudit.neighbours.relations import AddRemove, Neighbours, ReplaceOne
from dpaudit.neighbours.tables import Rows

Pair = tuple[Any, Any]
Score = Callable[[Pair], Fraction]  # the ε that a pair shows; 0 for nothing
Relation = ReplaceOne | AddRemove
MADE_RECORDS = 10**6  # in all pairs that are made for a black box


@dataclass(frozen=True, eq=False)
class Site:
    """A pair of named neighbours: a crowd that both hold, and one record with its two values (None: it is missing)."""

    crowd: np.ndarray
    place: int
    first: float | None
    second: float | None

    def pair(self) -> Pair:
        return self._with(self.first), self._with(self.second)

    def _with(self, value: float | None) -> np.ndarray:
        return self.crowd.copy() if value is None else np.insert(self.crowd, self.place, value)


def site_of(pair: Pair) -> Site:
    """How a pair of arrays differs; one that does not differ at all counts as differing in its first record."""
    first, second = (np.asarray(side, dtype=float) for side in pair)
    if len(first) == len(second):
        place = int(np.argmax(first != second))
        return Site(np.delete(first, place), place, float(first[place]), float(second[place]))
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    place = int(np.argmax(np.append(longer[:-1] != shorter, True)))
    value = float(longer[place])
    return Site(shorter, place, *((value, None) if longer is first else (None, value)))


def simplest(relation: Relation) -> float:
    """Zero, or the end of the range that is nearest to it."""
    return float(np.clip(0.0, relation.low, relation.high))


def corners(relation: Relation, rng: np.random.Generator) -> Iterator[Pair]:
    """Crowds that the relation's own pairs do not hold: half low and half high, in turn, and at random."""
    low, high = relation.low, relation.high
    size = relation.n - 1
    crowds = [np.where(np.arange(size) < size // 2, low, high), np.where(np.arange(size) % 2 == 0, low, high)]
    crowds += [rng.choice([low, high], size) for _ in range(2)]
    for crowd in crowds if size else []:
        yield Site(crowd, size // 2, low, high if isinstance(relation, ReplaceOne) else None).pair()
        if isinstance(relation, AddRemove):
            yield Site(crowd, size // 2, None, high).pair()


def for_black_boxes(neighbours: Neighbours, rng: np.random.Generator) -> list[Pair]:
    """The relation's own pairs and, as no exact evidence leads a search there, more; from the same generator, the same."""
    own = list(neighbours.pairs(rng))
    if isinstance(neighbours, Rows | Values):
        return own + neighbours.more_pairs(rng)
    return own + _more_pairs(neighbours, rng) if isinstance(neighbours, ReplaceOne | AddRemove) else own


def _more_pairs(relation: Relation, rng: np.random.Generator) -> list[Pair]:
    """The one record at any two of the ends, the middle and 0, anywhere among others at one of them, at both ends, or anywhere
    in the range."""
    low, high, size = relation.low, relation.high, relation.n - 1
    middle = (low + high) / 2
    values = sorted({low, middle, high, simplest(relation)})
    seconds: list[float | None] = [None] if isinstance(relation, AddRemove) else list(values)
    changes = [(a, b) for a in values for b in seconds if b is None or a < b]
    crowds = [np.full(size, value) for value in values]
    crowds += [np.where(np.arange(size) < size // 2, low, high), rng.choice([low, high], size), rng.uniform(low, high, size)]
    places = rng.permutation(relation.n)
    sites = [(crowd, change) for change in changes for crowd in (crowds if size else crowds[:1])]
    few = sites[: max(MADE_RECORDS // relation.n, 1)]
    return [Site(crowd, int(places[k % relation.n]), *change).pair() for k, (crowd, change) in enumerate(few)]


def ascended(relation: Relation, pair: Pair, score: Score, rng: np.random.Generator, budget: int) -> Pair:
    """Coordinate ascent: one block of records, record or value after the other is set to an end or the middle of the range."""
    site, best = site_of(pair), score(pair)
    values = (relation.low, relation.high, (relation.low + relation.high) / 2)
    while budget > 0:
        before = best
        for tried in _moves(site, values, rng):
            value = score(tried.pair())
            budget -= 1
            if value > best:
                site, best = tried, value
            if budget <= 0:
                break
        if best == before:
            break
    return site.pair()


def _moves(site: Site, values: tuple[float, ...], rng: np.random.Generator) -> Iterator[Site]:
    for value in values:
        if site.first is not None:
            yield replace(site, first=value)
        if site.second is not None:
            yield replace(site, second=value)
    for block in (*np.array_split(rng.permutation(len(site.crowd)), 4), *rng.permutation(len(site.crowd))):
        for value in values:
            crowd = site.crowd.copy()
            crowd[block] = value
            if not np.array_equal(crowd, site.crowd):
                yield replace(site, crowd=crowd)


def shrunk(relation: Relation, pair: Pair, refutes: Callable[[Pair], bool], budget: int) -> Pair:
    """The same refutation with less: most of the crowd at the simplest value, the one record first and of small values."""
    site, simple = site_of(pair), simplest(relation)
    size = max(len(site.crowd), 1)
    while size >= 1 and budget > 0:  # delta debugging (Zeller, Hildebrandt 2002): halves, quarters, …
        for start in range(0, len(site.crowd), size):
            crowd = site.crowd.copy()
            crowd[start : start + size] = simple
            if np.array_equal(crowd, site.crowd):
                continue
            budget -= 1
            if refutes(replace(site, crowd=crowd).pair()):
                site = replace(site, crowd=crowd)
            if budget <= 0:
                break
        size //= 2
    front = replace(site, place=0)
    site = front if site.place and refutes(front.pair()) else site
    return next((tried.pair() for tried in _smaller(site, relation) if refutes(tried.pair())), site.pair())


def _smaller(site: Site, relation: Relation) -> list[Site]:
    """The same crowd, the one record's values smaller; smallest first."""
    known = [value for value in (0.0, 1.0, -1.0, relation.low, relation.high) if relation.low <= value <= relation.high]
    firsts, seconds = ([None] if value is None else known for value in (site.first, site.second))
    sites = [replace(site, first=a, second=b) for a in firsts for b in seconds if a != b]
    size = _size(site)
    return sorted((one for one in sites if _size(one) < size), key=_size)


def _size(site: Site) -> float:
    return sum(abs(value) for value in (site.first, site.second) if value is not None)
