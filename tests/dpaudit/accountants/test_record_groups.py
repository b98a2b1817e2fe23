"""Groups of records against a direct count for every record."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accountants.record_groups import groups
from dpaudit.ledger import Cohort

cohorts = st.one_of(
    st.none(),
    st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda pair: range(pair[0], pair[0] + pair[1])),
    st.lists(st.integers(0, 15), min_size=1, max_size=4),
    st.lists(st.sampled_from(["ann", "bob"]), min_size=1, max_size=2),
)


@given(st.lists(st.tuples(st.sampled_from("xyz"), cohorts), max_size=10))
def test_every_records_releases_are_within_a_group_and_every_group_is_some_records(touched: Any) -> None:
    read = [(kind, Cohort.of(records)) for kind, records in touched]
    found = groups(read)
    direct = [Counter(kind for kind, cohort in read if record in cohort) for record in [*range(-1, 25), "ann", "bob", "eve"]]
    assert all(any(own <= group for group in found) for own in direct)
    assert all(group in direct for group in found)
    assert not any(a <= b for i, a in enumerate(found) for j, b in enumerate(found) if i != j)


def test_disjoint_batches_make_one_group() -> None:
    found = groups([("batch", Cohort.of(range(10 * k, 10 * k + 10))) for k in range(1000)])
    assert found == [Counter({"batch": 1})]
