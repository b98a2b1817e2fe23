"""Exact evidence for the claim's observer: over all pairs, then by search, then in its smallest form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.events.action_events import action_event
from dpaudit.auditors.events.server_events import server_event
from dpaudit.auditors.events.shuffled_batches import shuffled_event
from dpaudit.auditors.events.transcript_witness import Witness, transcript_witness
from dpaudit.auditors.pairs.pair_names import Name, chosen_name, pair_name
from dpaudit.auditors.pairs.pair_search import ascended, corners, shrunk
from dpaudit.auditors.replay.pinned_runs import Replayed
from dpaudit.claims import Claim
from dpaudit.neighbours.hypothesis_pairs import smallest_example
from dpaudit.neighbours.relations import AddRemove, ByStrategy, ReplaceOne
from dpaudit.subjects.subject import Subject

Pair = tuple[Any, Any]
Finder = Callable[[Pair], Witness | None]
TRANSCRIPTS, EVENTS = 200, 30  # pairs that a search tries, where a pair costs two runs or needs exact probabilities
SMALL = 100  # reports in a batch of which very many can be drawn
SHRINK, EXAMPLES = 60, 100  # pairs tried to make a witness smaller; examples of a strategy


@dataclass(frozen=True)
class Evidence:
    """The best witness, and what a game would add.

    ``pairs``: to play it on; ``by_likelihood``: where the observer sees all that is released. ``strongest``: no other evidence
    about these pairs is stronger.
    """

    witness: Witness | None
    needs_game: bool
    pairs: Sequence[Pair]
    by_likelihood: bool = True
    strongest: bool = True


def find_evidence(
    subject: Subject, claim: Claim, pairs: Sequence[Pair], played: Sequence[tuple[int, Replayed]], seed: int, *, search: bool
) -> Evidence:
    """``played``: runs that were replayed, with the place of their pair. ``search``: look at other pairs too."""
    if claim.observer in ("shuffled", "server") and any(e.to == "shuffled" for _, one in played for e in one.events):
        apart = _unordered(subject, pairs)
        best, _ = _best(subject, [shuffled_event(subject, claim, *pair, seed) for pair in apart], apart, seed)
        known = not veiled(played)
        worth = _small_batches(subject, played) if known else True
        needs_game = search and worth and sees_all(claim, played)
        return Evidence(best, needs_game, apart, by_likelihood=known, strongest=False)
    if claim.observer != "server":
        placed = action_event(subject, pairs, claim, seed)
        found = [placed[1] if placed is not None and placed[0] == place else None for place in range(len(pairs))]
        best, _ = _best(subject, found, pairs, seed)
        return Evidence(best, search or best is None, pairs, by_likelihood=False, strongest=False)
    if claim.delta:
        return _by_events(subject, claim, pairs, played, seed, EVENTS if search else 0)
    return _by_transcripts(subject, claim, pairs, played, seed, TRANSCRIPTS if search else 0)


def _unordered(subject: Subject, pairs: Sequence[Pair]) -> Sequence[Pair]:
    """A shuffler forgets the order of records: pairs that differ in nothing else are tried once."""
    if not isinstance(subject.neighbours, ReplaceOne | AddRemove):
        return pairs
    return list({tuple(np.sort(side).tobytes() for side in pair): pair for pair in reversed(pairs)}.values())[::-1]


def veiled(played: Sequence[tuple[int, Replayed]]) -> bool:
    """May secret randomness decide what is asked? Then the queries of a run say more than any observer sees."""
    return any(event.veiled for _, one in played for event in one.events)


def sees_all(claim: Claim, played: Sequence[tuple[int, Replayed]]) -> bool:
    """Is all that is released what this observer sees?"""
    return claim.observer == "server" or all(event.to == "shuffled" for _, one in played for event in one.events)


def _small_batches(subject: Subject, played: Sequence[tuple[int, Replayed]]) -> bool:
    """Can every report of very many runs be drawn?"""
    mixed = [event for _, one in played for event in one.events if event.to == "shuffled"]
    return subject.vectorised and all(event.query.shape[-1] <= SMALL for event in mixed)


def _by_transcripts(
    subject: Subject, claim: Claim, pairs: Sequence[Pair], played: Sequence[tuple[int, Replayed]], seed: int, budget: int
) -> Evidence:
    drawn = [[one for place, one in played if place == k] for k in range(len(pairs))]
    found = [transcript_witness(subject, claim, *pair, drawn[k], seed) for k, pair in enumerate(pairs)]

    def finder(pair: Pair) -> Witness | None:
        return transcript_witness(subject, claim, *pair, (), seed)

    best = _searched(subject, claim, *_best(subject, found, pairs, seed), finder, budget, seed)
    hidden = veiled(played)  # transcripts end where secret randomness begins
    return Evidence(best, hidden, pairs, by_likelihood=not hidden, strongest=not hidden)


def _by_events(
    subject: Subject, claim: Claim, pairs: Sequence[Pair], played: Sequence[tuple[int, Replayed]], seed: int, budget: int
) -> Evidence:
    def finder(pair: Pair) -> Witness | None:
        return server_event(subject, claim, *pair, seed)

    best, top = _best(subject, [finder(pair) for pair in pairs], pairs, seed)
    # One number from one release: a tail event is the best there is (monotone likelihood ratio), so a game adds nothing.
    more = any(len(one.events) != 1 or one.events[0].query.size > (one.trials or 1) for _, one in played)
    return Evidence(_searched(subject, claim, best, top, finder, budget, seed), more, pairs, by_likelihood=not veiled(played))


def _best(subject: Subject, found: Sequence[Witness | None], pairs: Sequence[Pair], seed: int) -> tuple[Witness | None, Pair]:
    """The witness with the largest ε, under the name of its pair, and that pair."""
    real = [(witness, place) for place, witness in enumerate(found) if witness is not None]
    if not real:
        return None, pairs[0]
    witness, place = max(real, key=lambda one: one[0].epsilon)
    name = pair_name(subject.neighbours, pairs[place], place, seed, swapped=witness.swapped)
    return _named(witness, name), pairs[place]


def _named(witness: Witness, name: Name) -> Witness:
    return replace(witness, facts={**witness.facts, "pair": name})


def _searched(
    subject: Subject, claim: Claim, best: Witness | None, top: Pair, finder: Finder, budget: int, seed: int
) -> Witness | None:
    """What refutes, with the smallest pair that shows as much; else the best that a search of ``budget`` pairs finds."""

    def epsilon(pair: Pair) -> Fraction:
        found = finder(pair)
        return Fraction(0) if found is None else found.epsilon

    def as_good(pair: Pair) -> bool:
        found = epsilon(pair)
        return found > claim.epsilon and (shown is None or found >= shown)

    relation = subject.neighbours
    shown = best.epsilon if best is not None and best.epsilon > claim.epsilon else None
    if shown is None and not budget:
        return best
    if isinstance(relation, ByStrategy):
        example = smallest_example(relation.strategy, as_good, seed, EXAMPLES)
        found = None if example is None else finder(example[0])
        return best if example is None or found is None else _named(found, chosen_name(example[1], swapped=found.swapped))
    if not isinstance(relation, ReplaceOne | AddRemove):
        return best
    if shown is None:
        rng = np.random.default_rng([seed, 7])
        start = max([top, *corners(relation, rng)], key=epsilon)
        top = ascended(relation, start, epsilon, rng, budget)
    if as_good(top):
        top = shrunk(relation, top, as_good, SHRINK)
    found = finder(top)
    if found is None or (best is not None and found.epsilon <= best.epsilon and not as_good(top)):
        return best
    return _named(found, pair_name(relation, top, 0, seed, swapped=found.swapped))
