"""Clients by what they pay, against an account of each client's own releases."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from dpaudit.accountants import account
from dpaudit.accountants.client_shares import SHARES, Share
from dpaudit.accountants.spending_history import spending
from dpaudit.ledger import Cohort, Release


def release(place: int, draw: random.Random, mechanism: str) -> Release:
    records: list[object] = [range(start := draw.randrange(12), start + draw.randrange(1, 8))]
    records += draw.sample(["a", "b", "c"], draw.randrange(3))
    cohort = Cohort.of(None if draw.random() < 0.2 else records)
    parameters = {"scale" if mechanism == "laplace" else "sigma": str(draw.choice([10, 20]))}
    return Release(f"r{place}", mechanism, Fraction(1), parameters, cohort=cohort)


def one_by_one(releases: list[Release], delta: str) -> list[float]:
    """What every client that a cohort names pays: an account of its own releases alone."""
    clients: set[int | str] = set()
    for each in releases:
        clients |= set(each.cohort.ids) | {k for start, stop in each.cohort.intervals for k in range(start, stop)}
    touching = [[each for each in releases if client in each.cohort] for client in clients]
    return sorted(float(account(own, delta=delta).epsilon) for own in touching)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("mechanism", "delta"), [("laplace", "0"), ("gaussian", "1e-5"), ("laplace", "1e-3")])
def test_shares_count_every_client_at_its_own_cost(seed: int, mechanism: str, delta: str) -> None:
    draw = random.Random(seed)
    releases = [release(place, draw, mechanism) for place in range(draw.randrange(1, 9))]
    found = spending(releases, account(releases, delta=delta), delta=delta)
    named = [share for share in found.shares if share.clients is not None]
    costs = one_by_one(releases, delta)
    assert not found.summed
    assert sum(share.clients or 0 for share in named) == len(costs)
    left = list(costs)
    for share in named:
        inside, left = left[: share.clients], left[share.clients :]
        assert all(share.low * (1 - 1e-12) <= cost <= share.high for cost in inside)


def test_few_different_costs_have_a_row_each() -> None:
    releases = [
        Release("all", "laplace", Fraction(1), {"scale": "4"}),
        Release("some", "laplace", Fraction(1), {"scale": "2"}, cohort=Cohort.of(range(10))),
        Release("again", "laplace", Fraction(1), {"scale": "2"}, cohort=Cohort.of([range(5), "x"])),
    ]
    shares = spending(releases, account(releases)).shares
    assert shares == [Share(0.25, 0.25, None), Share(0.75, 0.75, 6), Share(1.25, 1.25, 5)]


def test_where_everybody_pays_the_same_there_is_nothing_to_compare() -> None:
    releases = [Release("all", "laplace", Fraction(1), {"scale": "4"})]
    assert spending(releases, account(releases)).shares == []


def test_a_billion_clients_are_eight_rows() -> None:
    releases = [
        Release(f"r{k}", "laplace", Fraction(1), {"scale": "8"}, cohort=Cohort.of(range(k * 10**9, k * 10**9 + 10**8 * k)))
        for k in range(1, 31)
    ]
    shares = spending(releases, account(releases)).shares
    assert len(shares) <= SHARES
    covered = Counter[int]()
    for each in releases:
        for start, stop in each.cohort.intervals:
            covered[start] += 1
            covered[stop] -= 1
    total, running, before = 0, 0, 0
    for place in sorted(covered):
        total += (place - before) if running else 0
        running, before = running + covered[place], place
    assert sum(share.clients or 0 for share in shares) == total


def test_many_kinds_of_clients_fall_back_to_sums_and_say_so() -> None:
    releases = [
        Release(f"r{k}", "gaussian", Fraction(1), {"sigma": str(50 + k)}, cohort=Cohort.of(range(k, k + 20))) for k in range(400)
    ]
    bound = account(releases, delta="1e-6")
    found = spending(releases, bound, delta="1e-6")
    assert found.summed
    assert max(share.high for share in found.shares) >= float(bound.epsilon)
