"""``dpaudit audit``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dpaudit.claims import DpauditError, Outcome, Verdict
from dpaudit.commands import (
    HOLDS,
    NOTHING,
    PAGES,
    UNPROVEN,
    UNUSABLE,
    VIOLATED,
    Answer,
    Command,
    algorithm_parameters,
    as_json,
    fail,
    progress,
    refuse_algorithm_options,
    worst,
    write_file,
    write_report,
)
from dpaudit.commands.options import add_audit_options
from dpaudit.commands.subject_output import output_aside

if TYPE_CHECKING:
    from dpaudit.subjects.subject import Subject
    from dpaudit.verdict.examination import Examination


CODES = {Outcome.CERTIFIED: HOLDS, Outcome.REFUTED: VIOLATED, Outcome.UNPROVEN: UNPROVEN}


def audit_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.audit import audit_report
    from dpaudit.subjects.targets import NothingToCheck

    try:
        subjects = _subjects(options)
    except NothingToCheck as nothing:
        print(f"dpaudit: {nothing}", file=sys.stderr)
        return NOTHING, as_json([]) if options.format == "json" else "nothing to check"
    if options.witness is not None and len(subjects) > 1:
        raise DpauditError(f"--witness writes one witness; name one of the {len(subjects)} subjects, as in file.py:name")
    witness = None if options.replay is None else _read_witness(options.replay)
    codes: list[int] = []
    verdicts: list[Verdict] = []
    for subject in subjects:
        try:
            examination = _examine(subject, options, witness)
        except KeyboardInterrupt:  # verdicts that were reached before stand
            codes.append(fail(f"interrupted; nothing was concluded about {subject.name}", UNUSABLE))
            break
        except (Exception, SystemExit) as error:
            codes.append(_explain(subject, error, alone=len(subjects) == 1, traceback=options.traceback))
            continue
        verdicts.append(examination.verdict)
        codes.append(CODES[examination.verdict.verdict])
        if examination.attack.interrupted:
            break
    if options.witness is not None and verdicts:
        _write_witness(verdicts[0], options.witness)
    return worst(codes), write_report(options, audit_report(verdicts, len(subjects) == 1)) if verdicts else ""


def _explain(subject: Subject, error: BaseException, *, alone: bool, traceback: bool) -> int:
    """Say what went wrong in one line, and after it as much as is asked for."""
    from dpaudit.subjects.failure import explain_failure, full_traceback

    told = explain_failure(subject, error)
    code = fail(told if alone or not isinstance(error, DpauditError) else f"{subject.name}: {told}", UNUSABLE)
    if traceback:
        print(full_traceback(subject, error), file=sys.stderr)
    return code


def _subjects(options: argparse.Namespace) -> list[Subject]:
    from dpaudit.subjects.targets import make_algorithm, registered, subjects_of

    if options.target in registered():
        return [make_algorithm(options.target, algorithm_parameters(options))]
    refuse_algorithm_options(options)
    with output_aside():
        return subjects_of(options.target)


def _examine(subject: Subject, options: argparse.Namespace, witness: Any) -> Examination:
    from dpaudit.verdict.examination import Options, examine

    with progress(f"auditing {subject.name}") as tell, output_aside():
        how = Options(
            options.epsilon, options.delta, options.observer, options.confidence, options.samples, options.seed, witness,
            options.sequential, options.workers, options.scheduler, progress=tell,
            picture=options.format in ("html", "markdown"), time=options.time,
        )  # fmt: skip
        return examine(subject, how)


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


COMMANDS = (
    Command("audit", "prove an upper bound, attack for a lower one, give a verdict", audit_command, add_audit_options, PAGES),
)
