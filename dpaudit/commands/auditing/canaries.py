"""``dpaudit canaries``: a lower bound from one training run."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from dpaudit.claims import DpauditError, exact_delta, show
from dpaudit.commands import HOLDS, PAGES, UNPROVEN, VIOLATED, Answer, Command, given_epsilon, write_report
from dpaudit.commands.options import add_canaries_options


def canaries_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.canaries import TrainingPage, canaries_report
    from dpaudit.training.canary_audit import audit_canaries
    from dpaudit.training.canary_scores import read_scores
    from dpaudit.training.checks.result import read_checks
    from dpaudit.training.claimed_curve import TrainingReleases

    delta, epsilon = exact_delta(options.delta), given_epsilon(options.epsilon, needed=False)
    releases = None if options.curve is None else TrainingReleases.of(options.curve)
    runs = [read_scores(path) for path in options.scores]
    checks = None if options.checks is None else read_checks(options.checks)
    audit = audit_canaries(runs, delta, confidence=_confidence(options.confidence), releases=releases)
    if epsilon is None and releases is not None:
        epsilon = releases.epsilon(delta)
    verdict = None if epsilon is None else "refuted" if audit.refutes(epsilon) else "unproven"
    lower = {"epsilon": audit.lower, "confidence": audit.confidence, "method": audit.method, "canaries": audit.canaries}
    document: dict[str, Any] = {
        "schema": "dpaudit.canaries/1", "lower": lower,
        "claim": None if epsilon is None else {"epsilon": show(epsilon), "delta": show(delta)}, "verdict": verdict,
    }  # fmt: skip
    if releases is not None:
        document["curve"] = {"refuted": audit.curve_refuted, "noise": audit.noise}
    if checks is not None:
        document["checks"] = [check.to_dict() for check in checks]
    failed = any(check.passed is False for check in checks or ())
    code = VIOLATED if failed else {None: HOLDS, "refuted": VIOLATED, "unproven": UNPROVEN}[verdict]
    return code, write_report(options, canaries_report(document, delta, TrainingPage(runs, checks or (), _spending(options))))


def _spending(options: argparse.Namespace) -> tuple[Any, Fraction | None] | None:
    """How ε grew over the steps of the ledger, and its budget: what a page draws."""
    from dpaudit.accountants import account
    from dpaudit.accountants.spending_history import spending
    from dpaudit.ledger import is_ledger, open_ledger

    if options.curve is None or options.format not in PAGES:
        return None
    bound, budget = account(options.curve, delta=options.delta, fixed=True), None
    if is_ledger(options.curve):
        with open_ledger(options.curve, readonly=True) as ledger:
            budget = ledger.budget
    grown = spending(options.curve, bound, delta=options.delta, fixed=True)
    return grown, None if budget is None else budget.epsilon


def _confidence(text: str) -> float:
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError) as error:
        raise DpauditError("--confidence must be a number between 0 and 1") from error


COMMANDS = (
    Command(
        "canaries",
        "a lower bound on ε from the canaries of one training run",
        canaries_command,
        add_canaries_options,
        PAGES,
    ),
)
