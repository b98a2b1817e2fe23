"""The gate held against its own pull request: the policy of the base branch, and what this one asks less (DPA009).

What remains trusted when a check runs on a pull request:

1. the workflow that starts it, with its REF, its environment variables and its clock, and the machine it runs on; on systems
   other than Linux also other processes of the same user, which may read the gate's memory;
2. the installed dpaudit and every other installed package, ``.pth`` files included, the project's own if it is installed; that
   the gate is started as ``dpaudit`` (``python -m dpaudit`` looks for modules in the folder that it is started in first);
3. the code of the subject, in this sense: it runs in a process of its own, which gets neither PYTHONPATH nor plugins nor a
   ``sitecustomize`` of the project. It cannot write the result, which is bound to a nonce that it cannot read, nor can processes
   that it starts (on Linux); functions that it puts in the place of dpaudit's, or of what dpaudit leans on, are noticed; and the
   gate decides itself: it accounts the releases of the worker's runs again, computes the lower bound again from the counts of its
   games, and applies the rules of a verdict to both. What these releases and counts are is the worker's word. Code that edits
   dpaudit's objects while it runs (the channel that it is handed, what frames above it hold, memory by native code) can forge
   them; and a subject that behaves well while it is audited, and otherwise elsewhere, is seen through by no audit. A reviewer
   reads it; a certificate binds it;
4. git, and what it says of REF.

Everything else that decides is read from REF and compared: budgets, waivers, baseline, trusted and revoked keys, seed, observers,
neighbours, samples, and the ledgers that are in the repository.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.claims.exit_codes import VIOLATED, worst
from dpaudit.gate.against.base_branch import base_folder
from dpaudit.gate.against.ledger_history import ledger_loosenings
from dpaudit.gate.against.loosening import (
    Loosening,
    budget_loosenings,
    policy_loosenings,
    sample_loosenings,
    term_loosenings,
)
from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.policy import Config, GateBudget, read_config
from dpaudit.gate.results import Judged, Noted
from dpaudit.gate.source_places import configured_at
from dpaudit.gate.workers.processes import judge_apart

STARTERS = ("sitecustomize", "usercustomize")  # modules that Python imports before anything else


@dataclass(frozen=True)
class BasePolicy:
    """The base branch's policy beside this one."""

    base: Config
    now: Config
    today: date

    def about_the_policy(self) -> list[Noted]:
        """What is about no budget of this policy."""
        return self._noted(policy_loosenings(self.base, self.now))

    def held_to(self, judged: Judged, budget: GateBudget, facts: BudgetFacts) -> Judged:
        """The budget with what it asks less than its namesake at the base; it fails by that unless the base allows it."""
        before = next((one for one in self.base.budgets if one.name == budget.name), None)
        if before is None:
            return judged
        noted = self._noted([*budget_loosenings(before, budget), *self._terms(before, budget, facts)])
        failing = [finding for finding in noted if finding.waiver is None]
        judged = replace(judged, findings=(*judged.findings, *noted))
        if not failing:
            return judged
        told = "; ".join(finding.message for finding in failing)
        return replace(judged, code=worst([judged.code, VIOLATED]), reason=f"the policy was loosened: {told}; {judged.reason}")

    def _terms(self, before: GateBudget, budget: GateBudget, facts: BudgetFacts) -> Iterable[Loosening]:
        """A subject that moved is another subject already; one that was not checked fails by that."""
        if before.ledger is not None and before.target == budget.target:
            return ledger_loosenings(budget.name, self.base.folder, self.now.folder, before.target)
        if before.subject is None or before.target != budget.target or facts.terms is None:
            return []
        then = judge_apart(before, self.base.folder, describe=True)
        if then.terms is None:
            return [Loosening(budget.name, "the subject at the base", "cannot be read", then.reason)]
        return [*term_loosenings(budget.name, then.terms, facts.terms), *sample_loosenings(before, budget, facts.terms)]

    def _noted(self, loosenings: Iterable[Loosening]) -> list[Noted]:
        """Only a waiver of the base branch counts."""
        noted = []
        for one in loosenings:
            mark = one.fingerprint
            waivers = [w for w in self.base.waivers if (w.rule, w.fingerprint) == ("DPA009", mark) and w.expires >= self.today]
            place = configured_at(self.now, "tool.dpaudit" if one.budget is None else f"tool.dpaudit.budgets.{one.budget}")
            where = f"{place.file}:{place.line}"
            noted.append(Noted("DPA009", one.message, where, mark, place, fails=True, waiver=next(iter(waivers), None)))
        return noted


@contextmanager
def base_policy(config: Config, reference: str | None, today: date) -> Iterator[BasePolicy | None]:
    """The policy at ``reference``, while its files are there; None without one. Raises DpauditError."""
    if reference is None:
        yield None
        return
    _refuse_starters(config.folder)
    start = config.folder if config.asked is None else config.asked  # not where it was found: it may have been moved
    with base_folder(start.resolve(), reference) as folder:
        base = read_config(_existing(folder))
        yield BasePolicy(base, config, today)


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest above it that the base has."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _refuse_starters(folder: Path) -> None:
    """A module of the project that Python runs before the gate could rewrite it."""
    for name in STARTERS:
        found = importlib.util.find_spec(name)
        origin = None if found is None or found.origin is None else Path(found.origin).resolve()
        installed = origin is not None and origin.is_relative_to(Path(sys.prefix).resolve())
        if origin is not None and origin.is_relative_to(folder.resolve()) and not installed:
            raise DpauditError(
                f"{origin.name} of this project runs before the gate does: a check against a base branch refuses it"
            )
