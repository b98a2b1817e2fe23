"""The gate decides for itself: from what a worker's runs released and counted, in a process where no subject has run.

Releases are accounted again, the lower bound is computed again from the counts of its games, and the verdict follows by the same
rules as in an audit. Where a worker says less than that, or what does not fit, its budget is not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpaudit.accountants.composition import account_releases
from dpaudit.auditors.interface import FLOAT_SHARE
from dpaudit.auditors.stages.game_auditor import STAGES
from dpaudit.auditors.stages.statistical_witness import round_down
from dpaudit.claims import Bound, Claim, DpauditError, Outcome, Upper, show
from dpaudit.claims.decimals import number
from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget
from dpaudit.gate.workers.evidence import Evidence, Run, read_evidence
from dpaudit.ledger import Release
from dpaudit.verdict.outcome import failing_rules, lacks_more, outcome_of
from dpaudit.verdict.proof import RUNS
from dpaudit.verdict.ready_plan import epsilon_at

VERDICTS = tuple(str(outcome) for outcome in Outcome)
MISREAD = (DpauditError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError)


def decide_again(facts: BudgetFacts, budget: GateBudget, error: float) -> BudgetFacts:
    """The same facts with the gate's own decision; "not checked" where they do not bear out what the worker says.

    ``error``: this audit's share of the gate's. What is about a ledger, or came to no verdict, stays as it is.
    """
    if budget.subject is None or facts.verdict not in VERDICTS:
        return facts
    try:
        claim = Claim(budget.claim.epsilon, budget.claim.delta, facts.observer or "", facts.arithmetic or "")
        doubt = _other_claim(claim, budget)
        evidence = read_evidence(facts.evidence or {})
        rules = {str(finding["rule"]) for finding in facts.findings}
        doubt = doubt or _doubts_of_upper(evidence, claim, rules) or _doubts_of_lower(evidence, claim, facts, error)
        return not_checked(doubt) if doubt else _decided(facts, evidence, claim, rules)
    except MISREAD:
        return not_checked("its process handed back figures without what they are made from")


def _decided(facts: BudgetFacts, evidence: Evidence, claim: Claim, rules: set[str]) -> BudgetFacts:
    upper, grey = evidence.upper, evidence.grey
    outcome = outcome_of(claim, upper, rules, grey=grey, refuted=evidence.refuted, interrupted=evidence.interrupted)
    if str(outcome) != facts.verdict:
        return not_checked(f"it is said to be {facts.verdict}, and what it released makes it {outcome}")
    failing = failing_rules(outcome, claim)
    causes = [place for place, finding in enumerate(facts.findings) if finding["rule"] in failing]
    complete = bool(causes) and not lacks_more(outcome, claim, upper, rules, grey=grey)
    known = () if upper is None else (upper.sensitivity, upper.path)
    figure = None if upper is None else show(upper.epsilon)
    return replace(facts, causes=causes, complete=complete, upper=figure, rests_on=known, evidence=None)


def _other_claim(claim: Claim, budget: GateBudget) -> str | None:
    for what, asked, judged in (
        ("observer", budget.observer, claim.observer),
        ("arithmetic", budget.arithmetic, claim.arithmetic),
    ):
        if asked is not None and asked != judged:
            return f"it was judged for the {what} {judged}, the budget is about {asked}"
    return None


def _doubts_of_upper(evidence: Evidence, claim: Claim, rules: set[str]) -> str | None:
    """Why its releases do not bear out its upper bound; None if they do."""
    upper = evidence.upper
    if upper is None:
        return None
    if len(evidence.runs) != RUNS:
        return f"its bound rests on {len(evidence.runs)} sealed runs, not {RUNS}"
    released = [[evidence.releases[place] for place in run] for run in dict.fromkeys(map(tuple, evidence.runs))]
    if upper.sensitivity == "proven" and any(one.derived is None for run in released for one in run):
        return "its sensitivities are said to be proven, and no trace proves them all"
    bounds = [account_releases(run, claim.delta) for run in released]
    planned = None if evidence.planned is None else _planned(evidence.releases, evidence.planned, claim)
    worst = max(bounds, key=lambda bound: epsilon_at(bound, claim))
    told = planned if planned is not None and upper.path == "single" else worst
    return _missing_findings(told, rules) or _too_low(upper, claim, worst, planned, released)


def _planned(releases: Sequence[Release], plan: Run, claim: Claim) -> Bound:
    return account_releases([releases[place] for place in plan], claim.delta, fixed=True, limit=claim.epsilon)


def _missing_findings(bound: Bound, rules: set[str]) -> str | None:
    unsaid = sorted({finding.rule for finding in bound.findings} - rules)
    return f"accounting again finds {', '.join(unsaid)}, of which it does not tell" if unsaid else None


def _too_low(
    upper: Upper, claim: Claim, worst: Bound, planned: Bound | None, released: Sequence[Sequence[Release]]
) -> str | None:
    """Of a plan: what it fixes, and no run may cost more; of a budget: what it allows; else the costliest run."""
    ran = epsilon_at(worst, claim)
    if upper.path == "single":
        if planned is None:
            return "its path is said to be fixed by a plan, and none is there"
        fixed = [epsilon_at(account_releases(run, claim.delta, fixed=True, limit=claim.epsilon), claim) for run in released]
        ran = max([epsilon_at(planned, claim), *(fixed if upper.sensitivity == "proven" else [])])
    least = max(claim.epsilon, ran) if upper.path == "enforced" else ran
    return None if upper.epsilon >= least else _below(least, upper)


def _below(least: Fraction, upper: Upper) -> str:
    return f"accounted again, its releases cost ε ≤ {number(least)}, not {number(upper.epsilon)}"


def _doubts_of_lower(evidence: Evidence, claim: Claim, facts: BudgetFacts, error: float) -> str | None:
    """Why its counts, or its witness, do not bear out its lower bound; None if they do."""
    shown = float((facts.lower or {})["epsilon"])
    if not evidence.refuted and any(round_down(game.epsilon) > shown for game in evidence.games[:1]):
        return "its counts show a larger lower bound than it tells"
    share = error if evidence.grey or claim.ideal else (1 - FLOAT_SHARE) * error
    level = max((game.at(share / STAGES) for game in evidence.games), default=0.0)
    exact = evidence.exact or Fraction(0)
    if not evidence.refuted and max(Fraction(level), exact, Fraction(evidence.level)) > claim.epsilon:
        return "its own attack refutes it, and it does not tell"
    sure = max(Fraction(level), exact)
    upper = evidence.upper
    if upper is not None and (upper.sensitivity, upper.path) == ("proven", "single") and sure > upper.epsilon:
        return "its lower bound lies above its proven upper bound"
    return None
