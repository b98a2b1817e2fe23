"""Facts of a release that others compute with, as its record writes them: texts under "extra", beside notes of any other kind.

A record has one form, so a whole number has one text: "12", never "012" or "+12".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.claims import InvalidValue
from dpaudit.ledger.records.printable_text import plain

WHOLE = ("steps", "coordinates", "crowd", "count", "leaves")
TEXTS = ("read", "relation", "sampling", "failure")
FACTS = (*WHOLE, *TEXTS)

_LONGEST = 4096  # digits, as in any JSON that is read


def check_facts(facts: Mapping[str, Any], extra: Mapping[str, str]) -> None:
    """Raise InvalidValue for a fact of the wrong type, or one that stands among the notes."""
    for name, value in facts.items():
        if value is None:
            continue
        if name in TEXTS:
            plain(value, name)
        elif type(value) is not int or value < 0:
            raise InvalidValue(name, type(value).__name__, "a whole number of at least 0")
    hidden = next((name for name in FACTS if name in extra), None)
    if hidden is not None:
        raise InvalidValue("extra", hidden, f"left without {hidden}: that is a field of its own")


def facts_to_json(facts: Mapping[str, Any], extra: Mapping[str, str]) -> dict[str, str]:
    """Facts that are known and notes, as one mapping in the order of names."""
    known = {name: str(value) for name, value in facts.items() if value is not None}
    return dict(sorted({**extra, **known}.items()))


def facts_from_json(extra: Any) -> dict[str, Any]:
    """The fields that ``facts_to_json`` wrote into this mapping. Raises InvalidValue."""
    if not isinstance(extra, Mapping):
        return {"extra": extra}  # a release refuses it by name
    facts = {name: _whole(extra[name], name) if name in WHOLE else extra[name] for name in FACTS if name in extra}
    return {**facts, "extra": {name: note for name, note in extra.items() if name not in FACTS}}


def _whole(text: Any, name: str) -> int:
    if type(text) is str and len(text) <= _LONGEST and text.isascii() and text.isdigit() and text == str(int(text)):
        return int(text)
    raise InvalidValue("extra", name, f"written with {name} as the digits of a whole number")
