"""pytest for privacy claims, literally: a ledger per test, a budget per test, and audits as assertions.

    import dpaudit as dp
    from dpaudit.pytest_plugin import assert_private

    @pytest.mark.dp_budget(epsilon="1", delta="1e-6")
    def test_ranking_stays_within_its_budget(dp_ledger):
        with dp.live(dp_ledger) as channel:
            rank(REWARDS, channel)

    def test_rank_is_private():
        assert_private(rank)

Loaded by pytest in every project that has dpaudit installed, so it imports nothing of dpaudit before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dpaudit.claims import Claim, Verdict
    from dpaudit.ledger import Ledger
    from dpaudit.subjects.subject import Subject

SEED = 0  # of assert_private: the same audit in every run
_PROPERTY = "dpaudit."
_LEDGER = pytest.StashKey[Any]()
_item: ContextVar[pytest.Item | None] = ContextVar("item", default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        'dp_budget(epsilon, delta="0", observer="server"): fails the test when what it released to the fixture dp_ledger '
        "costs more, or when it released nothing",
    )


@pytest.fixture
def dp_ledger(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Ledger]:
    """An empty ledger of this test's own: ``with dp.live(dp_ledger) as channel: ...``. Only what goes there is counted."""
    import dpaudit as dp

    with dp.open_ledger(tmp_path / "test.ledger") as ledger:
        request.node.stash[_LEDGER] = ledger
        yield ledger


def assert_private(subject: Subject, *, require: str = "certified", **as_audit: Any) -> Verdict:
    """``dp.assert_private`` with a fixed seed; the verdict is counted in pytest's summary and stands in its JUnit file."""
    from dpaudit.claims.decimals import at_least, at_most
    from dpaudit.verdict.audit import assert_verdict, audit

    verdict = audit(subject, **{"seed": SEED, **as_audit})
    upper = verdict.upper.epsilon if verdict.upper is not None else None
    _record("audit", f"{verdict.subject} {verdict.verdict}")
    _record("claim", str(verdict.claim))
    _record("lower", at_least(verdict.lower.epsilon, verdict.claim.epsilon))
    if upper is not None:
        _record("upper", at_most(upper))
    return assert_verdict(verdict, require)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    token = _item.set(item)
    try:
        yield
        for marker in item.iter_markers("dp_budget"):  # a class's and a test's both hold
            _hold_to_budget(item, marker)
    finally:
        _item.reset(token)


def _hold_to_budget(item: pytest.Item, marker: pytest.Mark) -> None:
    from dpaudit.accountants import account
    from dpaudit.claims import show
    from dpaudit.claims.decimals import at_most

    claim = _claim(marker)
    ledger = item.stash.get(_LEDGER, None)
    if ledger is None:
        pytest.fail("dp_budget: the test does not use the fixture dp_ledger, so there is nothing to check", pytrace=False)
    bound = account(ledger, delta=claim.delta)
    if not bound.lines:
        pytest.fail("dp_budget: nothing was released to dp_ledger, so there is nothing to check", pytrace=False)
    epsilon, delta = bound.per_observer.get(claim.observer, (bound.epsilon, bound.delta))
    held = epsilon <= claim.epsilon and delta <= claim.delta
    _record("budget", "held" if held else "exceeded")
    _record("epsilon", show(epsilon))
    _record("delta", show(delta))
    if not held:
        message = f"DPA001 budget exceeded: ε ≤ {at_most(epsilon)} at δ = {show(delta)} is all that can be proven, budget {claim}"
        pytest.fail(message, pytrace=False)


def _claim(marker: pytest.Mark) -> Claim:
    from dpaudit.claims import Claim, DpauditError

    try:
        return Claim(*marker.args, **marker.kwargs)
    except DpauditError as problem:
        raise pytest.UsageError(f"dp_budget: {problem}") from None
    except TypeError:
        raise pytest.UsageError('dp_budget takes epsilon, and if need be delta="0", observer="server"') from None


def _record(name: str, value: str) -> None:
    item = _item.get()
    if item is not None:
        item.user_properties.append((_PROPERTY + name, value))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line, from the reports' properties, so that it is the same when tests run on several workers."""
    reports = [report for group in terminalreporter.stats.values() for report in group if getattr(report, "when", "") == "call"]
    results = [
        value for report in reports for name, value in report.user_properties if name in {"dpaudit.budget", "dpaudit.audit"}
    ]
    if not results:
        return
    counts = {
        word: sum(value.split()[-1] == word for value in results)
        for word in ("held", "exceeded", "certified", "refuted", "unproven")
    }
    budgets = [f"{counts[word]} {word}" for word in ("held", "exceeded") if counts[word]]
    audits = [f"{counts[word]} {word}" for word in ("certified", "refuted", "unproven") if counts[word]]
    parts = [f"{name} {', '.join(each)}" for name, each in (("budgets", budgets), ("audits", audits)) if each]
    terminalreporter.write_line("dpaudit: " + "; ".join(parts))
