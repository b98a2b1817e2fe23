"""A paper's claims as checks that decide them. Papers are found through the entry-point group ``dpaudit.claims``."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from importlib.metadata import EntryPoint
from typing import Any

from dpaudit import entry_points
from dpaudit.claims import DpauditError, show
from dpaudit.papers.code_digests import code_digests
from dpaudit.papers.severity import BASES, SEVERITIES

GROUP = "dpaudit.claims"
SCHEMA = "dpaudit.claims/1"
VERDICTS = ("verified", "refuted", "conditional", "unchecked")
_LONGEST = 300  # characters of a reason
_FOLDERS = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[/\\][^\s/\\'\"()<>,;:]+)+[/\\](?=[^\s/\\])")


class ClaimError(DpauditError):
    """A claim that cannot be found or decided. Keeps its id and the reason."""

    def __init__(self, claim: str, reason: str) -> None:
        self.claim, self.reason = claim, reason
        super().__init__(f"{claim}: {reason}")


@dataclass(frozen=True)
class Decision:
    """What a check found. ``evidence["summary"]`` is one line for a person; the rest is data, exact numbers as texts.

    ``verified``: on the range that the evidence states. ``refuted``: by the counterexample in the evidence.
    ``conditional``: under a condition that the paper does not state. ``unchecked``: no computation here can decide it.
    """

    verdict: str
    evidence: Mapping[str, Any]
    correction: Any = None  # a text, an object or None: what holds instead
    severity: str | None = None  # None: as its check says for a claim that does not hold
    basis: str | None = None  # None: as its check says for a claim that holds
    breaks: Sequence[str] = ()  # claims that hold as printed, and no longer with this repair alone


@dataclass(frozen=True)
class Check:
    """One claim: a public id, where it is printed, what it says, and the computation that decides it.

    ``covers`` names the modules whose code the evidence is about; stored evidence is stale once they change. ``severity``: how
    grave it is if the claim does not hold, ``basis``: what it rests on if it does (``severity.RULES``, ``BASES``). ``needs``: the
    claims that it rests on.
    """

    id: str
    where: str
    statement: str
    run: Callable[[bool], Decision]
    covers: Sequence[str] = field(default=())
    severity: str = "none"
    basis: str | None = None
    needs: Sequence[str] = field(default=())
    repairs: Sequence[str] = field(default=())  # the claims that it puts right as a whole: a theorem's, with all its parts
    seconds: float | None = None  # that a full run of it takes, about; None: not known


@dataclass(frozen=True)
class Unusable:
    """What stands where a paper or a check should be, and why it is none. It decides nothing, and hinders no other check.

    ``claim``: the id it asks for, where another check has that id already.
    """

    id: str
    where: str
    statement: str
    reason: str
    claim: str | None = None


@dataclass(frozen=True)
class Decided:
    """A claim with its verdict, its evidence, and a digest of every module that the evidence is about."""

    id: str
    where: str
    statement: str
    verdict: str
    evidence: Mapping[str, Any]
    correction: Any
    code: Mapping[str, str]
    seconds: float | None = None
    stale: Sequence[str] = ()  # modules that changed since the evidence was stored
    failed: bool = False  # its check came to no decision; the evidence says why
    severity: str = "none"
    basis: str | None = None
    needs: Sequence[str] = ()
    breaks: Sequence[str] = ()
    repairs: Sequence[str] = ()

    @property
    def summary(self) -> str:
        """The evidence in one line."""
        if "summary" in self.evidence:
            return " ".join(str(self.evidence["summary"]).split())
        return ", ".join(f"{name} {value}" for name, value in self.evidence.items() if not isinstance(value, dict | list))

    def to_dict(self) -> dict[str, Any]:
        about: dict[str, Any] = {"id": self.id, "where": self.where, "statement": self.statement, "verdict": self.verdict}
        about |= {"severity": self.severity, "basis": self.basis, "needs": list(self.needs)}
        about |= {"breaks": list(self.breaks), "repairs": list(self.repairs)}
        decision = {"evidence": dict(self.evidence), "correction": self.correction, "code": dict(self.code)}
        return {**about, **decision, "stale": list(self.stale), "failed": self.failed}


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


def brief(error: BaseException) -> str:
    """Type and message of an error in one line; of paths in it only the last part."""
    try:
        message = " ".join(_FOLDERS.sub("", str(error)).split())
    except Exception:
        message = ""
    text = "".join(letter for letter in f"{type(error).__name__}: {message}".rstrip(": ") if letter.isprintable())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


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


def decide(check: Any, quick: bool) -> Decided:
    """Run one check. Raises ClaimError if it does not come to a decision."""
    if isinstance(check, Unusable):
        raise ClaimError(check.id, check.reason)
    started = time.perf_counter()
    try:
        with redirect_stdout(sys.stderr):  # standard output is for the answer
            decision = check.run(quick)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ClaimError(check.id, f"its check failed: {brief(error)}") from error
    seconds = time.perf_counter() - started
    verdict, correction = getattr(decision, "verdict", None), getattr(decision, "correction", None)
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise ClaimError(check.id, "its check must decide " + ", ".join(VERDICTS))
    try:
        evidence, correction = plain(getattr(decision, "evidence", {})), plain(correction)
    except Exception as error:
        raise ClaimError(check.id, f"its evidence is not plain data: {brief(error)}") from error
    if not isinstance(evidence, dict) or not evidence:
        raise ClaimError(check.id, "its decision carries no evidence")
    if not isinstance(correction, str | dict | None):
        raise ClaimError(check.id, "its correction must be a text, an object or None")
    severity, basis, lists = _rating(check, decision, verdict)
    return Decided(
        check.id, check.where, check.statement, verdict, evidence, correction, digests(check), round(seconds, 3),
        severity=severity, basis=basis, needs=lists["needs"], breaks=lists["breaks"], repairs=lists["repairs"],
    )  # fmt: skip


def _rating(check: Any, decision: Any, verdict: str) -> tuple[str, str | None, dict[str, tuple[str, ...]]]:
    """A claim that holds has a basis, one that does not a severity."""
    severity = getattr(decision, "severity", None) or getattr(check, "severity", "none")
    basis = getattr(decision, "basis", None) or getattr(check, "basis", None)
    lists = {
        "needs": getattr(check, "needs", ()),
        "breaks": getattr(decision, "breaks", ()),
        "repairs": getattr(check, "repairs", ()),
    }
    if severity not in SEVERITIES:
        raise ClaimError(check.id, "its severity must be one of " + ", ".join(SEVERITIES))
    if basis is not None and basis not in BASES:
        raise ClaimError(check.id, "its basis must be one of " + ", ".join(BASES))
    for word, names in lists.items():
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ClaimError(check.id, f"what it {word} must be ids of claims")
    holds = verdict == "verified"
    grade = severity if verdict in ("refuted", "conditional") else "none"
    return grade, (basis if holds else None), {word: tuple(names) for word, names in lists.items()}


def attempt(check: Any, quick: bool) -> Decided:
    """As ``decide``; a claim whose check comes to no decision is unchecked, and its evidence says why."""
    try:
        return decide(check, quick)
    except ClaimError as error:
        return Decided(check.id, check.where, check.statement, "unchecked", {"summary": error.reason}, None, {}, failed=True)


def plain(value: Any) -> Any:
    """Evidence as JSON can hold it: fractions as exact texts, tuples as lists; no NaN, no infinity."""
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def digests(check: Any) -> dict[str, str]:
    """SHA-256 of the modules that a check is about, its own first; and one of all that these import of the paper's package, of
    the algorithms and of dpaudit: what decides is part of the evidence too. Raises ClaimError."""
    own, covers = getattr(getattr(check, "run", None), "__module__", None), getattr(check, "covers", ())
    try:
        names = [*([own] if isinstance(own, str) else []), *([covers] if isinstance(covers, str) else covers)]
        with entry_points.our_packages() if entry_points.comes_with_us(check.run) else nullcontext():
            return code_digests(list(dict.fromkeys(names)))
    except ModuleNotFoundError as error:
        raise ClaimError(check.id, f"covers {error.name}, which is not installed") from error
    except Exception as error:
        raise ClaimError(check.id, f"the code that it covers cannot be read: {brief(error)}") from error
