"""The gate as a whole: every budget judged, waivers applied, the baseline compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from dpaudit.claims import Claim, float_down
from dpaudit.gate.against.base_policy import BasePolicy, base_policy
from dpaudit.gate.baseline import Entries, change, read_baseline
from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import Config, GateBudget
from dpaudit.gate.results import ERROR, Checked, Judged, SourcePlace
from dpaudit.gate.source_places import configured_at, defined_at
from dpaudit.gate.waivers import note, stale, with_findings
from dpaudit.gate.workers.processes import judge_apart
from dpaudit.gate.workers.second_decision import decide_again


def check(
    config: Config, *, baseline: bool = True, picture: bool = False, today: date | None = None, against: str | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> Checked:  # fmt: skip
    """Judge every budget, one after the other. ``baseline``: compare with the committed one, if one is configured.
    ``picture``: with what a page draws. ``against``: a commit; what the policy asks less than there fails (DPA009).

    Statistics refute an honest subject with probability at most 10^-6 over all budgets together: each has an equal share.
    Raises DpauditError for a baseline that cannot be read; what goes wrong in a budget is that budget's exit code 2.
    """
    started, today = time.perf_counter(), today or datetime.now(UTC).date()
    before = read_baseline(config.baseline) if baseline and config.baseline is not None else None
    share = share_of_error(len(config.budgets))
    with base_policy(config, against, today) as base:
        budgets = []
        for budget in config.budgets:
            tell(budget.name)
            budgets.append(_judge(budget, config, share, before, today, picture, base))
        findings = [] if base is None else base.about_the_policy()
    removed = [] if before is None else sorted(before.keys() - {budget.name for budget in config.budgets})
    findings += stale(config.waivers, budgets, _waiver_places(config), today, config.waiver_days)
    name = "" if config.file is None else config.file.name
    return Checked(name, budgets, findings, removed, config.seed, time.perf_counter() - started, against)


def share_of_error(budgets: int) -> float:
    """What each of so many budgets may add to the probability of refuting an honest subject, rounded down."""
    return float_down(ERROR / max(budgets, 1))


def _judge(
    budget: GateBudget, config: Config, share: float, before: Entries | None, today: date, picture: bool, base: BasePolicy | None
) -> Judged:
    started = time.perf_counter()
    facts = believe(judge_apart(budget, config.folder, share, picture=picture), budget, share)
    place = defined_at(facts, config, configured_at(config, f"tool.dpaudit.budgets.{budget.name}"))
    judged = replace(_plain(budget, facts, place), seconds=time.perf_counter() - started)
    judged = with_findings(judged, facts, note(facts, budget, place, config.waivers, today))
    judged = judged if base is None else base.held_to(judged, budget, facts)
    return judged if before is None else replace(judged, change=change(judged, before.get(budget.name)))


def believe(facts: BudgetFacts, budget: GateBudget, error: float) -> BudgetFacts:
    """What a worker found, with the decision that the gate makes of it; not checked where one contradicts the other."""
    facts = decide_again(facts, budget, error)
    if facts.verdict == "certified" and (facts.upper is None or Fraction(facts.upper) > budget.claim.epsilon):
        return not_checked("it is said to be certified, above its budget")
    return facts


def _plain(budget: GateBudget, facts: BudgetFacts, place: SourcePlace) -> Judged:
    claim = Claim(
        budget.claim.epsilon, budget.claim.delta, facts.observer or budget.observer or "server", facts.arithmetic or "float"
    )
    terms = {"unit": budget.unit, "neighbours": budget.neighbours, "horizon": budget.horizon, **facts.stated}
    known = {key: str(value) for key, value in terms.items() if value is not None}
    upper = None if facts.upper is None else Fraction(facts.upper)
    return Judged(
        budget.name, budget.target, claim, budget.require, facts.verdict, facts.exit_code(budget.require), facts.reason, place,
        upper, facts.lower, facts.detectable, stated=known, timeout=budget.timeout, picture=facts.picture,
    )  # fmt: skip


def _waiver_places(config: Config) -> list[SourcePlace]:
    """The line of every ``[[tool.dpaudit.waive]]``, in their order."""
    first = configured_at(config, "tool.dpaudit")
    if config.file is None or not config.waivers:
        return []
    lines = config.file.read_text(encoding="utf-8", errors="replace").splitlines()
    headers = [number for number, line in enumerate(lines, 1) if line.replace(" ", "").startswith("[[tool.dpaudit.waive]]")]
    whole = len(headers) == len(config.waivers)
    return [SourcePlace(first.file, headers[number] if whole else first.line) for number in range(len(config.waivers))]
