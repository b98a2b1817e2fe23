"""``dpaudit account``, ``amplify`` and ``invert``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Bound, DpauditError, Finding, exact_delta, show, whole
from dpaudit.commands import HOLDS, PAGES, UNPROVEN, VIOLATED, Answer, Command, given_epsilon, write_report
from dpaudit.commands.ledgers.ledger_files import not_read, snapshots_of
from dpaudit.commands.options import add_account_options, add_amplify_options, add_invert_options

if TYPE_CHECKING:
    from dpaudit.ledger.books.contents import LedgerContents


def account_command(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import account, odometer
    from dpaudit.accountants.spending_history import spending
    from dpaudit.ledger.opening import read_refusals, shown_place
    from dpaudit.report.content.account import Account, account_report

    epsilon, delta, where = given_epsilon(options.epsilon, needed=False), options.delta, shown_place(options.ledger)
    contents = _contents(options)
    own = None if contents is None or contents.budget is None else (contents.budget.epsilon, contents.budget.delta)
    limit = (epsilon, exact_delta(delta or 0)) if epsilon is not None else own
    given = options.ledger if contents is None else contents
    bound = account(given, delta=delta, fixed=options.fixed, limit=None if limit is None else limit[0])
    if contents is not None and contents.covered:
        bound = replace(bound, notes=[*bound.notes, not_read(contents.covered)])
    readings = odometer(options.ledger, delta=delta) if options.odometer else []
    read = [(each.releases, each.name, each.epsilon, each.delta) for each in readings]
    ledger_account = Account(where, bound, limit, list(bound.findings), read, _curves(options, epsilon))
    if ledger_account.over and limit is not None:
        excess = Finding("DPA001", _excess(bound, limit), where)
        ledger_account = replace(ledger_account, findings=[excess, *bound.findings])

    def document() -> dict[str, Any]:
        return {
            "schema": "dpaudit.account/1", "epsilon": show(bound.epsilon), "delta": show(bound.delta), "method": bound.method,
            "observers": {name: {"epsilon": show(e), "delta": show(d)} for name, (e, d) in bound.per_observer.items()},
            "worst_client": dict(bound.worst_client), "releases": [line.to_dict() for line in bound.lines],
            "findings": [finding.to_dict() for finding in ledger_account.findings],
            "notes": list(bound.notes), **({"odometer": [r.to_dict() for r in readings]} if options.odometer else {}),
            **ledger_account.curves.to_dict(),
        }  # fmt: skip

    report = account_report(
        ledger_account,
        document,
        lambda: spending(options.ledger, bound, delta=delta, fixed=options.fixed),
        lambda: [(each.hour, each.reason, each.count) for each in read_refusals(options.ledger)],
    )
    return (VIOLATED if ledger_account.over else HOLDS), write_report(options, report)


def _curves(options: argparse.Namespace, epsilon: Fraction | None) -> Any:
    """What was asked for beside ε at δ: a curve is computed only then."""
    from dpaudit.accountants.curves.ledger_view import ledger_view
    from dpaudit.report.content.account import Curves

    both = epsilon is not None and options.delta is not None
    if not (both or options.trade_off or options.renyi or options.group is not None):
        return Curves()
    view = ledger_view(options.ledger, delta=options.delta, fixed=options.fixed)
    return Curves(
        (epsilon, view.delta_at(epsilon)) if both and epsilon is not None else None,
        view.trade_off() if options.trade_off else (),
        view.divergences() if options.renyi else (),
        view.gaussian_mu() if options.trade_off or options.renyi else None,
        view.group(options.group) if options.group is not None else None,
    )


def _excess(bound: Bound, limit: tuple[Fraction, Fraction]) -> str:
    from dpaudit.report.rounding import at_most

    if bound.epsilon > limit[0]:
        return f"ε = {at_most(bound.epsilon)} exceeds the budget {at_most(limit[0])}"
    return f"δ = {show(bound.delta)} exceeds the budget's {show(limit[1])}"


def _contents(options: argparse.Namespace) -> LedgerContents | None:
    """What is in the ledger; None for a list of releases."""
    from dpaudit.ledger import is_ledger
    from dpaudit.ledger.books.contents import read_contents

    snapshots = snapshots_of(options)
    if is_ledger(options.ledger):
        return read_contents(options.ledger, snapshots)
    if snapshots is not None:
        raise DpauditError(f"--snapshot is for ledgers; {options.ledger} is a list of releases")
    return None


def amplify_command(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import amplify

    method = options.method or "clone"
    found = amplify(options.epsilon0, options.n, options.delta, method=method, k=options.k, channel=options.channel)
    return _enclosure(found, "epsilon", "ε", method, options, 12)


def invert_command(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import invert

    method = options.method or "closed"
    digits = whole(options.digits, "digits")
    found = invert(options.epsilon, options.n, options.delta, method=method, digits=digits, k=options.k, attack=True)
    return _enclosure(found, "epsilon0", "ε0", method, options, digits if method == "closed" else 12)


def _enclosure(found: Any, name: str, symbol: str, method: str, options: argparse.Namespace, digits: int) -> Answer:
    from dpaudit.report.content.calibration import enclosure_report

    code = HOLDS if found.in_domain else UNPROVEN
    document = {
        "schema": f"dpaudit.{'amplify' if name == 'epsilon' else 'invert'}/1",
        name: {"lower": show(found.lower), "upper": show(found.upper)},
        "attack": None if found.attack is None else show(found.attack), "in_domain": found.in_domain, "method": method,
        "findings": [] if found.in_domain else [Finding("DPA005", "ε0 is outside the theorem's domain", method).to_dict()],
    }  # fmt: skip
    return code, write_report(options, enclosure_report(found, symbol, method, digits, document))


COMMANDS = (
    Command(
        "account",
        "certified upper bound for a ledger or a list of releases, per observer and worst client",
        account_command,
        add_account_options,
        PAGES,
    ),
    Command("amplify", "ε of n shuffled ε0-LDP reports", amplify_command, add_amplify_options),
    Command("invert", "the largest ε0 whose n shuffled reports keep (ε,δ)", invert_command, add_invert_options),
)
