"""The vocabulary of dpaudit: claims, bounds, enclosures, findings, verdicts and errors. Nothing else.

ε and δ are exact here: every number that enters a claim, a budget or a certificate is a ``Fraction``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

from dpaudit.notices import notice

Number = int | float | str | Fraction
OBSERVERS = ("server", "actions", "shuffled", "others-actions")

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\Z", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)
_LONGEST = 4096  # bits of a numerator or denominator


class DpauditError(Exception):
    """Root of every error that dpaudit raises on purpose. The message says what to do about it."""


class InvalidValue(DpauditError, ValueError):
    """A parameter is outside what it may be. Keeps the name and the offending value."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name, self.value, self.expected = name, value, expected
        shown = show(value) if isinstance(value, Fraction) else repr(value)
        super().__init__(f"{name} must be {expected}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")


class BudgetExceeded(DpauditError):
    """DPA001: the door refused a release that would have exceeded its budget. No noise was drawn."""

    def __init__(self, release: str, would_cost: tuple[Fraction, Fraction], budget: tuple[Fraction, Fraction]) -> None:
        self.release, self.would_cost, self.budget = release, would_cost, budget
        super().__init__(
            f"DPA001: release {release!r} would bring a record to ε={show(would_cost[0])}, δ={show(would_cost[1])}; "
            f"the budget is ε={show(budget[0])}, δ={show(budget[1])}"
        )


class Leak(DpauditError):
    """DPA002: sealed data was turned into something that the door does not see.

    No TypeError: numpy and others would swallow it, try something else and complain about that.
    """

    def __init__(self, operation: str, where: str = "") -> None:
        self.operation, self.where = operation, where
        super().__init__(
            f"DPA002: private data leaves by {operation}{f' at {where}' if where else ''}; release it through the channel"
        )
        notice(self)  # also where the code that leaks catches it


class SensitivityError(DpauditError):
    """DPA003: the sensitivity derived from the trace is larger than the declared one."""

    def __init__(self, release: str, declared: Fraction, derived: Fraction) -> None:
        self.release, self.declared, self.derived = release, declared, derived
        super().__init__(
            f"DPA003: release {release!r} declares sensitivity {show(declared)}, but one record can move it by {show(derived)}"
        )


class Contradiction(DpauditError):
    """An upper bound below a lower bound: dpaudit itself is wrong somewhere, and says so."""

    def __init__(self, upper: Fraction, lower: float) -> None:
        self.upper, self.lower = upper, lower
        super().__init__(
            f"contradiction inside dpaudit: upper bound {show(upper)} is below lower bound {lower}; please report it"
        )


def exact(value: Number, name: str = "value") -> Fraction:
    """Read a number exactly: ``Fraction``, int, "0.1", "1/2", "1e-6"; a float by its shortest decimal."""
    if isinstance(value, bool | bytes) or type(value).__name__ in ("bool", "bool_"):  # the latter are numpy's
        raise InvalidValue(name, value, "a number")
    if isinstance(value, int | Fraction):
        return _bounded(Fraction(value), name)
    if isinstance(value, str):
        text = value.strip()
        if len(text) <= 4096 and (_DECIMAL.match(text) or _RATIO.match(text)):
            try:
                return _bounded(Fraction(text), name)
            except ZeroDivisionError:
                pass
        raise InvalidValue(name, value, 'a decimal or a fraction such as "0.1", "1e-6" or "1/2"')
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValue(name, value, "a number") from None
    if not math.isfinite(number):
        raise InvalidValue(name, value, "a finite number")
    return Fraction(repr(number))


def _bounded(number: Fraction, name: str) -> Fraction:
    """Sums and products of accepted numbers stay short enough to be written down."""
    if max(abs(number.numerator), number.denominator).bit_length() > _LONGEST:
        raise InvalidValue(name, "a number of more than 1,200 digits", "shorter")
    return number


def exact_epsilon(value: Number, name: str = "epsilon") -> Fraction:
    """A privacy parameter ε: finite and not negative."""
    epsilon = exact(value, name)
    if not 0 <= epsilon <= 10**300:
        raise InvalidValue(name, value, "zero or more, and at most 1e300")
    return epsilon


def exact_delta(value: Number, name: str = "delta") -> Fraction:
    """A privacy parameter δ: at least 0 and below 1."""
    delta = exact(value, name)
    if not 0 <= delta < 1:
        raise InvalidValue(name, value, "at least 0 and below 1")
    return delta


def positive(value: Number, name: str) -> Fraction:
    """An exact number above zero."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidValue(name, value, "greater than 0")
    return number


def whole(value: object, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``; accepts ints and texts such as "10000" or "1e6"."""
    number = exact(value, name) if isinstance(value, str | int | float | Fraction) else None
    if number is None or number.denominator != 1 or number < least:
        raise InvalidValue(name, value, f"a whole number of at least {least}")
    if most is not None and number > most:
        raise InvalidValue(name, value, f"at most {most:,}")
    return int(number)


def show(value: Fraction) -> str:
    """An exact number as text that ``exact`` reads back: a decimal where it is finite and short, else p/q."""
    if value.denominator == 1:
        return str(value.numerator)
    reduced, twos, fives = value.denominator, 0, 0
    while reduced % 2 == 0:
        reduced, twos = reduced // 2, twos + 1
    while reduced % 5 == 0:
        reduced, fives = reduced // 5, fives + 1
    places = max(twos, fives)
    if reduced != 1 or places > 60:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0")
    if abs(value) < Fraction(1, 10000):
        significant = digits.strip("0")
        head = significant[0] + (f".{significant[1:]}" if len(significant) > 1 else "")
        text = f"{head}e-{places - len(digits.lstrip('0')) + 1}"
    return ("-" if value < 0 else "") + text


def float_down(value: Fraction) -> float:
    """The largest float that is not above ``value``: the safe direction for a lower bound."""
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, -math.inf)


def float_up(value: Fraction) -> float:
    """The smallest float that is not below ``value``: the safe direction for an upper bound."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


_LONG, _SHORT = 4096, 2048  # bits


def shorten_up(value: Fraction) -> Fraction:
    """The number itself, or one above it by less than 2^-2048 where its denominator is longer than 4096 bits.

    Sums of thousands of fractions that have nothing in common grow without limit otherwise.
    """
    if value.denominator.bit_length() <= _LONG:
        return value
    return Fraction(-((-value.numerator << _SHORT) // value.denominator), 1 << _SHORT)


def sum_up(terms: Iterable[Fraction]) -> Fraction:
    """Their sum, exact while its denominator is at most 4096 bits long, else above it by a hair."""
    return reduce(lambda total, term: shorten_up(total + term), terms, Fraction(0))


@dataclass(frozen=True)
class Claim:
    """ "This is (ε,δ)-DP for that observer." Numbers are read exactly."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    observer: str = "server"

    def __init__(self, epsilon: Number, delta: Number = "0", observer: str = "server") -> None:
        if observer not in OBSERVERS:
            raise InvalidValue("observer", observer, "one of " + ", ".join(OBSERVERS))
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "observer", observer)

    def to_dict(self) -> dict[str, str]:
        return {"epsilon": show(self.epsilon), "delta": show(self.delta)}

    def __str__(self) -> str:
        return f"ε={show(self.epsilon)}" + (f", δ={show(self.delta)}" if self.delta else "")


@dataclass(frozen=True)
class Enclosure:
    """A number known to lie in [lower, upper]. ``in_domain``: does the theorem behind it hold there?"""

    lower: Fraction
    upper: Fraction
    in_domain: bool = True
    method: str = ""
    attack: Fraction | None = None  # a proven lower bound on the true ε of the same randomiser, for the same observer

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise InvalidValue("enclosure", (self.lower, self.upper), "ordered")


@dataclass(frozen=True)
class Line:
    """One release, or one batch of reports, as an accountant read it."""

    batch: str
    n: int
    epsilon0: Fraction
    in_domain: bool
    epsilon: Fraction
    theorem: str
    preconditions: str
    delta: Fraction = Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "batch": self.batch,
            "n": self.n,
            "epsilon0": show(self.epsilon0),
            "in_domain": self.in_domain,
            "epsilon": show(self.epsilon),
            "delta": show(self.delta),
            "theorem": self.theorem,
            "preconditions": self.preconditions,
        }


@dataclass(frozen=True)
class Bound:
    """A proven upper bound, for the default observer and per observer."""

    epsilon: Fraction
    delta: Fraction
    method: str
    per_observer: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    worst_client: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[Line] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()  # what was not used, and why


@dataclass(frozen=True)
class Finding:
    """Something a rule has to say, and where. A finding never refutes by itself."""

    rule: str
    message: str
    where: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"rule": self.rule, "message": self.message, "where": self.where}


class Outcome(StrEnum):
    """The three things that a verdict can say."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    UNPROVEN = "unproven"


@dataclass(frozen=True)
class Lower:
    """A lower bound on ε at the claim's δ, with the confidence at which it holds (1 for an exact witness)."""

    epsilon: float
    confidence: float
    method: str
    samples: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "confidence": self.confidence,
            "method": self.method,
            "samples": self.samples,
        }


@dataclass(frozen=True)
class Upper:
    """An upper bound on ε at the claim's δ: how it was reached, and what it rests on."""

    epsilon: Fraction
    method: str
    sensitivity: Literal["proven", "tested", "declared"]
    path: Literal["enforced", "single", "observed"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": show(self.epsilon),
            "method": self.method,
            "sensitivity": self.sensitivity,
            "path": self.path,
        }


@dataclass(frozen=True)
class Losses:
    """Privacy losses log P(view|D) − log P(view|D') of an audit's own runs, counted in bins of equal width; what lies outside
    is counted in the outermost. ``score``: by likelihood ratio, or as a score learned from other runs estimates them.
    """

    low: float
    high: float
    data: Sequence[int]  # runs on D in each bin
    neighbour: Sequence[int]  # runs on D'
    score: str

    def edges(self) -> list[float]:
        width = (self.high - self.low) / len(self.data)
        return [self.low + place * width for place in range(len(self.data) + 1)]


@dataclass(frozen=True)
class Verdict:
    """What an audit says: the claim, both bounds, the evidence."""

    verdict: Outcome
    claim: Claim
    lower: Lower
    upper: Upper | None
    findings: Sequence[Finding]
    witness: Mapping[str, Any] | None
    subject: str
    neighbours: str
    seed: int
    detectable: float | None
    reason: str
    seconds: float = 0.0
    losses: Losses | None = None  # for a picture; no part of the JSON

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "dpaudit.audit/1",
            "subject": self.subject,
            "claim": self.claim.to_dict(),
            "observer": self.claim.observer,
            "neighbours": self.neighbours,
            "seed": self.seed,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "lower": self.lower.to_dict(),
            "detectable": self.detectable,
            "upper": None if self.upper is None else self.upper.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "witness": None if self.witness is None else dict(self.witness),
            "seconds": round(self.seconds, 3),
        }

    def to_json(self) -> str:
        """The verdict in the form of ``schemas/audit.json``."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=2)
