"""Entries that differ from one read before in a few numbers and texts only: nearly all entries of a large ledger.

An entry is canonical JSON: a frame of text around the numbers and names that change from release to release. Where the frame
is that of an entry that was read in full, what is between was checked by its form here, and nothing else need be read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dpaudit.ledger.records.cohort import Cohort, Interval

# Most cohorts in short: one range, one id.
Who = Interval | str | Cohort

INT = rb"(?:0|-?[1-9]\d{0,17})"  # within 64 bits
_TEXT = rb"[ !#-\[\]-~]*+"  # printable ASCII that JSON does not escape
_COHORT = rb'"cohort":(?:\[\[(%b),(%b)\]\]|(null)|\{"ids":\["(%b)"\],"intervals":\[\]\})' % (INT, INT, _TEXT)
_CHARGE = re.compile(rb"\{%b(?=,\"delta\":)" % _COHORT)
_NAMED = re.compile(rb'(?:,"key":"(%b)")?,"name":"(%b)"\}' % (_TEXT, _TEXT))
# The first name and the last values; nothing is tried twice.
_RELEASE = re.compile(
    rb'\{(?:"charge":([1-9]\d{0,17}),)?"entry":"release",(?:"key":"(%b)",)?"release":\{%b'
    rb'((?>[^\\]*?"name":"))([ !#-\[\]-~]++)("[^\\]*),"values":(?:%b|\[(?:%b(?:,%b){0,63}+)?\])\}\}'
    % (_TEXT, _COHORT, INT, INT, INT)
)
_LONGEST = 4096


class EntryParts(NamedTuple):
    """What changes between entries of one frame. ``charge``: the place of the charge that a release uses."""

    frame: tuple[bytes, bytes]
    who: Who
    name: str
    key: str | None
    charge: int | None
    is_charge: bool


def split(entry: bytes) -> EntryParts | None:
    """The frame of a charge or a release and what is between, or None for an entry of another form."""
    if len(entry) > _LONGEST:
        return None
    if entry.startswith(b'{"cohort":'):
        return _split_charge(entry)
    frame = _RELEASE.fullmatch(entry)
    if frame is None:
        return None
    charge, key, start, stop, everyone, name, before, called, after = frame.groups()
    who = _who(start, stop, everyone, name)
    if who is None or b'"name":"' in after:
        return None
    return EntryParts((before, after), who, called.decode(), _text(key), None if charge is None else int(charge), False)


def _split_charge(entry: bytes) -> EntryParts | None:
    frame = _CHARGE.match(entry)
    name = entry.rfind(b',"name":"')
    if frame is None or name < 0:
        return None
    key = entry.rfind(b',"key":"', 0, name)
    end = name if key < 0 else key
    named = _NAMED.fullmatch(entry, end)
    who = _who(*frame.groups())
    if named is None or who is None:
        return None
    return EntryParts((entry[frame.end() : end], b""), who, named[2].decode(), _text(named[1]), None, True)


def _who(start: bytes | None, stop: bytes | None, everyone: bytes | None, name: bytes | None) -> Who | None:
    if start is not None and stop is not None:
        ends = int(start), int(stop)
        return ends if ends[0] < ends[1] else None
    return Cohort.all() if everyone is not None or name is None else name.decode()


def _text(group: bytes | None) -> str | None:
    return None if group is None else group.decode()


def in_short(cohort: Cohort) -> Who:
    """The form that ``split`` gives the same cohort."""
    if len(cohort.intervals) == 1 and not cohort.ids:
        return cohort.intervals[0]
    if len(cohort.ids) == 1 and not cohort.intervals:
        return next(iter(cohort.ids))
    return cohort


def as_cohort(who: Who) -> Cohort:
    if isinstance(who, Cohort):
        return who
    return Cohort.one_id(who) if isinstance(who, str) else Cohort.one_range(who)
