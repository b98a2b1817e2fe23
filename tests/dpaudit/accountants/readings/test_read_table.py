"""A table says of every record what looking at one release after the other says: what touches it, who pays most, its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accountants.composition import account, account_releases
from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.readings import touched_records
from dpaudit.accountants.readings.account_lines import AccountLines, alike
from dpaudit.accountants.readings.read_table import ReadTable
from dpaudit.accountants.readings.reads import read_release, touched
from dpaudit.accountants.readings.release_line import line_of
from dpaudit.accountants.record_groups import groups, records_with
from dpaudit.accountants.worst_client import Client, client_of, worst_client
from dpaudit.claims import InvalidValue, Line
from dpaudit.ledger import Charge, Cohort, Release
from dpaudit.ledger.books.release_table import ReleaseTable

DELTA = Fraction(1, 10**6)
NOISES: list[dict[str, Any]] = [
    {"mechanism": "laplace", "parameters": {"scale": "2"}, "epsilon": Fraction(1, 2)},
    {"mechanism": "laplace", "parameters": {"scale": "3"}, "epsilon": Fraction(1, 3)},
    {"mechanism": "laplace", "parameters": {"scale": "3"}, "epsilon": Fraction(1, 3), "extra": {"note": "x"}},
    {"mechanism": "gaussian", "parameters": {"sigma": "4"}},
    {"mechanism": "known", "parameters": {"epsilon": "1/4", "delta": "1e-9"}},
]
KINDS: list[dict[str, Any]] = [{}, {"kind": "reports", "n": 40}, {"kind": "shuffled", "n": 4000}, {"kind": "shuffled", "n": 40}]
KINDS += [{"kind": "reports", "n": 50, "read": "sums", "tags": {"a": 25, "b": 25}}]
cohorts = st.sampled_from([None, range(2), range(1, 4), range(-3, 0), range(4, 70), [1, 5], "p1", "p2", ["p1", 4], []])


def a_release(noise: dict[str, Any], kind: dict[str, Any], cohort: Any, name: str) -> Release:
    more = kind if noise["mechanism"] == "laplace" else {}
    return Release(name=name, sensitivity=Fraction(1), cohort=Cohort.of(cohort), **noise, **more)


releases = st.lists(
    st.builds(a_release, st.sampled_from(NOISES), st.sampled_from(KINDS), cohorts, st.sampled_from(["a", "b", "ü"])), max_size=9
)
unused = st.lists(st.builds(lambda c: Charge(Fraction(1, 5), cohort=Cohort.of(c), name="lost"), cohorts), max_size=2)


def as_counts(found: Sequence[Counter[Any]]) -> set[frozenset[Any]]:
    return {frozenset(each.items()) for each in found}


def worst_one_by_one(done: list[Release], lost: list[Charge], group: Counter[Any]) -> Client:
    """The client of a bound, release by release."""
    reads = [read_release(release) for release in done]
    costs = [line_of(read, DELTA) for read in reads]
    charges = [Charge(line.epsilon, line.delta, read.cohort, line.batch) for line, read in zip(costs, reads, strict=True)]
    charges, seen = [*charges, *lost], list(touched(reads, lost, "server", DELTA))
    first = worst_client(charges)
    own = Counter(part for part, cohort in seen if cohort.everyone or (first.record is not None and first.record in cohort))
    return first if own == group or not group else client_of(records_with(seen, group), charges)


@settings(max_examples=200, deadline=None)
@given(releases, unused, st.sampled_from(["server", "actions", "shuffled"]), st.booleans())
def test_what_touches_a_record_is_the_same(done: list[Release], lost: list[Charge], observer: str, sparse: bool) -> None:
    table, reads = ReadTable(ReleaseTable.of(done), lost), [read_release(release) for release in done]
    seen = list(touched(reads, lost, observer, DELTA))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(touched_records, "_MOST_CELLS", 0 if sparse else 2**40)
        patch.setattr(touched_records, "_CELLS", 8)  # some places at a time
        found = table.touched(table.parts(observer, DELTA))
        assert as_counts(found.groups()) == as_counts(groups(seen))
        for group in groups(seen):
            assert found.records_with(group) == records_with(seen, group)
        assert found.records_with(Counter({next(iter(found.kinds), None): 99})) == Cohort.all()


@settings(max_examples=100, deadline=None)
@given(releases, unused)
def test_the_account_is_that_of_its_releases_one_by_one(done: list[Release], lost: list[Charge]) -> None:
    reads = [read_release(release) for release in done]
    expected, seen = (least(groups(touched(reads, lost, who, DELTA)), DELTA, fixed=False) for who in ("server", "actions"))
    bound = account_releases(done, DELTA, lost)
    assert list(bound.lines) == [line_of(read, DELTA) for read in reads]
    assert (bound.epsilon, bound.delta, bound.method) == (expected.epsilon, expected.delta, expected.method)
    assert bound.per_observer["actions"] == (seen.epsilon, seen.delta)
    told = worst_one_by_one(done, lost, expected.group).to_dict(expected.epsilon, expected.delta)
    if dict(bound.worst_client) != told:  # of two groups at the same cost either may be named
        tied = [
            g for g in groups(touched(reads, lost, "server", DELTA)) if least([g], DELTA, fixed=False).epsilon == bound.epsilon
        ]
        assert dict(bound.worst_client) in [worst_one_by_one(done, lost, g).to_dict(bound.epsilon, bound.delta) for g in tied]


@settings(max_examples=100, deadline=None)
@given(releases)
def test_lines_that_say_the_same_are_counted_together(done: list[Release]) -> None:
    reads = ReadTable(ReleaseTable.of(done))
    lines = AccountLines(reads, [line_of(read, DELTA) for read in reads.reads])
    expected: dict[Any, list[Line]] = {}
    for line in list(lines):
        expected.setdefault((line.epsilon0, line.in_domain, line.epsilon, line.theorem, line.preconditions), []).append(line)
    for found in (alike(lines), alike(list(lines))):
        told = {(each.first, each.count, each.fewest, each.most) for each in found}
        assert told == {(e[0], len(e), min(x.n for x in e), max(x.n for x in e)) for e in expected.values()}
    assert [each.last for each in alike(list(lines))] == [each[-1].batch for each in expected.values()]


SUMS: dict[str, Any] = {"kind": "reports", "n": 3000, "read": "sums"}


def actions(done: list[Release], delta: Fraction = DELTA) -> tuple[Fraction, Fraction]:
    return account_releases(done, delta).per_observer["actions"]


@pytest.mark.parametrize("fact", [{"count": 50}, {"sampling": "1/2"}, {"failure": "1e-7"}])
def test_sums_of_several_batches_of_samples_or_that_may_fail_cost_what_the_server_sees(fact: dict[str, Any]) -> None:
    """What sums cost is known for one batch of everybody's reports: fifty of them in one entry are not one."""
    once, batch = a_release(NOISES[0], SUMS, None, "a"), a_release(NOISES[0], {**SUMS, **fact}, None, "a")
    assert actions([once])[0] < Fraction(1, 40)  # of ε0 = 1/2
    bound = account_releases([batch], DELTA)
    assert bound.per_observer["actions"] == bound.per_observer["server"]


@pytest.mark.parametrize("other", [NOISES[3], {"mechanism": "zcdp", "parameters": {"rho": "1/50"}}, NOISES[4]])
def test_sums_leave_the_others_what_they_need_of_delta(other: dict[str, Any]) -> None:
    """Sums took all of δ, so that Gaussian noise beside them had no figure at any δ."""
    sums, beside = a_release(NOISES[0], SUMS, None, "a"), a_release(other, {}, None, "b")
    epsilon, spent = actions([sums, beside])
    assert spent <= DELTA
    assert actions([beside])[0] < epsilon < account_releases([sums, beside], DELTA).epsilon
    assert epsilon >= actions([sums], DELTA)[0]


def test_ranges_as_long_as_64_bits_can_be_are_counted() -> None:
    wide = Release("wide", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), cohort=Cohort.of(range(-(2**62), 2**62)))
    assert account_releases([wide], Fraction(0)).lines[0].n == 2**63


def test_many_pseudonyms_and_the_one_who_pays_most() -> None:
    done = [a_release(NOISES[0], {}, f"p{i % 50}", f"r{i}") for i in range(120)]  # p0 to p19 pay three times
    bound = account_releases(done, Fraction(0))
    assert (bound.epsilon, bound.worst_client["client"], bound.worst_client["names"]) == (
        Fraction(3, 2),
        "p0",
        ["r0", "r50", "r100"],
    )


@pytest.mark.parametrize("more", [{}, {"count": "5"}, {"sampling": "0.1"}])
@pytest.mark.parametrize("sensitivity", ["1e400", "1e20", "1e7"])
def test_gaussian_noise_that_hides_nothing_is_refused_before_it_is_composed(sensitivity: str, more: dict[str, str]) -> None:
    release = {"mechanism": "gaussian", "sigma": "1.5", "sensitivity": sensitivity, **more}
    with pytest.raises(InvalidValue, match="times sigma"):
        account([release], fixed=True)
