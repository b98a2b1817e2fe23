"""``dpaudit audit``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpaudit.claims import DpauditError, Outcome, Verdict
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
    refuse_algorithm_options,
    worst,
    write_file,
)


def audit_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.text import audit_text
    from dpaudit.subjects.targets import NothingToCheck, make_algorithm, registered, subjects_of
    from dpaudit.verdict.audit import Interrupted, audit

    try:
        if options.target in registered():
            subjects = [make_algorithm(options.target, algorithm_parameters(options))]
        else:
            refuse_algorithm_options(options)
            subjects = subjects_of(options.target)
    except NothingToCheck as nothing:
        print(f"dpaudit: {nothing}", file=sys.stderr)
        return NOTHING, as_json([]) if options.format == "json" else "nothing to check"
    if options.witness is not None and len(subjects) > 1:
        raise DpauditError(f"--witness writes one witness; name one of the {len(subjects)} subjects, as in file.py:name")
    replayed = None if options.replay is None else _read_witness(options.replay)
    codes, verdicts = [], []
    for subject in subjects:
        with progress(f"auditing {subject.name}") as tell:
            try:
                verdict = audit(
                    subject, epsilon=options.epsilon, delta=options.delta, observer=options.observer,
                    confidence=options.confidence, samples=options.samples, seed=options.seed, witness=replayed,
                    sequential=options.sequential, workers=options.workers, scheduler=options.scheduler, progress=tell,
                    picture=options.format in ("html", "markdown"),
                )  # fmt: skip
            except Interrupted as stopped:
                verdicts.append(stopped.verdict)
                codes.append(UNPROVEN)
                break
            except KeyboardInterrupt:  # verdicts that were reached before stand
                codes.append(fail(f"interrupted; nothing was concluded about {subject.name}", UNUSABLE))
                break
            except DpauditError as error:
                codes.append(fail(f"{subject.name}: {error}" if len(subjects) > 1 else str(error), UNUSABLE))
                continue
            except Exception as error:  # the subject's own code: its message may hold its data, so only the type is shown
                codes.append(fail(f"{subject.name} raised {type(error).__name__} when it was run", UNUSABLE))
                continue
        verdicts.append(verdict)
        codes.append({Outcome.CERTIFIED: HOLDS, Outcome.REFUTED: VIOLATED, Outcome.UNPROVEN: UNPROVEN}[verdict.verdict])
    if options.witness is not None and verdicts:
        _write_witness(verdicts[0], options.witness)
    if options.format == "json":
        documents = [verdict.to_dict() for verdict in verdicts]
        if not documents:
            return worst(codes), ""
        return worst(codes), as_json(documents[0] if len(subjects) == 1 and documents else documents)
    if options.format in ("html", "markdown") and verdicts:
        from dpaudit.report.audit_html import audit_html
        from dpaudit.report.audit_markdown import audit_markdown

        return worst(codes), (audit_html if options.format == "html" else audit_markdown)(verdicts)
    return worst(codes), "\n\n".join(audit_text(verdict) for verdict in verdicts)


def _read_witness(path: str) -> Any:
    """A witness, alone or inside the JSON of an audit."""
    from dpaudit.ledger.records.strict_json import load_file

    document = load_file(path)
    if not isinstance(document, dict):
        raise DpauditError(f"{path}: no witness; write one with dpaudit audit … --witness FILE")
    if document.get("schema") == "dpaudit.audit/1":
        if document.get("witness") is None:
            raise DpauditError(f"{path}: this audit found no witness")
        return document["witness"]
    return document


def _write_witness(verdict: Verdict, path: str) -> None:
    if verdict.witness is None:
        print(f"dpaudit: {verdict.subject} is not refuted, so {path} was not written", file=sys.stderr)
        return
    write_file(as_json(dict(verdict.witness)), path)
