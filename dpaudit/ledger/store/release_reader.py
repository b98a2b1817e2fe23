"""Releases of many entries: those of one frame share what is in it, so that each costs its name, cohort and values alone."""

from __future__ import annotations

import json

from dpaudit.ledger.records.entry_frames import as_cohort, split
from dpaudit.ledger.records.grid_values import units_from_json
from dpaudit.ledger.records.release import Release

_VALUES = b',"values":'
_RELEASE = b'"entry":"release"'
_MOST_FRAMES = 1024


class ReleaseReader:
    """Reads entries of a ledger that was checked. What they mean is what ``Release.from_json`` says."""

    def __init__(self) -> None:
        self._frames: dict[tuple[bytes, bytes], Release] = {}

    def read(self, entry: bytes) -> Release | None:
        """The release of an entry; None for an entry of another kind. Raises InvalidRecord."""
        if _RELEASE not in entry:
            return None
        parts = split(entry)
        known = None if parts is None else self._frames.get(parts.frame)
        if parts is None or parts.is_charge or known is None:
            data = json.loads(entry)
            if data["entry"] != "release":
                return None
            release = Release.from_json(data["release"])
            if parts is not None and not parts.is_charge:
                if len(self._frames) >= _MOST_FRAMES:
                    self._frames.clear()
                self._frames[parts.frame] = release
            return release
        values = json.loads(entry[entry.rindex(_VALUES) + len(_VALUES) : -2])
        return known.about(parts.name, as_cohort(parts.who)).with_values(units_from_json(values))
