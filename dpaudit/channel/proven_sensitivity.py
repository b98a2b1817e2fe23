"""What sealed data proves of a release: its sensitivity and its cohort; and when a door refuses what is not proven."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from dpaudit.channel.release_log import warn_declared
from dpaudit.claims import DpauditError, Finding, Leak, SensitivityError, exact
from dpaudit.claims.leak_watch import Watch, standing_watch
from dpaudit.ledger import Cohort
from dpaudit.noise import Noise
from dpaudit.sealed.array import Sealed, Untraced, caller, dependence, of_this_run, relation_of


@dataclass
class Proving:
    """``only``: releases that are not proven are refused. ``relation``: data sealed for other neighbours is. ``strict``: what
    declares too little is refused, rather than noted. ``plain``: what happens to a value that is not sealed."""

    only: bool
    relation: str | None
    strict: bool
    plain: Literal["take", "warn", "refuse"] = "take"
    findings: list[Finding] = field(default_factory=list)
    untraced: list[Finding] = field(default_factory=list)
    noticed: Watch | None = None  # what else happens to sealed data while the door is open

    def __post_init__(self) -> None:
        if self.only:
            self.noticed = standing_watch()

    def derive(
        self, name: str, value: Any, noise: Noise, declared: Any, many: bool, weight: Fraction = Fraction(1)
    ) -> tuple[Fraction | None, Cohort | None, int | None]:
        """From sealed data: the proven sensitivity, whose data it is, and its size in steps of the grid. ``many``: trials.
        ``weight``: what is released is so many times the value, and its grid is so many times that of the value."""
        if not isinstance(value, Sealed):
            self._refuse(name, "the value is not sealed")
            self.notice_plain(name)
            return None, None, None
        if not of_this_run(value):
            raise Leak("a value of another run", caller(), "compute it anew from the data of this run")
        trace = dependence(value)
        if many and value.ndim and not isinstance(trace, Untraced):
            trace = Untraced("a sealed array over many trials", caller())  # its first axis is no coordinate
        self._refuse_after_leak(name)
        if isinstance(trace, Untraced):
            self.lose(name, trace)
            return None, None, None
        if self.relation not in (None, relation_of(value)):
            reason = f"its data is sealed for {relation_of(value)} neighbours, and this door is for {self.relation}"
            raise DpauditError(f"release {name!r} is refused: {reason}")
        derived = exact(trace.sensitivity(noise.norm), "sensitivity") * weight
        if isinstance(declared, Fraction) and derived > declared * (1 + Fraction(1, 10**12)):
            error = SensitivityError(name, declared, derived, rewrite=trace.advice)
            if self.strict:
                raise error
            self.findings.append(Finding("DPA003", error.detail, caller(), name))
        return derived, Cohort.of(trace.cohort), trace.steps(noise.grid / weight, noise.norm)

    def lose(self, name: str, trace: Untraced) -> None:
        """Note where a trace was lost; a door for proven releases refuses it."""
        self.untraced.append(Finding("untraced", f"release {name!r} lost its trace in {trace.operation}", trace.where))
        self._refuse(name, f"its trace was lost in {trace.operation} at {trace.where}")

    def notice_plain(self, name: str) -> None:
        """The sensitivity of a plain value is declared and nothing else: said once at each door."""
        if self.plain == "refuse":
            reason = "the value is not sealed, and strict=True takes sealed data only: dp.seal(values, low, high)"
            raise DpauditError(f"release {name!r} is refused: {reason}")
        if self.plain == "warn":
            self.plain = "take"
            warn_declared(name, caller())

    def _refuse_after_leak(self, name: str) -> None:
        """What left by another way, or would have on other data, may be in the value: no trace sees that."""
        if self.noticed is not None and self.noticed.leaks:
            self._refuse(name, f"private data left another way before: {self.noticed.leaks[0]}")
        if self.noticed is not None and self.noticed.doubts:
            doubt = self.noticed.doubts[0]
            self._refuse(name, f"{doubt.operation} at {doubt.where} fails on some data, and that would tell")

    def _refuse(self, name: str, reason: str) -> None:
        """A budget bounds every path only where each release's cost is proven."""
        if self.only:
            raise DpauditError(f"release {name!r} is refused: {reason}, and this door takes proven releases only")
