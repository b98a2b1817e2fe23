"""Decides: claim, upper and lower bound make a verdict, in the order of the design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpaudit.auditors.interface import Attack
from dpaudit.auditors.pairs.pair_names import pair_generator
from dpaudit.auditors.replay.pinned_runs import Observed
from dpaudit.auditors.wording import beating
from dpaudit.claims import Claim, Contradiction, Finding, SensitivityError, Upper, Verdict, show
from dpaudit.claims.audit_verdict import BY_PLAN, behind_door
from dpaudit.claims.decimals import number
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.outcome import Lack, blocking_rules, lack_of, outcome_of
from dpaudit.verdict.pinned_paths import PinnedPath, pinned_paths, sealed_epsilon
from dpaudit.verdict.proof import Proof
from dpaudit.verdict.ready_plan import epsilon_at

ROUNDING = Fraction(1001, 1000)  # plain data is charged as declared, and what rounding to the grid may add
RERUNS = 8  # paths that seem to exceed a claim and are run again, sealed


def decide(subject: Subject, claim: Claim, proof: Proof, attack: Attack, seed: int) -> Verdict:
    """Refuted before certified before unproven. Raises Contradiction when a proven upper bound lies below a lower bound."""
    paths = _paths(proof, attack)
    upper = _upper(proof, attack, claim)
    if upper is not None and upper.path == "enforced":
        overspent = _overspent(subject, claim, paths, seed)
        upper = upper if overspent is None else replace(upper, epsilon=overspent, path="observed")
    findings = _findings(proof, attack)
    _check_contradiction(upper, attack, paths)
    if attack.refuted:
        if all(finding.rule != "DPA004" for finding in findings):
            shown = beating(_shown(attack), claim.epsilon)
            findings.append(Finding("DPA004", f"the lower bound {shown}beats the claim {claim}", subject.name))
        reason = attack.reason + _by_rounding(attack.exact, claim, proof)
    elif attack.interrupted:
        reason = attack.reason
    else:
        missing = _missing(claim, upper, findings, subject, proof)
        reason = "; ".join(filter(None, (missing or _why_certified(claim, upper, proof), attack.reason)))
    rules = {finding.rule for finding in findings}
    outcome = outcome_of(
        claim, upper, rules, grey=subject.grey, refuted=attack.refuted, interrupted=attack.interrupted
    )  # fmt: skip
    return Verdict(
        outcome, claim, attack.lower, upper, findings, attack.witness, subject.name, subject.neighbours.name, seed,
        attack.detectable, reason, losses=attack.losses,
    )  # fmt: skip


def _why_certified(claim: Claim, upper: Upper | None, proof: Proof) -> str:
    """One sentence for a person."""
    if upper is not None and upper.path == "single":
        return f"{BY_PLAN}, and each one's sensitivity is proven by its trace"
    cost = "" if proof.bound is None else f"; the paths that ran cost ε ≤ {number(epsilon_at(proof.bound, claim))}"
    return behind_door(claim) + cost


def _upper(proof: Proof, attack: Attack, claim: Claim) -> Upper | None:
    """The proven bound, raised where replay observed more than was declared; none where data left by another way."""
    upper = proof.upper
    if upper is None or attack.finds("DPA002"):
        return None
    if attack.refuted and upper.path == "enforced":
        return None  # without that budget, there are paths that cost more
    if upper.sensitivity == "proven":
        return upper
    observed = attack.observed
    epsilon = max(upper.epsilon, proof.raised(observed.excess, claim)) if observed.excess else upper.epsilon
    tested = proof.unproven <= observed.largest.keys() - observed.unseen
    return replace(upper, epsilon=epsilon, sensitivity="tested" if tested else "declared")


def _overspent(subject: Subject, claim: Claim, paths: Sequence[PinnedPath], seed: int) -> Fraction | None:
    """The cost of a path that was seen to exceed the claim, which a door would have refused; None where none was. Those that seem
    to, by what plain data declares, are run again sealed, the costliest first."""
    costs = [(path.epsilon(claim) or Fraction(0), path) for path in paths]
    dear = sorted((one for one in costs if one[0] > claim.epsilon * ROUNDING), key=lambda one: -one[0])
    pairs = list(subject.neighbours.pairs(pair_generator(seed))) if dear else []
    for _, path in dear[:RERUNS]:
        proven = sealed_epsilon(subject, pairs[path.place][0], path, claim)
        if proven is not None and proven > claim.epsilon:
            return proven
    return None


def _paths(proof: Proof, attack: Attack) -> list[PinnedPath]:
    """What replay pinned of a subject without a plan whose sensitivities are proven as declared. Of paths that release the same,
    and so cost the same, the one with the largest loss."""
    found = (*proof.findings, *attack.findings, *attack.observed.findings)  # a path that no sealed run took may understate, too
    upper, understated = proof.upper, any(finding.rule == "DPA003" for finding in found)
    if upper is None or upper.sensitivity != "proven" or upper.path == "single" or understated or attack.finds("DPA002"):
        return []
    worst: dict[tuple[int, ...], PinnedPath] = {}
    for path in pinned_paths(attack.replays, proof.runs):
        key = tuple(map(id, path.releases))  # equal releases are one object
        if key not in worst or path.loss > worst[key].loss:
            worst[key] = path
    return list(worst.values())


def _findings(proof: Proof, attack: Attack) -> list[Finding]:
    """One finding per rule and place. Where a trace exceeds what is declared, a pair that does is shown, if one was seen."""
    merged: dict[tuple[str, str], Finding] = {}
    rules = {finding.rule for finding in proof.findings}
    traced = [_with_pair(finding, attack.observed) for finding in proof.findings]
    later = [f for f in (*attack.findings, *attack.observed.findings) if f.rule not in rules]
    for finding in (*traced, *later):
        merged.setdefault((finding.rule, finding.where), finding)
    return list(merged.values())


def _with_pair(finding: Finding, observed: Observed) -> Finding:
    if finding.rule != "DPA003" or finding.release not in observed.excess:
        return finding
    move = observed.largest[finding.release]
    error = SensitivityError(finding.release, move.declared, move.observed, shown=True)
    return replace(finding, message=f"{error.detail}; seen on {move.sides()}")


def _check_contradiction(upper: Upper | None, attack: Attack, paths: Sequence[PinnedPath]) -> None:
    """The 95 % estimate may err; an exact witness, or a bound at confidence 1 − 10^-6, above a proven bound may not. Of subjects
    without a plan only some paths run: on each, the exact loss may not exceed what its releases are accounted at."""
    if upper is not None and upper.sensitivity == "proven" and upper.path == "single" and _sure(attack) > upper.epsilon:
        raise Contradiction(upper.epsilon, max(attack.lower.epsilon, attack.level))
    for path in paths:
        cost = path.pure_epsilon()
        if cost is not None and path.loss > cost:
            raise Contradiction(cost, float(path.loss))


def _sure(attack: Attack) -> Fraction:
    return max(Fraction(attack.level), attack.exact if attack.exact is not None else Fraction(0))


def _missing(claim: Claim, upper: Upper | None, findings: list[Finding], subject: Subject, proof: Proof) -> str:
    """What stands between this subject and a certificate; empty when nothing does."""
    lack = lack_of(claim, upper, {finding.rule for finding in findings}, grey=subject.grey)
    if lack is Lack.PROOF:
        return "a black box that was not refuted; nothing proves it"
    if lack is Lack.RULE:
        blocking = next(finding for finding in findings if finding.rule in blocking_rules(claim))
        return f"{blocking.rule}: {blocking.message}"
    if lack is Lack.BOUND or upper is None:
        return "no upper bound could be proven"
    if lack is Lack.ABOVE:
        return _above(claim, upper, proof) + _plan_that_would_do(proof)
    if lack is Lack.SENSITIVITY:
        return f"sensitivity is only {upper.sensitivity}" + (f": {proof.untraced}" if proof.untraced else "")
    if lack is Lack.PATH:
        return "only the paths that ran are known to stay within the claim" + _plan_that_would_do(proof)
    return ""


def _above(claim: Claim, upper: Upper, proof: Proof) -> str:
    kind = "proven upper bound" if upper.sensitivity == "proven" else "upper bound"
    kind = {"single": f"{kind} of its plan", "enforced": kind, "observed": f"{kind} of a path that ran"}[upper.path]
    return f"the {kind}, {float(upper.epsilon):.9g}, is above the claim" + _by_rounding(upper.epsilon, claim, proof)


def _plan_that_would_do(proof: Proof) -> str:
    """Releases that were the same in every run, ready to be declared, where that would certify them."""
    if proof.ready is None:
        return ""
    edits = f" ({proof.ready.edits})" if proof.ready.edits else ""
    certified = f"declared as a plan they would be certified at ε ≤ {number(proof.ready.epsilon)}"
    return f"; its releases were the same in every run, and {certified}: {proof.ready.plan.python_code()}{edits}"


def _by_rounding(epsilon: Fraction | None, claim: Claim, proof: Proof) -> str:
    """What to do about so small an excess: the grid that is in use, and the noise that would do."""
    excess = 0.0 if epsilon is None or not claim.epsilon else float(epsilon / claim.epsilon)
    if not 1 < excess < 1.001 or any(finding.rule == "DPA002" for finding in proof.findings):
        return ""
    enough = math.ceil(excess * 10**7) / 10**7
    parameters = [release.parameters for run in proof.runs for release in run]
    grids = [_grid_words(grid) for grid in sorted({Fraction(known["grid"]) for known in parameters if "grid" in known})]
    where = f"the grid {' or '.join(grids)}" if grids else "their grid"
    sizes = {(key, size) for known in parameters for key, size in known.items() if key in ("scale", "sigma")}
    name, size = next(iter(sizes), ("", ""))
    would = f"{name}={float(Fraction(size)) * enough:.9g}" if len(sizes) == 1 else f"noise {enough:.8g} times as large"
    return f"; values are rounded to {where}, which adds this much: {would} would do"


def _grid_words(grid: Fraction) -> str:
    power = grid.denominator.bit_length() - 1
    return f"2^-{power}" if grid == Fraction(1, 2**power) else show(grid)


def _shown(attack: Attack) -> Fraction:
    """The figure that a refutation rests on."""
    return attack.exact if attack.exact is not None else Fraction(max(attack.lower.epsilon, attack.level))
