"""The plan that a subject could declare: of releases that were the same in every run, where composing them fits the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.composition import account_releases
from dpaudit.channel import Plan, Planned
from dpaudit.claims import Bound, Claim, InvalidValue, exact
from dpaudit.claims.decimals import number
from dpaudit.ledger import Release
from dpaudit.noise import noise_from

LONGEST = 100  # entries that a person would paste
ROUNDED = 1 + Fraction(1, 10**12)  # of a sensitivity: a door takes so much for rounding, and charges what is proven


@dataclass(frozen=True)
class ReadyPlan:
    """A plan, and what it would be certified at. ``edits``: what its releases have to say for it."""

    plan: Plan
    epsilon: Fraction
    edits: str = ""


def ready_plan(runs: Sequence[Sequence[Release]], claim: Claim) -> ReadyPlan | None:
    """None where runs differ, where a sensitivity is not proven or declared too small, or where no plan fits the claim."""
    if not runs or not runs[0] or any(_facts(run) != _facts(runs[0]) for run in runs[1:]):
        return None
    every = [one for run in runs for one in run]
    if any(one.derived is None or one.derived > one.sensitivity * ROUNDED or one.failure is not None for one in every):
        return None
    entries = [_entry([run[place] for run in runs]) for place in range(len(runs[0]))]
    for cohorts in (False, True):
        chosen = entries if cohorts else [replace(entry, cohort=None) for entry in entries]
        plan = Plan.of(_joined(chosen))
        if len(plan.entries) > LONGEST:
            continue
        try:
            epsilon = epsilon_at(account_plan(plan, claim), claim)
        except InvalidValue:
            return None
        if epsilon <= claim.epsilon:
            return ReadyPlan(plan, epsilon, "name these cohorts in your releases, with cohort=" if cohorts else "")
    return None


def account_plan(plan: Plan, claim: Claim) -> Bound:
    """What a plan costs on every path. Raises InvalidValue where it has no finite cost at the claim's δ."""
    return account_releases([entry.release(None) for entry in plan], claim.delta, fixed=True, limit=claim.epsilon)


def epsilon_at(bound: Bound, claim: Claim) -> Fraction:
    """The bound's ε for the claim's observer."""
    return bound.per_observer.get(claim.observer, (bound.epsilon, bound.delta))[0]


def _facts(run: Sequence[Release]) -> list[tuple[object, ...]]:
    return [(r.name, r.mechanism, r.parameters, r.sensitivity, r.kind, r.cohort, r.to, r.leaves, r.sampling) for r in run]


def _entry(same: Sequence[Release]) -> Planned:
    """The planned release, with the sensitivity that rounding brings it to where that is larger."""
    one = same[0]
    noise = noise_from(one.mechanism, one.parameters)
    steps = max(release.steps or 0 for release in same)
    sensitivity = one.sensitivity if -(-one.sensitivity // noise.grid) >= steps else exact(number(steps * noise.grid))
    cohort = None if one.cohort.everyone else one.cohort
    if one.leaves is not None:
        return Planned(one.name, noise, sensitivity, kind="tree", cohort=cohort, to=one.to, count=one.leaves)
    return Planned(one.name, noise, sensitivity, kind=one.kind, cohort=cohort, to=one.to, sampling=one.sampling)


def _joined(releases: Sequence[Planned]) -> list[Planned]:
    """The same with equal neighbours as one entry."""
    entries: list[Planned] = []
    for one in releases:
        if one.kind != "tree" and entries and replace(entries[-1], count=1) == one:
            entries[-1] = replace(one, count=entries[-1].count + 1)
        else:
            entries.append(one)
    return entries
