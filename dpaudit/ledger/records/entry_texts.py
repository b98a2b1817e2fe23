"""Charges and releases as the canonical JSON of their entries: a frame that many of them share, and what is between.

The text is that of ``canonical``; what is the same for all releases of one noise, cost and observer is written once.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import Any

from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.grid_values import Units, units_to_json
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.budget import Charge

_FRAME = "_frame"  # kept beside the fields of a record, which never change; copies about others take it along


def charge_text(charge: Charge, key: str | None) -> bytes:
    """The entry of a charge."""
    frame: str | None = charge.__dict__.get(_FRAME)
    if frame is None:
        data = charge_to_json(charge, None)
        frame = _inner(data, without=("cohort", "name"))
        charge.__dict__[_FRAME] = frame
    named = "" if key is None else f',"key":{encode_basestring_ascii(key)}'
    text = f'{{"cohort":{_cohort_text(charge.cohort)},{frame}{named},"name":{encode_basestring_ascii(charge.name)}}}'
    return text.encode("ascii")


def release_text(release: Release, charge: int | None = None, key: str | None = None) -> bytes:
    """The entry of a release. ``charge``: the place of the charge that it closes, where it does not bring its own."""
    frame: tuple[str, str] | None = release.__dict__.get(_FRAME)
    if frame is None:
        data = release.to_json()
        before, after = ({name: data[name] for name in data if (name < "name") == first} for first in (True, False))
        frame = _inner(before, without=("cohort",)), _inner(after, without=("name", "values"))
        release.__dict__[_FRAME] = frame
    opening = "" if charge is None else f'"charge":{charge},'
    named = "" if key is None else f'"key":{encode_basestring_ascii(key)},'
    values = "" if release.values is None else f',"values":{_values_text(release.values)}'
    cohort, name = _cohort_text(release.cohort), encode_basestring_ascii(release.name)
    record = f'{{"cohort":{cohort},{frame[0]},"name":{name},{frame[1]}{values}}}'
    return f'{{{opening}"entry":"release",{named}"release":{record}}}'.encode("ascii")


def prepare(release: Release) -> Release:
    """Itself, with both frames: releases that are made from it by ``about`` and ``with_values`` have them too."""
    charge_text(release.charge(), None)
    release_text(release)
    return release


def _inner(data: dict[str, Any], without: tuple[str, ...]) -> str:
    return canonical({name: value for name, value in data.items() if name not in without})[1:-1].decode("ascii")


def _cohort_text(cohort: Cohort) -> str:
    if cohort.everyone:
        return "null"
    if len(cohort.intervals) == 1 and not cohort.ids:
        return f"[[{cohort.intervals[0][0]},{cohort.intervals[0][1]}]]"
    return canonical(cohort.to_json()).decode("ascii")


def _values_text(values: Units) -> str:
    return str(values.item()) if values.ndim == 0 else canonical(units_to_json(values)).decode("ascii")
