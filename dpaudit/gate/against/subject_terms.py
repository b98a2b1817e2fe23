"""What a subject's claim is about: who observes, which arithmetic, and between which data sets. Plain data, to be compared."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

from dpaudit.claims import Claim
from dpaudit.neighbours.relations import Listed, Neighbours, content
from dpaudit.subjects.subject import Subject

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def subject_terms(subject: Subject, claim: Claim) -> dict[str, Any]:
    """Observer and arithmetic of the claim that it is held to, and its neighbours; what has no plain form stands as a digest."""
    return {"observer": claim.observer, "arithmetic": claim.arithmetic, "neighbours": neighbour_terms(subject.neighbours)}


def neighbour_terms(neighbours: Neighbours) -> dict[str, Any]:
    """The relation's name, its number of records, and the range or the values of a record."""
    terms: dict[str, Any] = {"relation": neighbours.name}
    for key in ("n", "low", "high"):
        if hasattr(neighbours, key):
            terms[key] = np.asarray(getattr(neighbours, key)).tolist()
    if hasattr(neighbours, "values"):
        terms["values"] = sorted({content(value).hex() for value in neighbours.values})
    if isinstance(neighbours, Listed):
        terms["pairs"] = sorted({(content(first) + content(second)).hex() for first, second in neighbours.listed})
    if len(terms) == 1:  # a strategy, or a relation of the user's own
        terms["digest"] = hashlib.sha256(_ADDRESS.sub("", repr(neighbours)).encode()).hexdigest()
    return terms
