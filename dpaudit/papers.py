"""A paper's claims as checks that decide them. Papers are found through the entry-point group ``dpaudit.claims``."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, InvalidValue, show

GROUP = "dpaudit.claims"
SCHEMA = "dpaudit.claims/1"
FOLLOWED = ("dpaudit", "algorithms")  # packages whose imports are followed, beside the paper's own
IMPORTS = "what these import"
VERDICTS = ("verified", "refuted", "conditional", "unchecked")


class ClaimError(DpauditError):
    """A claim that cannot be found or decided. Keeps its id."""

    def __init__(self, claim: str, reason: str) -> None:
        self.claim = claim
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


@dataclass(frozen=True)
class Check:
    """One claim: a public id, where it is printed, what it says, and the computation that decides it.

    ``covers`` names the modules whose code the evidence is about; stored evidence is stale once they change.
    """

    id: str
    where: str
    statement: str
    run: Callable[[bool], Decision]
    covers: Sequence[str] = field(default=())


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

    @property
    def summary(self) -> str:
        """The evidence in one line."""
        if "summary" in self.evidence:
            return str(self.evidence["summary"])
        return ", ".join(f"{name} {value}" for name, value in self.evidence.items() if not isinstance(value, dict | list))

    def to_dict(self) -> dict[str, Any]:
        about = {"id": self.id, "where": self.where, "statement": self.statement, "verdict": self.verdict}
        found = {"evidence": dict(self.evidence), "correction": self.correction, "code": dict(self.code)}
        return {**about, **found, "stale": list(self.stale)}


def find_checks() -> dict[str, Any]:
    """Every check of every installed paper by its id, in the order of their papers. Raises ClaimError."""
    found: dict[str, Any] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.value.split(".")[0] != "proofs_checks", p.name)):
        for check in _load(point):
            name = getattr(check, "id", None)
            if not isinstance(name, str) or not all(hasattr(check, part) for part in ("where", "statement", "run")):
                raise ClaimError(point.name, "holds something that is not a Check(id, where, statement, run)")
            if name in found:
                raise ClaimError(name, "two checks have this id")
            found[name] = check
    return found


def select(checks: Mapping[str, Any], ids: Sequence[str]) -> list[Any]:
    """The checks with these ids, or whose ids start with one of them and a dot; all without ids. Raises ClaimError."""
    chosen: dict[str, Any] = {}
    for wanted in ids:
        group = {name: check for name, check in checks.items() if name == wanted or name.startswith(f"{wanted}.")}
        if not group:
            raise ClaimError(wanted, "no such claim; `dpaudit claims --quick` lists them all")
        chosen |= group
    return list((chosen if ids else checks).values())


def decide(check: Any, quick: bool) -> Decided:
    """Run one check. Raises ClaimError if it does not come to a decision."""
    started = time.perf_counter()
    try:
        found = check.run(quick)
    except DpauditError as error:
        raise ClaimError(check.id, f"its check failed: {error}") from error
    except Exception as error:
        raise ClaimError(check.id, f"its check failed: {type(error).__name__}: {error}") from error
    seconds = time.perf_counter() - started
    verdict, correction = getattr(found, "verdict", None), getattr(found, "correction", None)
    if verdict not in VERDICTS:
        raise ClaimError(check.id, "its check must decide " + ", ".join(VERDICTS))
    try:
        evidence = plain(getattr(found, "evidence", {}))
        correction = plain(correction)
    except (TypeError, ValueError) as error:
        raise ClaimError(check.id, f"its evidence is not plain data: {error}") from error
    if not isinstance(evidence, dict) or not evidence:
        raise ClaimError(check.id, "its decision carries no evidence")
    return Decided(check.id, check.where, check.statement, verdict, evidence, correction, digests(check), round(seconds, 3))


def plain(value: Any) -> Any:
    """Evidence as JSON can hold it: fractions as exact texts, tuples as lists; no NaN, no infinity."""
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    json.dumps(value, allow_nan=False)
    return value


def digests(check: Any) -> dict[str, str]:
    """SHA-256 of the modules that a check is about, its own first; and one of all that these import of the paper's package, of
    the algorithms and of dpaudit: what decides is part of the evidence too."""
    own = getattr(check.run, "__module__", None)
    names = list(dict.fromkeys([*([own] if isinstance(own, str) else []), *getattr(check, "covers", ())]))
    told = {name: _digest(name, check.id) for name in names}
    rest = sorted(_imported(tuple(names)) - set(names))
    lines = [f"{name} {_digest(name, check.id)}" for name in rest]
    return {**told, IMPORTS: hashlib.sha256("\n".join(lines).encode()).hexdigest()} if rest else told


def _digest(name: str, claim: str) -> str:
    origin = _origin(name)
    if origin is None:
        raise ClaimError(claim, f"covers {name}, which is not installed")
    return hashlib.sha256(origin.read_bytes()).hexdigest()


def _origin(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _imported(names: tuple[str, ...]) -> set[str]:
    """All modules that these import, one way or another, as far as they belong to the same packages or to ``FOLLOWED``."""
    tops = {name.partition(".")[0] for name in names} | set(FOLLOWED)
    found, waiting = set(names), list(names)
    while waiting:
        for name in _imports(waiting.pop()):
            if name.partition(".")[0] in tops and name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _imports(name: str) -> Iterator[str]:
    """The modules that a module names in its imports, also inside functions."""
    origin = _origin(name)
    if origin is not None and origin.suffix == ".py":
        tops = {name.partition(".")[0], *FOLLOWED}
        yield from (each for each in _named(origin.read_bytes()) if each.partition(".")[0] in tops and _origin(each) is not None)


@lru_cache(maxsize=4096)
def _named(source: bytes) -> frozenset[str]:
    named: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return frozenset(named)


def read_stored(document: object, checks: Mapping[str, Any]) -> list[Decided]:
    """Stored evidence (the JSON of ``dpaudit claims``), each claim with the modules that changed since. Raises InvalidValue."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or not isinstance(document.get("claims"), list):
        raise InvalidValue("evidence", "another file", f"the JSON of dpaudit claims ({SCHEMA})")
    return [_stored(entry, checks) for entry in document["claims"]]


def _stored(entry: Any, checks: Mapping[str, Any]) -> Decided:
    try:
        parts = {name: entry[name] for name in ("id", "where", "statement", "verdict", "evidence", "correction")}
        code = {str(name): str(digest) for name, digest in entry["code"].items()}
        if parts["verdict"] not in VERDICTS or not isinstance(parts["evidence"], dict) or not isinstance(parts["id"], str):
            raise InvalidValue("verdict", parts["verdict"], "one of " + ", ".join(VERDICTS))
    except (KeyError, TypeError, AttributeError):
        raise InvalidValue("evidence", "an entry", "a claim as dpaudit claims writes it") from None
    if parts["id"] not in checks:
        return Decided(**parts, code=code, stale=["its check, which is not installed"])
    now = digests(checks[parts["id"]])
    return Decided(**parts, code=code, stale=[name for name in {**code, **now} if code.get(name) != now.get(name)])


def _load(point: EntryPoint) -> Iterable[Any]:
    try:
        checks = point.load()
        return list(checks() if callable(checks) else checks)
    except Exception as error:
        raise ClaimError(point.name, f"its checks cannot be loaded: {type(error).__name__}: {error}") from error
