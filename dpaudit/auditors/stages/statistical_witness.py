"""What the game and the e-process share: the pairs of a black box, names, and a witness that can be drawn again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.auditors.interface import Case, Pair
from dpaudit.auditors.pairs.pair_names import pair_generator, pair_name
from dpaudit.auditors.pairs.pair_search import for_black_boxes
from dpaudit.auditors.runs.transcripts import Trials
from dpaudit.auditors.wording import describe


def returned_pairs(case: Case) -> Sequence[Pair]:
    """Of a black box more pairs are tried: nothing else is known of it."""
    return case.pairs if case.subject.grey else for_black_boxes(case.subject.neighbours, pair_generator(case.seed))


def score_name(by_likelihood: bool) -> str:
    return "likelihood ratio" if by_likelihood else "learned score"


def statistics_witness(
    case: Case, kind: str, trials: Trials, pairs: Sequence[Pair], figures: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures, and what it takes to draw the same runs again."""
    pair = trials.pair
    place = next(place for place, (first, second) in enumerate(pairs) if first is pair[0] and second is pair[1])
    return {
        "kind": kind, "observer": case.claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]), **figures,
        "score": "likelihood ratio" if trials.by_likelihood else "learned", "seed": trials.seed,
        "pair": pair_name(case.subject.neighbours, pair, place, case.seed, swapped=False),
    }  # fmt: skip


def round_down(value: float, places: int = 6) -> float:
    return float(np.floor(value * 10**places) / 10**places)
