"""Every error that dpaudit raises on purpose. Each keeps what it is about as fields; its message says what to do.

What a program decides by is a field: ``rule``, ``exit_code`` and those of the subclass. The message is for people.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any, ClassVar, TypeVar, cast

from dpaudit.claims.decimals import number, show
from dpaudit.claims.exit_codes import UNUSABLE
from dpaudit.claims.leak_watch import notice


class DpauditError(Exception):
    """Root of every error that dpaudit raises on purpose. The message says what to do about it.

    ``rule``: the id of the rule that it breaks, or None. ``detail``: the message without that id. ``exit_code``: of a command
    that it ends.
    """

    rule: ClassVar[str | None] = None
    exit_code: int = UNUSABLE

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__(detail if self.rule is None else f"{self.rule}: {detail}")


class InvalidValue(DpauditError, ValueError):
    """A parameter is outside what it may be. Keeps the name and the offending value."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name, self.value, self.expected = name, value, expected
        shown = show(value) if isinstance(value, Fraction) else repr(value)
        super().__init__(f"{name} must be {expected}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")


class FileError(DpauditError):
    """Something is wrong with a file. Keeps its path and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str]]:
        """A process of a fleet says why it failed to the one that started it."""
        return type(self), (self.path, self.reason)


_SHARES = (
    ". ε is within it: give each release a share of δ (delta=…), or open the door with a filter that turns sums into ε at a part "
    'of δ and leaves the rest to it, such as dp.Budget(ε, δ, filter="renyi(8,9e-7)")'
)


def _short(value: Fraction) -> str:
    """Exactly, or seven digits rounded up where that would be a long fraction."""
    exact = show(value)
    return exact if "/" not in exact or len(exact) <= 24 else number(value)


class BudgetExceeded(DpauditError):
    """DPA001: the door refused a release that would have exceeded its budget. No noise was drawn."""

    rule = "DPA001"

    def __init__(self, release: str, would_cost: tuple[Fraction, Fraction], budget: tuple[Fraction, Fraction]) -> None:
        self.release, self.would_cost, self.budget = release, would_cost, budget
        super().__init__(
            f"release {release!r} would bring a record to ε={_short(would_cost[0])}, δ={_short(would_cost[1])}; "
            f"the budget is ε={show(budget[0])}, δ={show(budget[1])}"
            + (_SHARES if budget[1] and would_cost[0] <= budget[0] else "")
        )


class Leak(DpauditError):
    """DPA002: sealed data was turned into something that the door does not see.

    No TypeError: numpy and others would swallow it, try something else and complain about that.
    """

    rule = "DPA002"

    def __init__(self, operation: str, where: str = "", rewrite: str = "release it through the channel") -> None:
        self.operation, self.where, self.rewrite = operation, where, rewrite
        super().__init__(f"private data leaves by {operation}{f' at {where}' if where else ''}; {rewrite}")
        notice(self)  # also where the code that leaks catches it


class SensitivityError(DpauditError):
    """DPA003: the sensitivity derived from the trace is larger than the declared one.

    ``shown``: a pair attains it. Without one, a trace only bounds it, and ``rewrite`` says what would prove more.
    """

    rule = "DPA003"

    def __init__(self, release: str, declared: Fraction, derived: Fraction, *, shown: bool = False, rewrite: str = "") -> None:
        self.release, self.declared, self.derived, self.shown = release, declared, derived, shown
        value = show(derived) if len(show(derived)) <= 12 else f"{float(derived):.9g}"
        known = f"one record can move it by {value}" if shown else f"what one record moves can be bounded only by {value}"
        more = f"; {rewrite}" if rewrite and not shown else ""
        super().__init__(f"release {release!r} declares sensitivity {show(declared)}, but {known}{more}")


class Contradiction(DpauditError):
    """An upper bound below a lower bound: dpaudit itself is wrong somewhere, and says so."""

    def __init__(self, upper: Fraction, lower: float) -> None:
        self.upper, self.lower = upper, lower
        super().__init__(
            f"contradiction inside dpaudit: upper bound {show(upper)} is below lower bound {lower}; please report it"
        )


Function = TypeVar("Function", bound=Callable[..., Any])


def bare(function: Function) -> Function:
    """The function, with errors that come without the frames that led to them, and without the errors before them: locals of
    these frames may hold private data, and reporters keep them."""

    @wraps(function)
    def outermost(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except BaseException as error:
            failure = error
        del args, options  # this frame is the one that stays
        failure.__cause__ = failure.__context__ = None
        raise failure.with_traceback(None)

    return cast(Function, outermost)
