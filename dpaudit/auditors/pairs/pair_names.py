"""How a witness names its pair of neighbouring data, so that another audit finds the same pair and no other.

A name never brings data that the subject's neighbours do not hold: it is a place in their own list, Hypothesis' choices in their
strategy, or records that are checked to be neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.auditors.pairs.pair_search import for_black_boxes
from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.neighbours.hypothesis_pairs import Choices, example_of
from dpaudit.neighbours.relations import AddRemove, ByStrategy, Neighbours, ReplaceOne

Pair = tuple[Any, Any]
Name = dict[str, Any]
MOST_RECORDS = 10**7


def pair_name(neighbours: Neighbours, pair: Pair, place: int, seed: int, *, swapped: bool) -> Name:
    """``place``: in the list that ``neighbours`` makes from ``seed``; used where the records cannot speak for themselves."""
    if isinstance(neighbours, ReplaceOne | AddRemove):
        first, second = (pair[1], pair[0]) if swapped else pair
        return {"data": _sparse(first), "neighbour": _sparse(second)}
    return {"place": place, "seed": seed, "swapped": swapped}


def chosen_name(choices: Choices, *, swapped: bool) -> Name:
    """A pair that Hypothesis found."""
    return {"choices": choices.text, "hypothesis": choices.version, "swapped": swapped}


def named_pair(neighbours: Neighbours, name: Name) -> Pair:
    """The pair with this name. Raises DpauditError where these neighbours have none such."""
    if "data" in name:
        pair = _dense(name["data"]), _dense(name["neighbour"])
        if not isinstance(neighbours, ReplaceOne | AddRemove) or not neighbours.related(*pair):
            raise DpauditError(f"the witness's data are no neighbours for this subject ({neighbours.name})")
        return pair
    pair = _chosen(neighbours, name) if "choices" in name else _listed(neighbours, name)
    return (pair[1], pair[0]) if name["swapped"] else pair


def _chosen(neighbours: Neighbours, name: Name) -> Pair:
    if not isinstance(neighbours, ByStrategy):
        raise DpauditError(f"the witness's data come from a Hypothesis strategy; this subject's neighbours are {neighbours.name}")
    pair: Pair = example_of(neighbours.strategy, Choices(str(name["hypothesis"]), str(name["choices"])))
    return pair


def _listed(neighbours: Neighbours, name: Name) -> Pair:
    pairs = for_black_boxes(neighbours, pair_generator(name["seed"]))
    place = name["place"]
    if not isinstance(place, int) or not 0 <= place < len(pairs):
        raise InvalidValue("place", place, f"one of the {len(pairs)} pairs of this subject's neighbours")
    return pairs[place]


def pair_generator(seed: Any) -> np.random.Generator:
    """The generator from which an audit with this seed draws its pairs."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number of at least 0")
    return np.random.default_rng([seed, 4])


def _sparse(records: np.ndarray) -> dict[str, Any]:
    """Most records hold one value: that value, and the others by their index."""
    values, counts = np.unique(records, return_counts=True)
    common = float(values[counts.argmax()]) if len(values) else 0.0
    others = np.flatnonzero(records != common)
    return {"records": len(records), "value": common, "except": {str(i): float(records[i]) for i in others}}


def _dense(sparse: Any) -> np.ndarray:
    count = sparse["records"]
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_RECORDS:
        raise InvalidValue("records", count, f"a whole number up to {MOST_RECORDS}")
    records = np.full(count, float(sparse["value"]))
    for index, value in sparse["except"].items():
        records[int(index)] = float(value)
    return records
