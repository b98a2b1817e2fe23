"""A budget about a subject: proven, attacked and decided as ``dpaudit audit`` does."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dpaudit.claims import Claim, DpauditError
from dpaudit.gate.against.subject_terms import subject_terms
from dpaudit.gate.budget_facts import BudgetFacts, listed
from dpaudit.gate.policy import ALGORITHM_KEYS, GateBudget
from dpaudit.gate.workers.evidence import evidence_of
from dpaudit.subjects.failure import explain_failure
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import make_algorithm, registered, subjects_of
from dpaudit.verdict.examination import Examination, Options, examine


def judge_subject(budget: GateBudget, seed: int, error: float, *, picture: bool = False) -> BudgetFacts:
    """The verdict on one subject for the budget's claim, and what it is made from; what follows for the budget is the gate's to
    decide (``workers/second_decision.py``). ``error`` is this audit's share of the gate's. Raises DpauditError."""
    subject = find_subject(budget)
    relation = subject.neighbours.name
    if budget.neighbours is not None and budget.neighbours != relation:
        raise DpauditError(f"{budget.target} is about {relation} neighbours, the budget about {budget.neighbours}")
    claim = held_to(budget, subject)
    options = Options(
        claim.epsilon, claim.delta, claim.observer, samples=budget.samples, seed=seed, error=error, picture=picture,
        arithmetic=claim.arithmetic,
    )  # fmt: skip
    examination = _examine(subject, options)
    verdict = examination.verdict
    file, line = defined_at(subject.function)
    return BudgetFacts(
        str(verdict.verdict), verdict.reason, claim.observer, lower=verdict.lower.to_dict(), detectable=verdict.detectable,
        findings=listed(verdict.findings), stated={"neighbours": relation}, file=file, line=line,
        picture=None if verdict.losses is None else {"losses": asdict(verdict.losses)}, arithmetic=claim.arithmetic,
        terms=subject_terms(subject, claim), evidence=evidence_of(examination, grey=subject.grey),
    )  # fmt: skip


def held_to(budget: GateBudget, subject: Subject) -> Claim:
    """The budget's figures, for the observer and the arithmetic that the budget names, else those of the subject."""
    observer, arithmetic = budget.observer or subject.claim.observer, budget.arithmetic or subject.claim.arithmetic
    return Claim(budget.claim.epsilon, budget.claim.delta, observer, arithmetic)


def describe_subject(budget: GateBudget) -> BudgetFacts:
    """Only what its claim is about; nothing is run. Raises DpauditError."""
    subject = find_subject(budget)
    return BudgetFacts("not checked", "only described", terms=subject_terms(subject, held_to(budget, subject)))


def _examine(subject: Subject, options: Options) -> Examination:
    """Raises DpauditError with the subject's own line where it breaks, unless its traceback is asked for."""
    try:
        return examine(subject, options)
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


def defined_at(function: Callable[..., Any]) -> tuple[str | None, int]:
    """The file and line of a function; None where there is no file."""
    try:
        bare = inspect.unwrap(function)
        return inspect.getsourcefile(bare), inspect.getsourcelines(bare)[1]
    except (OSError, TypeError, ValueError):
        return None, 1
