"""Evidence that was stored, and which of it is stale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.claims import InvalidValue
from dpaudit.papers.checks import SCHEMA, VERDICTS, ClaimError, Decided
from dpaudit.papers.decisions import digests
from dpaudit.papers.severity import BASES, SEVERITIES


def read_stored(document: object, checks: Mapping[str, Any]) -> list[Decided]:
    """Stored evidence (the JSON of ``dpaudit claims``), each claim with the modules that changed since. Raises InvalidValue."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or not isinstance(document.get("claims"), list):
        raise InvalidValue("evidence", "another file", f"the JSON of dpaudit claims ({SCHEMA})")
    return [_read_entry(entry, checks) for entry in document["claims"]]


def _read_entry(entry: Any, checks: Mapping[str, Any]) -> Decided:
    try:
        parts = {name: entry[name] for name in ("id", "where", "statement", "verdict", "evidence", "correction")}
        code = {str(name): str(digest) for name, digest in entry["code"].items()}
        failed = bool(entry.get("failed", False))
        rating = _rating(entry)
        if parts["verdict"] not in VERDICTS or not isinstance(parts["evidence"], dict):
            raise InvalidValue("verdict", parts["verdict"], "one of " + ", ".join(VERDICTS))
        if not all(isinstance(parts[name], str) for name in ("id", "where", "statement")):
            raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise InvalidValue("evidence", "an entry", "a claim as dpaudit claims writes it") from None
    try:
        now = digests(checks[parts["id"]])
        stale = [name for name in {**code, **now} if code.get(name) != now.get(name)]
    except KeyError:
        stale = ["its check, which is not installed"]
    except ClaimError as error:
        stale = [f"its check, which {error.reason}"]
    return Decided(**parts, **rating, code=code, stale=[] if failed else stale, failed=failed)


def _rating(entry: Any) -> dict[str, Any]:
    """Evidence that was stored before claims had them has none."""
    severity, basis = entry.get("severity", "none"), entry.get("basis")
    lists = {word: entry.get(word, []) for word in ("needs", "breaks", "repairs")}
    if severity not in SEVERITIES or (basis is not None and basis not in BASES):
        raise TypeError
    if not all(isinstance(names, list) for names in lists.values()):
        raise TypeError
    return {"severity": severity, "basis": basis, **{word: tuple(map(str, names)) for word, names in lists.items()}}
