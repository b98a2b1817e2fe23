"""Sensitivity tested by search: neighbouring pairs that move a release as far as possible, against what it declares.

Corners and coordinate ascent first, then Hypothesis, which is told how far each pair came. A pair that exceeds the declared
sensitivity is made as small as it goes. What a search does not find may still be there: ``tested`` is not ``proven``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.pairs.pair_search import Relation, Site, ascended, corners, shrunk, site_of
from dpaudit.auditors.replay.pinned_runs import Observed, play
from dpaudit.channel import PathChanged
from dpaudit.claims import Finding
from dpaudit.neighbours.hypothesis_pairs import climb
from dpaudit.neighbours.relations import AddRemove, ByStrategy, ReplaceOne
from dpaudit.sealed.array import snap
from dpaudit.subjects.subject import Subject

Pair = tuple[Any, Any]
ASCENT, EXAMPLES, PLACES, SHRINK = 80, 60, 12, 40  # pairs that each part of the search tries
SHOWN = 3  # releases whose pair is made small
RELEASES, RECORDS = 40, 2_000_000  # a subject with more of them is tried on fewer pairs


class _Search:
    """How far a pair moves the releases of a subject, as a share of what they may move. Remembers what it saw."""

    def __init__(self, subject: Subject, seed: int, observed: Observed) -> None:
        self.subject, self.seed, self.observed = subject, seed, observed
        self.changed: PathChanged | None = None
        self.releases = 1

    def tries(self, count: int) -> int:
        """Fewer pairs for a long run; by its size, not by the clock, so that a seed gives the same search anywhere."""
        records = getattr(self.subject.neighbours, "n", 1)
        return max(2, int(count * min(1.0, RELEASES / self.releases, RECORDS / records)))

    def share(self, pair: Pair) -> Fraction:
        try:
            played = play(self.subject, *pair, self.seed, None)
        except PathChanged as changed:
            self.changed = self.changed or changed
            return Fraction(0)
        self.releases = max(self.releases, len(played.events))
        return self.observed.look(played, *pair)


def search_sensitivity(subject: Subject, seed: int, observed: Observed) -> list[Finding]:
    """Adds to ``observed`` what the search sees; a finding where a pair changed the path of a run (DPA002)."""
    search, relation = _Search(subject, seed, observed), subject.neighbours
    if isinstance(relation, ReplaceOne | AddRemove):
        _among(relation, search)
    elif isinstance(relation, ByStrategy):
        climb(relation.strategy, search.share, seed, EXAMPLES)
    if search.changed is None:
        return []
    return [Finding("DPA002", search.changed.detail + " on neighbouring data", f"release {search.changed.release + 1}")]


def _among(relation: Relation, search: _Search) -> None:
    rng = np.random.default_rng([search.seed, 8])
    start = max([*relation.pairs(rng), *corners(relation, rng)], key=search.share)
    ascended(relation, start, search.share, rng, search.tries(ASCENT))
    climb(pairs_of(relation), search.share, search.seed, search.tries(EXAMPLES))
    best = max(search.observed.largest.values(), key=lambda move: move.share, default=None)
    if best is not None:
        site = site_of(best.pair)
        elsewhere = [replace(site, place=int(place)).pair() for place in rng.permutation(relation.n)[: search.tries(PLACES)]]
        ascended(relation, max([best.pair, *elsewhere], key=search.share), search.share, rng, search.tries(ASCENT))
    for name in list(search.observed.excess)[:SHOWN]:
        worst = search.observed.largest[name]

        def as_far(pair: Pair, name: str = name, least: Fraction = worst.share) -> bool:
            alone = Observed()
            _Search(search.subject, search.seed, alone).share(pair)
            return name in alone.largest and alone.largest[name].share >= least

        search.observed.simplify(name, shrunk(relation, worst.pair, as_far, search.tries(SHRINK)))


def pairs_of(relation: Relation) -> Any:
    """A Hypothesis strategy of neighbouring pairs with few choices, however many records: two values in a pattern, up to three
    records with values of their own, and the one that differs."""
    from hypothesis import strategies as st

    low, high, others = relation.low, relation.high, relation.n - 1
    value = st.one_of(st.sampled_from([low, high, (low + high) / 2]), st.floats(low, high))
    crowd = st.builds(
        _crowd, st.just(others), value, value, st.integers(0, others), st.sampled_from(["split", "every", "drawn"]),
        st.dictionaries(st.integers(0, max(others - 1, 0)), value, max_size=min(others, 3)),
    )  # fmt: skip

    def pair(crowd: np.ndarray, place: int, first: float, second: float | None, turned: bool) -> Pair:
        one, other = Site(snap(crowd, low, high), place, float(snap(first, low, high)), second).pair()
        return (other, one) if turned else (one, other)

    second = st.none() if isinstance(relation, AddRemove) else value.map(lambda v: float(snap(v, low, high)))
    return st.builds(pair, crowd, st.integers(0, others), value, second, st.booleans())


def _crowd(size: int, a: float, b: float, step: int, pattern: str, own: dict[int, float]) -> np.ndarray:
    places = np.arange(size)
    if pattern == "split":
        crowd = np.where(places < step, a, b)
    elif pattern == "every":
        crowd = np.where(places % (step + 1) == 0, a, b)
    else:
        crowd = np.where(np.random.default_rng(step).random(size) < 0.5, a, b)
    crowd[list(own)] = list(own.values())
    return crowd
