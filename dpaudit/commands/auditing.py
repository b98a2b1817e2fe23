"""``dpaudit audit``."""

from __future__ import annotations

import argparse
import sys

from dpaudit.claims import DpauditError, Outcome
from dpaudit.commands import (
    HOLDS,
    NOTHING,
    UNPROVEN,
    UNUSABLE,
    VIOLATED,
    Answer,
    algorithm_parameters,
    as_json,
    fail,
    progress,
    worst,
)


def audit_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.text import audit_text
    from dpaudit.targets import NothingToCheck, make_algorithm, registered, subjects_of
    from dpaudit.verdict import audit

    try:
        if options.target in registered():
            subjects = [make_algorithm(options.target, algorithm_parameters(options))]
        else:
            _refuse_algorithm_options(options)
            subjects = subjects_of(options.target)
    except NothingToCheck as nothing:
        print(f"dpaudit: {nothing}", file=sys.stderr)
        return NOTHING, as_json([]) if options.format == "json" else "nothing to check"
    codes, verdicts = [], []
    for subject in subjects:
        with progress(f"auditing {subject.name}"):
            try:
                verdict = audit(
                    subject, epsilon=options.epsilon, delta=options.delta, observer=options.observer,
                    confidence=options.confidence, samples=options.samples, seed=options.seed,
                )  # fmt: skip
            except DpauditError as error:
                codes.append(fail(f"{subject.name}: {error}" if len(subjects) > 1 else str(error), UNUSABLE))
                continue
            except Exception as error:  # the subject's own code: its message may hold its data, so only the type is shown
                codes.append(fail(f"{subject.name} raised {type(error).__name__} when it was run", UNUSABLE))
                continue
        verdicts.append(verdict)
        codes.append({Outcome.CERTIFIED: HOLDS, Outcome.REFUTED: VIOLATED, Outcome.UNPROVEN: UNPROVEN}[verdict.verdict])
    if options.format == "json":
        documents = [verdict.to_dict() for verdict in verdicts]
        if not documents:
            return worst(codes), ""
        return worst(codes), as_json(documents[0] if len(subjects) == 1 and documents else documents)
    return worst(codes), "\n\n".join(audit_text(verdict) for verdict in verdicts)


def _refuse_algorithm_options(options: argparse.Namespace) -> None:
    given = [name for name in ("horizon", "actions", "dim", "calibration") if getattr(options, name) is not None]
    if given:
        raise DpauditError(f"--{given[0]} is for registered algorithms; {options.target} is none")
