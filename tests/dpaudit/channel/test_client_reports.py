"""Reports of clients: groups, tags, shuffling, and that sums drawn by their own law are those of one set of reports."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit.channel.client_reports import multiset, sum_by_tag
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort

VALUES = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0])
TAGS = np.array([0, 1, 0, 2, 1, 0])
EXACT = dp.Laplace("0.0001")  # leaves every value recognisable


def reports(channel: Any, to: str = "server", tags: Any = TAGS, values: Any = VALUES, noise: Any = EXACT) -> Any:
    return channel.reports("r", values, noise, sensitivity=6, to=to, tags=tags)


@pytest.mark.parametrize("every", [True, False])
def test_sums_are_by_tag_or_by_the_groups_asked_for(every: bool) -> None:
    groups = [range(0, 2), range(4, 6)]
    for ask, expected in (({}, [15, 4, 2]), ({"groups": groups}, [6, 9]), ({"groups": TAGS % 2}, [17, 4])):
        with dp.simulate(1, every_report=every) as channel:
            assert np.allclose(reports(channel).sum(**ask), expected, atol=0.01)


def test_without_tags_the_sum_is_one() -> None:
    with dp.simulate(1) as channel:
        assert np.allclose(reports(channel, tags=None).sum(), [21], atol=0.01)


def test_asking_twice_gives_the_same_sums_and_other_groups_are_refused() -> None:
    """Fresh noise would let a simulated server average away what a real one could not."""
    with dp.simulate(1) as channel:
        batch = channel.reports("r", VALUES, dp.Laplace(5), sensitivity=6, tags=TAGS)
        assert np.array_equal(batch.sum(TAGS % 2), batch.sum(TAGS % 2))
        for other in (None, TAGS):
            with pytest.raises(dp.DpauditError, match="other groups"):
                batch.sum(other)
        with pytest.raises(dp.DpauditError, match="drawn already"):
            batch.values  # noqa: B018
    assert len(channel.events) == 1


def test_values_and_then_sums_are_of_the_same_reports() -> None:
    with dp.simulate(1) as channel:
        batch = channel.reports("r", VALUES, dp.Laplace(5), sensitivity=6, tags=TAGS)
        values = batch.values
        assert np.allclose(batch.sum(), [values[tag == TAGS].sum() for tag in range(3)])
        assert np.allclose(batch.sum([range(6)]), [values.sum()])


@pytest.mark.parametrize(("shift", "agrees"), [(1.0, True), (1.1, False)])
def test_sums_by_their_own_law_are_distributed_like_sums_of_reports(shift: float, agrees: bool) -> None:
    """Kolmogorov–Smirnov at 1e-6, seeds fixed; the twin has 10 % more noise."""
    trials, noise = 60_000, dp.Laplace(5)
    with dp.simulate(2, trials=trials) as channel:
        quick = channel.reports("r", np.tile(VALUES, (trials, 1)), noise, sensitivity=6).sum()[:, 0]
    with dp.simulate(3, trials=trials, every_report=True) as channel:
        slow = channel.reports("r", np.tile(VALUES, (trials, 1)), noise, sensitivity=6).values.sum(axis=1)
    assert bool(stats.ks_2samp((quick - 21) * shift, slow - 21).pvalue > 1e-6) is agrees


def test_a_shuffler_sorts_within_tags_and_tells_nothing_else() -> None:
    with dp.simulate(1) as channel:
        batch = reports(channel, to="shuffled")
        assert np.allclose(batch.values, [4, 5, 6, 1, 3, 2], atol=0.01)
        assert list(batch.tags) == [0, 0, 0, 1, 1, 2]
        assert len(batch) == 6


def test_who_holds_which_value_leaves_no_trace_in_a_shuffled_batch() -> None:
    order = np.random.default_rng(1).permutation(6)
    with dp.simulate(1) as channel:
        one = np.round(reports(channel, to="shuffled", values=VALUES, tags=TAGS).values)
    with dp.simulate(1) as channel:
        other = np.round(reports(channel, to="shuffled", values=VALUES[order], tags=TAGS[order]).values)
    assert np.array_equal(one, other)


def test_multisets_are_sorted_per_trial() -> None:
    units = np.array([[3, 1, 2], [9, 7, 8]])
    assert multiset(units, None).tolist() == [[1, 2, 3], [7, 8, 9]]
    assert multiset(units, np.array([0, 1, 0])).tolist() == [[2, 3, 1], [8, 9, 7]]


def test_sums_by_tag_are_exact_integers_also_where_floats_would_round() -> None:
    units = np.array([2**60, 1, 1])
    assert sum_by_tag(units, np.array([0, 0, 1]), 2).tolist() == [2**60 + 1, 1]


def test_sealed_reports_derive_their_sensitivity_and_cohort() -> None:
    with dp.simulate(1) as channel:
        reports(channel, values=dp.seal(VALUES, 0, 10, first=100), noise=dp.Laplace(10)).sum()
    event = channel.events[0]
    assert event.derived == 10
    assert event.cohort == Cohort.of(range(100, 106))
    assert [finding.rule for finding in channel.findings] == ["DPA003"]
    assert event.record is not None
    assert event.record.epsilon == Fraction(1)


@pytest.mark.parametrize("values", [1.0, np.zeros((2, 2)), ["a"]])
def test_values_that_are_not_one_number_per_client_are_refused(values: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue):
        channel.reports("r", values, EXACT, sensitivity=1).values  # noqa: B018


@pytest.mark.parametrize("tags", [[0, 1], [0.0] * 6, [[0] * 6], ["a"] * 6])
def test_tags_and_groups_are_one_whole_number_per_client(tags: Any) -> None:
    with dp.simulate(1) as channel:
        with pytest.raises(InvalidValue):
            reports(channel, tags=tags)
        with pytest.raises(InvalidValue):
            reports(channel).sum(tags)


def test_no_clients_at_all_give_empty_reports() -> None:
    with dp.simulate(1) as channel:
        batch = reports(channel, values=np.zeros(0), tags=None)
        assert batch.values.shape == (0,)
        assert np.array_equal(batch.sum(), [0])


def test_a_shuffled_batch_never_keeps_the_order_of_arrival() -> None:
    """Tags from 0 on; a label of nobody would leave its reports as they came."""
    values = np.linspace(0, 1, 50)
    with dp.simulate(1) as channel, pytest.raises(dp.DpauditError, match="tags"):
        channel.reports("r", values, dp.Laplace(scale=1), sensitivity=1, cohort=range(50), to="shuffled", tags=np.full(50, -1))
    assert np.array_equal(multiset(np.array([3, 1, 2]), np.array([-1, -1, -1])), [1, 2, 3])
    assert np.array_equal(multiset(np.array([3, 1, 2]), np.array([0, -1, -1])), [1, 2, 3])


def test_sums_per_tag_agree_with_a_plain_loop_and_do_not_wrap_around() -> None:
    rng = np.random.default_rng(3)
    units, tags = rng.integers(-(2**40), 2**40, (4, 300)), rng.integers(-1, 7, 300)
    wanted = [[sum(int(u) for u, t in zip(row, tags, strict=True) if t == tag) for tag in range(9)] for row in units]
    assert sum_by_tag(units, tags, 9).tolist() == wanted
    huge = np.full(5000, 2**51)
    assert sum_by_tag(huge, np.zeros(5000, dtype=int), 1) > 0
    assert sum_by_tag(huge, None, 1) > 0


def test_absurd_labels_are_refused_before_memory_is_taken() -> None:
    with dp.simulate(1) as channel, pytest.raises(dp.DpauditError, match="groups"):
        channel.reports("r", np.zeros(1), dp.Laplace(scale=1), sensitivity=1, cohort=range(1), tags=[10**9])


def test_reports_of_which_only_sums_are_read_hand_out_nothing_else() -> None:
    with dp.simulate(1, every_report=True) as channel:
        noise = dp.Laplace(scale=2)
        got = channel.reports("r", np.ones(6), noise, sensitivity=2, cohort=range(6), tags=[0, 0, 0, 1, 1, 1], sums_only=True)
        assert got.sum().shape == (2,)
        with pytest.raises(dp.DpauditError, match="sums_only"):
            _ = got.values
        with pytest.raises(dp.DpauditError, match="sums_only"):
            got.sum([0, 1, 2, 3, 4, 5])
        (event,) = channel.events
    assert event.record is not None
    assert event.record.read == "sums"


@pytest.mark.parametrize(("clients", "least", "most"), [(range(10), 0.9, 1), (range(2000), 0, 0.2)])
def test_a_door_amplifies_among_the_clients_that_a_cohort_names(tmp_path: Any, clients: range, least: float, most: float) -> None:
    """Two thousand reports of ten clients are not one each; the twin names as many clients as reports."""
    ledger = dp.open_ledger(tmp_path / "one.ledger")
    with dp.live(ledger, budget=("2", "1e-6")) as channel:
        zeros, noise = np.zeros(2000), dp.Laplace(1)
        channel.reports("r", zeros, noise, sensitivity=1, cohort=clients, to="shuffled", interval=(0, 1)).values  # noqa: B018
    (batch,) = ledger.releases()
    assert batch.epsilon is not None
    assert least < batch.epsilon <= most
    assert dp.account(ledger).epsilon <= batch.epsilon
