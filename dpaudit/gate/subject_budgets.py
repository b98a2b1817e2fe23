"""A budget about a subject: proven, attacked and decided as ``dpaudit audit`` does."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dpaudit.claims import Claim, DpauditError, Outcome, Verdict, show
from dpaudit.gate.against.subject_terms import subject_terms
from dpaudit.gate.budget_facts import BudgetFacts, listed
from dpaudit.gate.policy import ALGORITHM_KEYS, GateBudget
from dpaudit.subjects.failure import explain_failure
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import make_algorithm, registered, subjects_of
from dpaudit.verdict.decision import blocking_rules
from dpaudit.verdict.examination import Options, examine


def judge_subject(budget: GateBudget, seed: int, error: float, *, picture: bool = False) -> BudgetFacts:
    """The verdict on one subject for the budget's claim; ``error`` is this audit's share of the gate's. Raises DpauditError."""
    subject = find_subject(budget)
    relation = subject.neighbours.name
    if budget.neighbours is not None and budget.neighbours != relation:
        raise DpauditError(f"{budget.target} is about {relation} neighbours, the budget about {budget.neighbours}")
    claim = held_to(budget, subject)
    options = Options(
        claim.epsilon, claim.delta, claim.observer, samples=budget.samples, seed=seed, error=error, picture=picture,
        arithmetic=claim.arithmetic,
    )  # fmt: skip
    verdict = _examine(subject, options)
    blocking = blocking_rules(claim)
    rules = {Outcome.REFUTED: ("DPA003", "DPA004", *blocking), Outcome.UNPROVEN: blocking, Outcome.CERTIFIED: ()}[verdict.verdict]
    causes = [place for place, finding in enumerate(verdict.findings) if finding.rule in rules]
    complete = bool(causes) and not _lacks_more(verdict, subject)
    return BudgetFacts(
        str(verdict.verdict), verdict.reason, claim.observer,
        None if verdict.upper is None else show(verdict.upper.epsilon), verdict.lower.to_dict(), verdict.detectable,
        listed(verdict.findings), causes, complete, {"neighbours": relation}, *defined_at(subject.function),
        None if verdict.losses is None else {"losses": asdict(verdict.losses)}, claim.arithmetic,
        subject_terms(subject, claim), () if verdict.upper is None else (verdict.upper.sensitivity, verdict.upper.path),
    )  # fmt: skip


def held_to(budget: GateBudget, subject: Subject) -> Claim:
    """The budget's figures, for the observer and the arithmetic that the budget names, else those of the subject."""
    observer, arithmetic = budget.observer or subject.claim.observer, budget.arithmetic or subject.claim.arithmetic
    return Claim(budget.claim.epsilon, budget.claim.delta, observer, arithmetic)


def describe_subject(budget: GateBudget) -> BudgetFacts:
    """Only what its claim is about; nothing is run. Raises DpauditError."""
    subject = find_subject(budget)
    return BudgetFacts("not checked", "only described", terms=subject_terms(subject, held_to(budget, subject)))


def _examine(subject: Subject, options: Options) -> Verdict:
    """Raises DpauditError with the subject's own line where it breaks, unless its traceback is asked for."""
    try:
        return examine(subject, options).verdict
    except MemoryError:
        raise
    except Exception as error:
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        raise DpauditError(explain_failure(subject, error)) from error


def find_subject(budget: GateBudget) -> Subject:
    """The one subject that a budget names. Raises DpauditError."""
    target = budget.target
    if target in registered():
        if budget.horizon is None:
            raise DpauditError(f"{target} is a registered algorithm, which needs a horizon")
        actions = None if budget.actions is None and budget.dim is None else (budget.actions or 10, budget.dim or 2)
        parameters = {"epsilon": budget.claim.epsilon, "delta": budget.claim.delta or None, "horizon": budget.horizon}
        return make_algorithm(target, {**parameters, "actions": actions, "calibration": budget.calibration})
    alien = [key for key in ALGORITHM_KEYS if key != "horizon" and getattr(budget, key) is not None]
    if alien:
        raise DpauditError(f"{alien[0]} is for registered algorithms; {target} is none")
    subjects = subjects_of(target)
    if len(subjects) > 1:
        names = ", ".join(subject.name for subject in subjects)
        raise DpauditError(
            f"{target} holds {len(subjects)} subjects; a budget is about one: name it, as in {target}:NAME ({names})"
        )
    return subjects[0]


def _lacks_more(verdict: Verdict, subject: Subject) -> bool:
    """Of an unproven subject: is more missing than its findings say? Then waiving them does not help."""
    if verdict.verdict is Outcome.REFUTED:
        return False
    if not subject.grey:
        return True
    upper = verdict.upper
    if upper is None:
        return not any(finding.rule in ("DPA002", "DPA005") for finding in verdict.findings)
    return upper.epsilon > verdict.claim.epsilon or upper.sensitivity != "proven" or upper.path == "observed"


def defined_at(function: Callable[..., Any]) -> tuple[str | None, int]:
    """The file and line of a function; None where there is no file."""
    try:
        bare = inspect.unwrap(function)
        return inspect.getsourcefile(bare), inspect.getsourcelines(bare)[1]
    except (OSError, TypeError, ValueError):
        return None, 1
