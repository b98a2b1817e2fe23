"""The public face of an audit: a subject in, a verdict out; and the same as an assertion for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpaudit.auditors.interface import REFUTE
from dpaudit.claims import InvalidValue, Number, Outcome, Verdict
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.examination import Options, examine

REQUIREMENTS = ("certified", "not-refuted")


def audit(
    subject: Subject,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    observer: str | None = None,
    confidence: float = 0.95,
    samples: int | None = None,
    seed: int | None = None,
    witness: Mapping[str, Any] | None = None,
    sequential: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    error: float = REFUTE,
    picture: bool = False,
    progress: Callable[[str], None] = lambda _: None,
    arithmetic: str | None = None,
    time: Number | None = None,
) -> Verdict:
    """Prove, attack, decide; ``Options`` says what each option means.

    Raises Contradiction when a proven upper bound lies below a lower bound, and Interrupted, with the verdict so far, when
    Ctrl-C ends a sequential audit.
    """
    options = Options(
        epsilon, delta, observer, confidence, samples, seed, witness, sequential, workers, scheduler, error, picture, progress,
        arithmetic, time,
    )  # fmt: skip
    examination = examine(subject, options)
    if examination.attack.interrupted:
        raise Interrupted(examination.verdict)
    return examination.verdict


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sequential audit. Its verdict holds: the bound of an e-process is valid whenever it is stopped."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.reason)


def assert_private(subject: Subject, *, require: str = "certified", **as_audit: Any) -> Verdict:
    """For tests: raises AssertionError unless the audit certifies the subject. Takes audit's options.

    ``require="not-refuted"``: for black boxes, which nothing can certify.
    """
    if require not in REQUIREMENTS:
        raise InvalidValue("require", require, " or ".join(REQUIREMENTS))
    return assert_verdict(audit(subject, **as_audit), require)


def assert_verdict(verdict: Verdict, require: str = "certified") -> Verdict:
    """The verdict itself, or an AssertionError where it is not what is required."""
    enough = (Outcome.CERTIFIED, Outcome.UNPROVEN) if require == "not-refuted" else (Outcome.CERTIFIED,)
    if verdict.verdict not in enough:
        raise AssertionError(
            f"{verdict.subject} is {verdict.verdict} for {verdict.claim}: {verdict.reason} (seed {verdict.seed})"
        )
    return verdict
