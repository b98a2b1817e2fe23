"""How a ledger's spending grew, release by release, and how it is spread over the clients: what a report draws.

Only what stands in the ledger is read: names, costs and cohorts. The last step is the figure that ``account`` proves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil
from pathlib import Path

from dpaudit.accountants.client_shares import Share, composed_shares, summed_shares
from dpaudit.accountants.composition import target_delta
from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.readings.reads import read_release, touched
from dpaudit.accountants.record_groups import groups
from dpaudit.accountants.sampling.constant_steps import is_constant, join_steps
from dpaudit.claims import Bound, Line, Number, float_up
from dpaudit.ledger import Charge, Ledger, PureSums, Release, is_ledger, load_releases, open_ledger
from dpaudit.noise import written_forms

STEPS = 48  # of a timeline
PLANNED = 16  # of one that shows equal steps
COMPOSED, FEWEST, WORK = 24, 8, 30_000  # steps where each is composed anew: fewer where it takes long


@dataclass(frozen=True)
class Step:
    """Releases ``first`` to ``last``, counted from 1, by the names at both ends."""

    first: int
    last: int
    names: tuple[str, str]
    most: float  # ε of the costliest of them
    after: float  # ε of the client who has paid most when they are done


@dataclass(frozen=True)
class Spending:
    """``summed``: the shares are plain sums of ε, which the account may compose more tightly."""

    steps: Sequence[Step]
    shares: Sequence[Share]
    summed: bool


def spending(
    ledger: Ledger | str | Path | Iterable[Release], bound: Bound, *, delta: Number | None = None, fixed: bool = False
) -> Spending:
    """For a ledger, its file or a list of releases, and what ``account`` says of it with the same ``delta`` and ``fixed``."""
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return spending(load_releases(ledger, written_forms()), bound, delta=delta, fixed=fixed)
        with open_ledger(ledger, readonly=True) as opened:
            return spending(opened, bound, delta=delta, fixed=fixed)
    releases = list(ledger.releases() if isinstance(ledger, Ledger) else ledger)
    unused = list(ledger.unused_charges()) if isinstance(ledger, Ledger) else []
    releases, unused = join_steps(releases, unused)
    target = target_delta(releases, ledger.budget if isinstance(ledger, Ledger) else None, delta)
    if len(releases) == 1 and is_constant(releases[0]) and not unused and target:
        return Spending(_of_plan(releases[0], bound, target), [], False)
    reads = [read_release(release) for release in releases]
    charges = [Charge(line.epsilon, line.delta, read.cohort) for line, read in zip(bound.lines, reads, strict=True)]
    ends = _ends(len(releases), max(FEWEST, min(COMPOSED, WORK // max(len(releases), 1))) if target else STEPS)
    shares: list[Share] | None = None
    if target and ends:
        shares = composed_shares(list(touched(reads, unused, "server", target)), target, fixed=fixed)
        seen = (groups(touched(reads[:end], unused, "server", target)) for end in ends[:-1])
        after = _rising([*(least(parts, target, fixed=fixed).epsilon for parts in seen), bound.epsilon])
    else:
        after = list(_sums(charges, unused, ends))
    drawn = summed_shares([*unused, *charges]) if shares is None else shares
    return Spending(_steps(bound.lines, ends, after), drawn, bool(target) and shares is None)


def _of_plan(release: Release, bound: Bound, delta: Fraction) -> list[Step]:
    """Equal steps that one entry counts: what the first, the first two, … of them cost."""

    def cost(count: int) -> Fraction:
        part = read_release(replace(release, count=count)).part()
        return least([Counter([part])], delta, fixed=True).epsilon

    ends, start, found = _ends(release.count or 1, PLANNED), 0, []
    most = float_up(cost(1))
    for end, total in zip(ends, _rising([*map(cost, ends[:-1]), bound.epsilon]), strict=True):
        found.append(Step(start + 1, end, (release.name, release.name), most, float_up(total)))
        start = end
    return found


def _ends(count: int, steps: int) -> list[int]:
    """Where each step ends: at most so many, all but the last equally long."""
    size = max(1, ceil(count / steps))
    return [*range(size, count, size), count] if count else []


def _rising(bounds: Sequence[Fraction]) -> list[Fraction]:
    """The first releases tell no more than all of them: a bound for more releases holds for fewer."""
    return list(accumulate(reversed(bounds), min))[::-1]


def _sums(charges: Sequence[Charge], unused: Sequence[Charge], ends: Sequence[int]) -> Iterator[Fraction]:
    """The same as ``least`` at δ = 0, in one pass."""
    sums, done = PureSums(), 0
    for charge in unused:
        sums.add(charge)
    for end in ends:
        for charge in charges[done:end]:
            sums.add(charge)
        done = end
        yield sums.worst()[0]


def _steps(lines: Sequence[Line], ends: Sequence[int], after: Sequence[Fraction]) -> list[Step]:
    found, start = [], 0
    for end, total in zip(ends, after, strict=True):
        most = float_up(max(line.epsilon for line in lines[start:end]))
        found.append(Step(start + 1, end, (lines[start].batch, lines[end - 1].batch), most, float_up(total)))
        start = end
    return found
