"""``dpaudit canaries``: a lower bound from one training run."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from dpaudit.claims import DpauditError, exact_delta, show
from dpaudit.commands import HOLDS, UNPROVEN, VIOLATED, Answer, Command, given_epsilon
from dpaudit.commands.options import add_canaries_options


def canaries_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.canaries import canaries_report
    from dpaudit.report.formats import write
    from dpaudit.training.canary_audit import audit_canaries
    from dpaudit.training.canary_scores import read_scores
    from dpaudit.training.claimed_curve import TrainingReleases

    delta, epsilon = exact_delta(options.delta), given_epsilon(options.epsilon, needed=False)
    releases = None if options.curve is None else TrainingReleases.of(options.curve)
    audit = audit_canaries(
        [read_scores(path) for path in options.scores], delta, confidence=_confidence(options.confidence), releases=releases
    )
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
    code = {None: HOLDS, "refuted": VIOLATED, "unproven": UNPROVEN}[verdict]
    return code, write(options.format, canaries_report(document, delta, len(options.scores)))


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
    ),
)
