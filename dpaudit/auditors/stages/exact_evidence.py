"""Exact evidence for the claim's observer: over all pairs, then by search, then in its smallest form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpaudit.auditors.events.action_events import action_event
from dpaudit.auditors.events.server_events import server_event
from dpaudit.auditors.events.shuffled_batches import shuffled_event
from dpaudit.auditors.events.transcript_witness import Witness, transcript_witness
from dpaudit.auditors.interface import Attack, Case, GamePlan, Pair, Replays
from dpaudit.auditors.pairs.pair_names import Name, chosen_name, pair_name
from dpaudit.auditors.pairs.pair_search import ascended, corners, shrunk
from dpaudit.auditors.replay.pinned_runs import Replayed
from dpaudit.claims import Claim
from dpaudit.neighbours.hypothesis_pairs import smallest_example
from dpaudit.neighbours.relations import AddRemove, ByStrategy, ReplaceOne
from dpaudit.subjects.subject import Subject

Finder = Callable[[Pair], Witness | None]
TRANSCRIPTS, EVENTS = 200, 30  # pairs that a search tries, where a pair costs two runs or needs exact probabilities
SMALL = 100  # reports in a batch of which very many can be drawn
SHRINK, EXAMPLES = 60, 100  # pairs tried to make a witness smaller; examples of a strategy


@dataclass(frozen=True)
class ExactEvidence:
    """The best witness, and the game that could show more. ``strongest``: no other evidence about these pairs is stronger."""

    witness: Witness | None
    game: GamePlan | None
    strongest: bool = True


def sees_batches(case: Case, known: Attack) -> bool:
    """Does this observer see what leaves a shuffler?"""
    shuffled = any(event.to == "shuffled" for _, replayed in known.replays for event in replayed.events)
    return shuffled and case.claim.observer in ("shuffled", "server")


def sees_actions(case: Case, known: Attack) -> bool:
    return case.claim.observer != "server" and not sees_batches(case, known)


def allows_delta(case: Case, known: Attack) -> bool:
    """One transcript refutes no claim with δ > 0: an event must."""
    return case.claim.observer == "server" and bool(case.claim.delta) and not sees_batches(case, known)


def sees_transcripts(case: Case, known: Attack) -> bool:
    return case.claim.observer == "server" and not case.claim.delta and not sees_batches(case, known)


def search_batches(case: Case, known: Attack) -> ExactEvidence:
    """Events of single shuffled batches."""
    pairs = _unordered(case)
    witnesses = [shuffled_event(case.subject, case.claim, *pair, case.seed) for pair in pairs]
    best, _ = _best(case, witnesses, pairs)
    likelihood_known = not veiled(known.replays)
    drawable = small_batches(case.subject, known.replays) if likelihood_known else True
    game = GamePlan(pairs, likelihood_known) if case.search and drawable and sees_all(case.claim, known.replays) else None
    return ExactEvidence(best, game, strongest=False)


def search_actions(case: Case, known: Attack) -> ExactEvidence:
    """Events of what clients play in public, or of what is returned."""
    event = action_event(case.subject, case.pairs, case.claim, case.seed)
    witnesses = [event[1] if event is not None and event[0] == place else None for place in range(len(case.pairs))]
    best, _ = _best(case, witnesses, case.pairs)
    game = GamePlan(case.pairs, by_likelihood=False) if case.search or best is None else None
    return ExactEvidence(best, game, strongest=False)


def search_transcripts(case: Case, known: Attack) -> ExactEvidence:
    """Single transcripts of the joint view; they end where secret randomness begins."""

    def finder(pair: Pair, drawn: Sequence[Replayed] = ()) -> Witness | None:
        return transcript_witness(case.subject, case.claim, *pair, drawn, case.seed)

    drawn = [[replayed for place, replayed in known.replays if place == k] for k in range(len(case.pairs))]
    witnesses = [finder(pair, drawn[place]) for place, pair in enumerate(case.pairs)]
    best, top = _best(case, witnesses, case.pairs)
    hidden = veiled(known.replays)
    game = GamePlan(case.pairs, by_likelihood=False) if hidden else None
    return ExactEvidence(_search(case, best, top, finder, TRANSCRIPTS), game, strongest=not hidden)


def search_events(case: Case, known: Attack) -> ExactEvidence:
    """Events of releases with independent noise."""

    def finder(pair: Pair) -> Witness | None:
        return server_event(case.subject, case.claim, *pair, case.seed)

    best, top = _best(case, [finder(pair) for pair in case.pairs], case.pairs)
    # One number from one release: a tail event is the best there is (monotone likelihood ratio), so a game adds nothing.
    # Where secret randomness decides what is asked, no event was tried at all: a game is all there is.
    hidden = veiled(known.replays)
    more = hidden or any(len(one.events) != 1 or one.events[0].query.size > (one.trials or 1) for _, one in known.replays)
    game = GamePlan(case.pairs, by_likelihood=not hidden) if more else None
    return ExactEvidence(_search(case, best, top, finder, EVENTS), game, strongest=not hidden)


def _unordered(case: Case) -> Sequence[Pair]:
    """A shuffler forgets the order of records: pairs that differ in nothing else are tried once."""
    if not isinstance(case.subject.neighbours, ReplaceOne | AddRemove):
        return case.pairs
    return list({tuple(np.sort(side).tobytes() for side in pair): pair for pair in reversed(case.pairs)}.values())[::-1]


def veiled(replays: Replays) -> bool:
    """May secret randomness decide what is asked? Then the queries of a run say more than any observer sees."""
    return any(event.veiled for _, replayed in replays for event in replayed.events)


def sees_all(claim: Claim, replays: Replays) -> bool:
    """Is all that is released what this observer sees?"""
    return claim.observer == "server" or all(event.to == "shuffled" for _, replayed in replays for event in replayed.events)


def small_batches(subject: Subject, replays: Replays) -> bool:
    """Can every report of very many runs be drawn?"""
    mixed = [event for _, replayed in replays for event in replayed.events if event.to == "shuffled"]
    return subject.vectorised and all(event.query.shape[-1] <= SMALL for event in mixed)


def _best(case: Case, witnesses: Sequence[Witness | None], pairs: Sequence[Pair]) -> tuple[Witness | None, Pair]:
    """The witness with the largest ε, under the name of its pair, and that pair."""
    real = [(witness, place) for place, witness in enumerate(witnesses) if witness is not None]
    if not real:
        return None, pairs[0]
    witness, place = max(real, key=lambda one: one[0].epsilon)
    name = pair_name(case.subject.neighbours, pairs[place], place, case.seed, swapped=witness.swapped)
    return _named(witness, name), pairs[place]


def _named(witness: Witness, name: Name) -> Witness:
    return replace(witness, facts={**witness.facts, "pair": name})


def _search(case: Case, best: Witness | None, top: Pair, finder: Finder, tries: int) -> Witness | None:
    """What refutes, with the smallest pair that shows as much; else the best that a search of so many pairs finds."""
    relation, claim = case.subject.neighbours, case.claim
    shown = best.epsilon if best is not None and best.epsilon > claim.epsilon else None
    if shown is None and not case.search:
        return best

    def epsilon(pair: Pair) -> Fraction:
        witness = finder(pair)
        return Fraction(0) if witness is None else witness.epsilon

    def as_good(pair: Pair) -> bool:
        figure = epsilon(pair)
        return figure > claim.epsilon and (shown is None or figure >= shown)

    if isinstance(relation, ByStrategy):
        example = smallest_example(relation.strategy, as_good, case.seed, min(tries, EXAMPLES) if shown is None else EXAMPLES)
        witness = None if example is None else finder(example[0])
        return best if example is None or witness is None else _named(witness, chosen_name(example[1], swapped=witness.swapped))
    if not isinstance(relation, ReplaceOne | AddRemove):
        return best
    if shown is None:
        rng = np.random.default_rng([case.seed, 7])
        start = max([top, *corners(relation, rng)], key=epsilon)
        top = ascended(relation, start, epsilon, rng, tries)
    if as_good(top):
        top = shrunk(relation, top, as_good, SHRINK)
    witness = finder(top)
    if witness is None or (best is not None and witness.epsilon <= best.epsilon and not as_good(top)):
        return best
    return _named(witness, pair_name(relation, top, 0, case.seed, swapped=witness.swapped))
