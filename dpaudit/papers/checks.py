"""A paper's claims as checks, and what deciding one gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.claims import DpauditError

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


def brief(error: BaseException) -> str:
    """Type and message of an error in one line; of paths in it only the last part."""
    try:
        message = " ".join(_FOLDERS.sub("", str(error)).split())
    except Exception:
        message = ""
    text = "".join(letter for letter in f"{type(error).__name__}: {message}".rstrip(": ") if letter.isprintable())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
