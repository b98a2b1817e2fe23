"""The checks of every installed paper, found through the entry-point group ``dpaudit.claims``, and the choice among them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from typing import Any

from dpaudit import entry_points
from dpaudit.papers.checks import GROUP, ClaimError, Unusable, brief


def find_checks(paper: str | None = None) -> dict[str, Any]:
    """Every check of every installed paper, or of one, by its id, in the order of their papers, this project's own first.

    Raises ClaimError for a paper that is not installed. What cannot be loaded, is no check, or has an id that is taken stands in
    its place as ``Unusable``.
    """
    checks: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for point in _papers(paper):
        where = f"entry point {point.name} = {point.value}"
        place, count = f"{GROUP}:{'-'.join(point.name.split())}", 0
        try:
            with redirect_stdout(sys.stderr):  # standard output is for the answer
                for count, check in enumerate(_entries(point), 1):
                    wrong, claim = _wrong(check), None
                    if wrong is None and check.id in checks:
                        claim = check.id
                        wrong = f"{claim} is the id of a check of {owners.get(claim, 'dpaudit')} already; rename it"
                    if wrong is None:
                        checks[check.id], owners[check.id] = check, f"the paper {point.name}"
                    else:
                        name, statement = _free(f"{place}.{count}", checks), f"check number {count} of this paper can be used"
                        checks[name] = Unusable(name, where, statement, wrong, claim)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a stranger's module does when it is imported, sys.exit() too
            name, after = _free(place, checks), f" after {count} of them" if count else ""
            reason = f"its checks cannot be loaded{after}: {brief(error)}"
            checks[name] = Unusable(name, where, "the checks of this paper can be loaded", reason)
    return checks


def _papers(wanted: str | None) -> list[EntryPoint]:
    points = sorted(entry_points.points(GROUP), key=lambda point: not entry_points.is_ours(point))
    chosen = [point for point in points if wanted is None or point.name == wanted]
    if wanted is not None and not chosen:
        raise ClaimError(wanted, f"no such paper; there are {', '.join(point.name for point in points) or 'none'}")
    return chosen


def _entries(point: EntryPoint) -> Iterator[Any]:
    """Ours are loaded in one go, as they import their own packages while they load."""
    if entry_points.is_ours(point):
        with entry_points.our_packages():
            checks = point.load()
            ours = list(checks() if callable(checks) else checks)
        yield from ours
    else:
        checks = entry_points.load(point)
        yield from checks() if callable(checks) else checks


def _wrong(check: Any) -> str | None:
    """Why this is no check."""
    try:
        texts = {name: getattr(check, name) for name in ("id", "where", "statement")}
        called = callable(check.run)
    except Exception as error:
        return f"it is no Check(id, where, statement, run): {brief(error)}"
    for name, value in texts.items():
        if not isinstance(value, str) or not value.isprintable() or (name != "where" and not value.strip()):
            return f"it is no Check(id, where, statement, run): its {name} is no line of text"
    if len(texts["id"].split()) != 1:
        return "it is no Check(id, where, statement, run): its id has spaces in it"
    return None if called else "it is no Check(id, where, statement, run): its run cannot be called"


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "'"
    return name


def select(checks: Mapping[str, Any], ids: Sequence[str]) -> list[Any]:
    """The checks with these ids, or whose ids start with one of them and a dot; all without ids. Raises ClaimError."""
    chosen: dict[str, Any] = {}
    for wanted in ids:
        named = {name: {name, getattr(check, "claim", None) or name} for name, check in checks.items()}
        group = [name for name, its in named.items() if any(each == wanted or each.startswith(f"{wanted}.") for each in its)]
        if not group:
            raise ClaimError(wanted, f"no such claim; {_instead(checks, wanted)}")
        chosen |= {name: checks[name] for name in group}
    return list((chosen if ids else checks).values())


def _instead(checks: Mapping[str, Any], wanted: str) -> str:
    """What may have been meant; the groups, when nothing comes near; and the papers that could not be loaded."""
    usable = [name for name, check in checks.items() if not isinstance(check, Unusable)]
    groups = list(dict.fromkeys(name.partition(".")[0] for name in usable))
    lowered = {name.lower(): name for name in (*usable, *groups)}
    near = get_close_matches(wanted.lower(), lowered, n=3) + [name for name in lowered if wanted.lower().strip(".") in name]
    meant = list(dict.fromkeys(lowered[name] for name in near))[:6]
    hint = f"did you mean {', '.join(meant)}?" if meant else f"there are {', '.join(groups) or 'none'}"
    broken = [f"{check.id}: {check.reason}" for check in checks.values() if isinstance(check, Unusable)]
    return "; ".join([hint, *broken])
