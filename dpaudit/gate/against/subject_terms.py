"""What a subject's claim is about: who observes, which arithmetic, and between which data sets. Plain data, to be compared."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

from dpaudit.claims import Claim
from dpaudit.neighbours.frames import Frames
from dpaudit.neighbours.listed_values import Values
from dpaudit.neighbours.raw_values import Raw
from dpaudit.neighbours.relations import AddRemove, Listed, Neighbours, ReplaceOne, content
from dpaudit.neighbours.tables import Rows
from dpaudit.sealed.frames.columns import Column, Numbers
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.examination import default_samples

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def subject_terms(subject: Subject, claim: Claim) -> dict[str, Any]:
    """Observer and arithmetic of the claim that it is held to, its neighbours, and how many samples an audit of it takes unless a
    budget says so; what has no plain form stands as a digest."""
    about = {"observer": claim.observer, "arithmetic": claim.arithmetic, "neighbours": neighbour_terms(subject.neighbours)}
    return {**about, "samples": default_samples(subject)}


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
    if isinstance(neighbours, Frames):
        terms["columns"] = {name: _column(column) for name, column in neighbours.declared}
    elif type(neighbours) not in (ReplaceOne, AddRemove, Rows, Raw, Values, Listed):  # a strategy, or the user's own
        told = f"{neighbours!r} {sorted(getattr(neighbours, '__dict__', {}).items(), key=str)!r}"
        terms["digest"] = hashlib.sha256(_ADDRESS.sub("", told).encode()).hexdigest()
    return terms


def _column(column: Column) -> dict[str, Any]:
    """Its range, or its values, and whether an entry may be missing."""
    if isinstance(column, Numbers):
        return {"low": column.low, "high": column.high, "missing": column.missing}
    return {"values": sorted(content(value).hex() for value in column.values), "missing": column.missing}
