"""The worst client, against the sum of every record written out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accountants import account_releases
from dpaudit.accountants.peers.same_releases import of_worst_client
from dpaudit.accountants.worst_client import worst_client
from dpaudit.ledger import Charge, Cohort, Release

PIECES = st.lists(
    st.tuples(
        st.one_of(
            st.none(),
            st.tuples(st.integers(0, 9), st.integers(1, 6)).map(lambda p: range(p[0], p[0] + p[1])),
            st.sampled_from(["ada", "bob"]),
        ),
        st.fractions(Fraction(1, 9), 2, max_denominator=9),
    ),
    max_size=8,
)


def charges(pieces: Any) -> list[Charge]:
    return [Charge(cost, Fraction(0), Cohort.of(who), f"release {k}") for k, (who, cost) in enumerate(pieces)]


def spent(record: object, done: list[Charge]) -> Fraction:
    return sum((c.epsilon or Fraction(0) for c in done if record in c.cohort), Fraction(0))


@given(PIECES)
@settings(deadline=None)
def test_the_worst_client_pays_most_and_its_releases_are_named(pieces: Any) -> None:
    done = charges(pieces)
    worst = worst_client(done)
    everyone = [*range(-1, 17), "ada", "bob"]
    most = max(spent(record, done) for record in everyone)
    record = -1 if worst.record is None else worst.record  # nobody stands out: any record, also one that is named nowhere
    assert spent(record, done) == most
    assert list(worst.releases) == [c.name for c in done if record in c.cohort]
    assert worst.record is None or all(spent(r, done) == most for r in everyone if r in worst.alike)


def test_a_client_who_is_in_most_releases_need_not_be_the_worst() -> None:
    """The twin: counting releases instead of adding their costs names another client."""
    done = charges([(range(0, 1), Fraction(1)), (range(5, 6), Fraction(1, 9)), (range(5, 6), Fraction(1, 9))])
    assert worst_client(done).record == 0
    assert max((0, 5), key=lambda record: sum(record in c.cohort for c in done)) == 5


def test_its_figures_for_a_report_are_public_facts() -> None:
    told = worst_client(charges([(range(3, 8), Fraction(1, 2)), (None, Fraction(1))])).to_dict(Fraction(3, 2), Fraction(0))
    assert told == {
        "client": 3, "alike": [[3, 8]], "epsilon": "1.5", "delta": "0", "releases": 2, "names": ["release 0", "release 1"],
    }  # fmt: skip


def test_the_worst_client_is_the_one_whom_the_bound_is_about() -> None:
    """A hundred small releases add up to more than one large one, and compose to less; the twin is their plain sum."""

    def release(name: str, scale: str, sensitivity: int, who: int) -> Release:
        noise = dp.Laplace(scale)
        return Release(
            name=name, mechanism="laplace", parameters=noise.parameters(), sensitivity=Fraction(sensitivity), derived=None,
            epsilon=noise.epsilon(sensitivity * 2**20), delta=Fraction(0), cohort=Cohort.of(range(who, who + 1)), to="server",
        )  # fmt: skip

    releases = [*(release(f"small {k}", "10", 1, 1) for k in range(100)), release("large", "1", 6, 7)]
    for fixed in (False, True):
        bound = account_releases(releases, Fraction("1e-6"), fixed=fixed)
        assert (bound.epsilon, bound.worst_client["client"], bound.worst_client["names"]) == (6, 7, ["large"])
    assert account_releases(releases, Fraction(0)).worst_client["client"] == 1
    same = of_worst_client(releases, Fraction("1e-6"))
    assert [r.name for r in same.releases] == ["large"]
