"""A charge and its release next to each other: what a door writes, a million times with another cohort, name and values.

Where both have the text of a pair that was read in full, but for these three, the release's text up to its values follows from
the charge. So the charge is looked up by what stands between its cohort and its name, and the release is compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.entry_frames import INT, Who
from dpaudit.ledger.spending.budget import Charge

_OPENING, _MIDDLE, _NAME = b'{"cohort":', b',"delta":', b',"name":"'
_RANGE = re.compile(rb'\{"cohort":\[\[(%b),(%b)\]\]' % (INT, INT))
_EVERYONE = b'{"cohort":null'
_ONE_ID = re.compile(rb'\{"cohort":\{"ids":\["([ !#-\[\]-~]*+)"\],"intervals":\[\]\}')
_NAMED = re.compile(rb'[ !#-\[\]-~]++"\}')  # printable ASCII that JSON does not escape; not empty
_VALUES = re.compile(rb"(?:%b|\[(?:%b(?:,%b){0,63}+)?\])\}\}" % (INT, INT, INT))


@dataclass(frozen=True, slots=True)
class Pair:
    """The texts around what changes. ``kind``: of the release, in a table."""

    middle: bytes  # of the charge, from its cohort to its name
    before: bytes  # of the release, from its cohort to its name
    after: bytes  # from its name to its values
    charge: Charge
    kind: int

    @classmethod
    def of(cls, charge_frame: bytes, release_frame: tuple[bytes, bytes], charge: Charge, kind: int) -> Pair:
        """From the frames that ``split`` finds."""
        before, after = release_frame
        return cls(charge_frame + _NAME, before, after + b',"values":', charge, kind)


class Awaited:
    """A charge at ``place`` whose release would be next."""

    __slots__ = ("name", "pair", "place", "text", "who")

    def __init__(self, pair: Pair, place: int, who: Who, cohort: bytes, name: bytes) -> None:
        self.pair, self.place, self.who, self.name = pair, place, who, name
        # Of the release, up to its values.
        self.text = b'{"charge":%d,"entry":"release","release":{"cohort":%b%b%b%b' % (
            place,
            cohort,
            pair.before,
            name,
            pair.after,
        )

    @classmethod
    def by(cls, entry: bytes, pairs: Mapping[bytes, Pair], place: int) -> Awaited | None:
        """None where the entry is not the charge of a known pair, or has another form between its texts."""
        start, end = entry.find(_MIDDLE), entry.rfind(_NAME) + len(_NAME)
        pair = pairs.get(entry[start:end])
        if pair is None or _NAMED.fullmatch(entry, end) is None:
            return None
        cohort, who = entry[:start], _who(entry[:start])
        return None if who is None else cls(pair, place, who, cohort[len(_OPENING) :], entry[end:-2])

    def is_release(self, entry: bytes) -> bool:
        return entry.startswith(self.text) and _VALUES.fullmatch(entry, len(self.text)) is not None


def _who(cohort: bytes) -> Who | None:
    if cohort == _EVERYONE:
        return Cohort.all()
    found = _RANGE.fullmatch(cohort)
    if found is None:
        one = _ONE_ID.fullmatch(cohort)
        return None if one is None else one[1].decode()
    start, stop = int(found[1]), int(found[2])
    return (start, stop) if start < stop else None
