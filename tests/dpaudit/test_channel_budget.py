"""The door's budget: who is charged for what, and that it refuses before noise is drawn, live and simulated."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import Channel, Live
from dpaudit.claims import SensitivityError
from dpaudit.noise import SecureSource

Door = Callable[..., AbstractContextManager[Channel]]
RECORDS = np.linspace(-1, 1, 100)


@pytest.fixture(params=["live", "simulated"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """Both kinds of door, with a budget; ``door(...).ledger`` is what it writes."""
    if request.param == "live":
        return lambda budget: dp.live(dp.open_ledger(tmp_path / "a.ledger"), budget=budget)
    return lambda budget: dp.simulate(5, budget=budget)


def spend(channel: Channel, name: str, value: Any, cohort: Any = None, scale: Any = 2) -> Any:
    return channel.release(name, value, dp.Laplace(scale), sensitivity=2, cohort=cohort)


def test_disjoint_slices_spend_in_parallel_and_overlapping_ones_add_up(door: Door) -> None:
    data = dp.seal(RECORDS, -1, 1)
    with door("1") as channel:
        spend(channel, "first half", data[:50].sum())
        spend(channel, "second half", data[50:].sum())
        with pytest.raises(dp.BudgetExceeded, match="one more"):
            spend(channel, "one more", data[49].sum())


def test_a_declared_cohort_cannot_make_a_derived_one_smaller(door: Door) -> None:
    """Both sums touch everybody, whatever is declared."""
    data = dp.seal(RECORDS, -1, 1)
    with door("1") as channel:
        spend(channel, "a", data.sum(), cohort=range(50))
        with pytest.raises(dp.BudgetExceeded):
            spend(channel, "b", data.sum(), cohort=range(50, 100))


def test_a_declared_cohort_cannot_make_removable_records_fewer(door: Door) -> None:
    data = dp.seal(RECORDS, -1, 1, removal=True)
    with door("1") as channel:
        channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1, cohort=range(50))
        with pytest.raises(dp.BudgetExceeded):
            channel.release("b", data.sum(), dp.Laplace(1), sensitivity=1, cohort=range(50, 100))


def test_a_declared_cohort_adds_to_the_derived_one(door: Door) -> None:
    data = dp.seal(RECORDS, -1, 1)
    with door("1") as channel:
        spend(channel, "a", data[:10].sum(), cohort=range(20))
        spend(channel, "b", data[20:].sum())
        with pytest.raises(dp.BudgetExceeded):
            spend(channel, "c", data[15].sum())


def test_a_budget_is_kept_per_record_over_many_small_releases(door: Door) -> None:
    data = dp.seal(RECORDS, -1, 1)
    with door("1") as channel:
        for start in range(0, 100, 10):
            for part in range(4):
                spend(channel, f"{start}, {part}", data[start : start + 10].sum(), scale=8)
        for start in range(0, 100, 10):
            with pytest.raises(dp.BudgetExceeded):
                spend(channel, "too much", data[start : start + 1].sum(), scale=10**6)


def test_reports_and_shuffled_batches_are_charged_at_the_door(door: Door) -> None:
    data = dp.seal(RECORDS, -1, 1)
    with door(("1", "1e-6")) as channel:
        channel.reports("each", data[:50], dp.Laplace(2), sensitivity=2)
        with pytest.raises(dp.BudgetExceeded):
            channel.reports("again", data[40:60], dp.Laplace(2), sensitivity=2)
        channel.reports("mixed", data[50:], dp.Laplace(2), sensitivity=2, to="shuffled")
        with pytest.raises(dp.BudgetExceeded):
            channel.reports("mixed again", data[50:], dp.Laplace(10**6), sensitivity=2, to="shuffled").sum()


def test_sums_of_reports_do_not_pass_a_budget_by() -> None:
    """Sums could come from their own law, without drawing the reports; a door with a budget draws them all."""
    with dp.simulate(5, budget="1", every_report=False) as channel:
        channel.reports("each", dp.seal(RECORDS, -1, 1), dp.Laplace(2), sensitivity=2).sum()
        with pytest.raises(dp.BudgetExceeded):
            channel.reports("again", dp.seal(RECORDS, -1, 1), dp.Laplace(2), sensitivity=2).sum()


def test_gaussian_noise_needs_a_budget_with_delta(door: Door) -> None:
    with door("10") as channel, pytest.raises(dp.DpauditError):
        channel.release("sum", 0.0, dp.Gaussian(4), sensitivity=1)


def test_gaussian_noise_fits_into_its_exact_epsilon_and_no_less(tmp_path: Path) -> None:
    """ε of Gaussian(4), sensitivity 1, at δ = 1e-6 is 1.0607018…"""
    for place, (epsilon, fits) in enumerate([("1.0608", True), ("1.0606", False)]):
        with dp.live(dp.open_ledger(tmp_path / f"{place}.ledger"), budget=(epsilon, "1e-6")) as channel:
            if fits:
                channel.release("sum", 0.0, dp.Gaussian(4), sensitivity=1)
            else:
                with pytest.raises(dp.BudgetExceeded):
                    channel.release("sum", 0.0, dp.Gaussian(4), sensitivity=1)


def test_a_simulated_door_draws_no_noise_for_what_it_refuses() -> None:
    def second(refused: bool) -> Any:
        with dp.simulate(5, budget="2") as channel:
            spend(channel, "first", 0.0)
            if refused:
                with pytest.raises(dp.BudgetExceeded):
                    spend(channel, "refused", 0.0, scale=1)
            return spend(channel, "second", 0.0), len(channel.events)

    assert second(True) == second(False)


class CountingSource(SecureSource):
    """The cryptographic source, counting the words that are drawn."""

    drawn = 0

    def words(self, count: int, bits: int = 64) -> Any:
        type(self).drawn += count
        return super().words(count, bits)


def test_a_live_door_draws_no_noise_for_what_it_refuses(tmp_path: Path) -> None:
    CountingSource.drawn = 0
    ledger = dp.open_ledger(tmp_path / "a.ledger")
    with dp.live(ledger, budget="1") as opened:
        channel = Channel(Live(CountingSource(), 1), ledger=ledger, budget=opened._budget)
        spend(channel, "first", np.zeros(3, dtype=int))
        before = CountingSource.drawn
        with pytest.raises(dp.BudgetExceeded):
            spend(channel, "second", np.zeros(3, dtype=int))
        with pytest.raises(dp.BudgetExceeded):
            channel.reports("third", RECORDS, dp.Laplace(2), sensitivity=2)
    assert CountingSource.drawn == before > 0


def test_a_live_door_refuses_a_sensitivity_below_the_proven_one_and_a_lenient_one_charges_the_proven_one(tmp_path: Path) -> None:
    data = dp.seal(RECORDS, -1, 1)
    ledger = dp.open_ledger(tmp_path / "a.ledger")
    with dp.live(ledger) as channel, pytest.raises(SensitivityError, match="DPA003"):
        channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1)
    assert not list(ledger.releases())
    with dp.live(ledger, strict=False) as channel:
        channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1)
    assert [finding.rule for finding in channel.findings] == ["DPA003"]
    assert dp.account(ledger).epsilon == 1


def test_a_sensitivity_above_the_proven_one_is_charged_at_the_proven_one(tmp_path: Path) -> None:
    ledger = dp.open_ledger(tmp_path / "a.ledger")
    with dp.live(ledger) as channel:
        channel.release("sum", dp.seal(RECORDS, -1, 1).sum(), dp.Laplace(2), sensitivity=50)
    assert dp.account(ledger).epsilon == 1
