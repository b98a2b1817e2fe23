"""A table holds the releases that were put in, and finds those that touch a record."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpaudit.ledger import Cohort, Release
from dpaudit.ledger.books.release_table import ReleaseTable

cohorts = st.sampled_from([None, range(2), range(1, 4), range(-3, 0), [1, 5], "p1", "p2", ["p1", 4], []])
releases = st.builds(
    lambda name, cohort, scale, n, note: Release(
        name,
        "laplace",
        Fraction(1),
        {"scale": scale},
        epsilon=Fraction(1),
        cohort=Cohort.of(cohort),
        n=n,
        kind="reports",
        values=[3],
        extra={"note": note},
    ),
    st.sampled_from(["a", "b", "ü"]),
    cohorts,
    st.sampled_from(["1", "2"]),
    st.integers(1, 2),
    st.sampled_from(["x", "y"]),
)


@given(st.lists(releases, max_size=12))
def test_releases_come_back_without_their_values(given_releases: list[Release]) -> None:
    table = ReleaseTable.of(given_releases)
    assert [release.to_json() for release in table.releases()] == [each.without_values().to_json() for each in given_releases]
    kinds = {str({**each.to_json(), "name": "", "cohort": None}) for each in given_releases}
    assert len(table.kinds) == len(kinds)
    assert sum(table.counts()) == len(given_releases)


@given(st.lists(releases, max_size=12), st.sampled_from([-1, 0, 1, 4, 5, "p1", "p2", "other", None]))
def test_rows_that_touch_a_record_are_found(given_releases: list[Release], record: Any) -> None:
    table = ReleaseTable.of(given_releases)
    found = [
        place for place, each in enumerate(given_releases)
        if each.cohort.everyone or (record is not None and record in each.cohort)
    ]  # fmt: skip
    assert table.touching(record).tolist() == found


def test_rows_are_told_apart_by_whom_they_are_about() -> None:
    made = [Release("r", "laplace", Fraction(1), cohort=Cohort.of(c)) for c in (None, range(3), "p", [1, 3], range(-5, -1))]
    table = ReleaseTable.of(made)
    assert [t.tolist() for t in (table.everyone(), table.ranges(), table.named(), table.others())] == [[0], [1, 4], [2], [3]]
    assert ReleaseTable().counts() == []
    assert ReleaseTable().touching(3).tolist() == []
