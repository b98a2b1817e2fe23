"""Runs for a picture only: where exact evidence made a game needless, the privacy losses of some fresh runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.auditors.games.guessing_game import rounded
from dpaudit.auditors.games.loss_counts import Frame
from dpaudit.auditors.games.play import PAIRS, undirected
from dpaudit.auditors.pairs.pair_names import named_pair, pair_generator
from dpaudit.auditors.replay.pinned_runs import Replayed, play
from dpaudit.auditors.runs.transcripts import child
from dpaudit.channel import PathChanged
from dpaudit.claims import Claim, Losses
from dpaudit.subjects.subject import Subject

Pair = tuple[Any, Any]
CALLS, TRIALS = 8, 250  # on each data set; a subject may say that a call may have fewer trials
SINGLE = 200  # calls where each is one run
FEW = 4  # of these calls, on each pair, to choose one


def drawn_losses(subject: Subject, claim: Claim, witness: Mapping[str, Any] | None, seed: int) -> Losses | None:
    """On the witness's pair, else on the pair that differs most. None where that observer does not see all that is released, a
    shuffler hides the order, or the data decides the path."""
    if not subject.grey or claim.observer != "server":
        return None
    try:
        listed = undirected(subject.neighbours.pairs(pair_generator(seed)))[:PAIRS]
        pair = _most_telling(subject, listed if witness is None else [named_pair(subject.neighbours, witness["pair"])], seed)
        if pair is None:
            return None
        sides = [_played(subject, side, child(seed, 5, place), _sizes(subject)) for place, side in enumerate((pair, pair[::-1]))]
        data, neighbour = (np.concatenate([one.losses() for one in runs]) for runs in sides)
    except PathChanged:
        return None
    frame = Frame.around(rounded(np.concatenate([data, neighbour])))
    return frame.losses(frame.count(rounded(data)), frame.count(rounded(-neighbour)), "likelihood ratio")


def _most_telling(subject: Subject, pairs: Sequence[Pair], seed: int) -> Pair | None:
    """The pair with the largest losses in a few runs; None with a shuffler."""
    means = []
    for place, pair in enumerate(pairs):
        played = list(_played(subject, pair, child(seed, 6, place), _sizes(subject)[:FEW]))
        if any(event.to == "shuffled" or event.hidden for one in played for event in one.events):
            return None
        means.append(float(np.mean([np.abs(one.losses()).mean() for one in played])))
    return pairs[int(np.argmax(means))]


def _played(subject: Subject, pair: Pair, seed: int, sizes: Sequence[int | None]) -> Iterator[Replayed]:
    for place, size in enumerate(sizes):
        yield play(subject, *pair, child(seed, place), size)


def _sizes(subject: Subject) -> Sequence[int | None]:
    if not subject.vectorised:
        return [None] * SINGLE
    return [int(subject.notes.get("witness trials", TRIALS))] * CALLS
