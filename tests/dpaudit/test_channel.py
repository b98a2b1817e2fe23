"""The door: who is charged, when it refuses, what it derives, and that replay pins what it says it pins."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import Channel, Live, PathChanged
from dpaudit.claims import InvalidValue, Leak
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
    with dp.live(ledger) as channel, pytest.raises(dp.SensitivityError, match="DPA003"):
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


@pytest.mark.parametrize("noise", [dp.Laplace(1, grid=1), dp.Gaussian(1, grid=1)], ids=["L1", "L2"])
@pytest.mark.parametrize("gaps", [(2.0001, 2.0001), (0.4, 0.4), (1.0, 3.3), (2.0001, 2.0001, 2.0001), (5.0,)])
def test_declared_sensitivity_of_rounded_values_covers_what_rounding_adds(noise: Any, gaps: tuple[float, ...]) -> None:
    """Brute force over offsets: a float vector that moves by ``gaps`` is rounded to whole numbers."""
    declared = sum(gaps) if noise.norm == 1 else math.hypot(*gaps)
    with dp.simulate(1) as channel:
        channel.release("v", np.array(gaps), noise, sensitivity=declared)
    record = channel.events[0].record
    assert record is not None
    steps = int(record.extra["steps"])
    offsets = np.linspace(0, 1, 41)
    worst = [max(np.floor(offsets + gap + 0.5) - np.floor(offsets + 0.5)) for gap in gaps]
    assert sum(w**noise.norm for w in worst) <= steps**noise.norm
    assert steps <= declared + len(gaps) + 1


def test_whole_numbers_on_a_grid_of_their_own_are_charged_no_rounding() -> None:
    with dp.simulate(1) as channel:
        channel.release("counts", np.array([3, 4, 5]), dp.Laplace(1), sensitivity=2)
        channel.release("counts", np.array([3, 4, 5]), dp.Laplace(1, grid="0.3"), sensitivity=2)
    exact, coarse = (event.record for event in channel.events)
    assert exact is not None
    assert coarse is not None
    assert exact.epsilon == 2
    assert coarse.extra["steps"] == "9"  # ⌈2/.3⌉ = 7, and rounding to multiples of .3 adds up to 2


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_values_of_any_dimension_pass(shape: tuple[int, ...]) -> None:
    with dp.simulate(1) as channel:
        assert np.shape(channel.release("v", np.zeros(shape), dp.Laplace(1), sensitivity=1)) == shape
    with dp.simulate(1, trials=1) as channel:
        assert np.shape(channel.release("v", np.zeros((1, *shape)), dp.Laplace(1), sensitivity=1)) == (1, *shape)


@pytest.mark.parametrize("value", ["text", None, 1j, [[1], [1, 2]], object(), np.array(["a"])])
def test_values_that_are_not_numbers_are_refused(value: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue):
        channel.release("v", value, dp.Laplace(1), sensitivity=1)
    assert not channel.events


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_private_values_that_are_no_finite_numbers_do_not_change_the_path(value: float) -> None:
    with dp.simulate(1) as channel:
        assert np.isfinite(channel.release("v", value, dp.Laplace(1), sensitivity=1))


@pytest.mark.parametrize(
    ("name", "noise", "to"),
    [("", dp.Laplace(1), "server"), (7, dp.Laplace(1), "server"), ("v", 2.0, "server"), ("v", dp.Laplace(1), "everybody")],
)
def test_calls_without_a_name_a_noise_or_an_observer_are_refused(name: Any, noise: Any, to: str) -> None:
    with dp.simulate(1) as channel:
        with pytest.raises(InvalidValue):
            channel.release(name, 0.0, noise, sensitivity=1, to=to)
        with pytest.raises(InvalidValue):
            channel.reports(name, [0.0], noise, sensitivity=1, to=to)


def test_private_parameters_are_leaks() -> None:
    data = dp.seal(RECORDS, -1, 1)
    with dp.simulate(1) as channel:
        with pytest.raises(Leak):
            channel.release("v", data.sum(), dp.Laplace(data.sum()), sensitivity=2)
        with pytest.raises(Leak):
            channel.release("v", data.sum(), dp.Laplace(2), sensitivity=data.sum())
        with pytest.raises(Leak):
            channel.release("v", data.sum(), dp.Laplace(2), sensitivity=2, cohort=data)
        with pytest.raises(Leak):
            channel.release("v", [data.sum(), 0.0], dp.Laplace(2), sensitivity=2)
    assert not channel.events


@pytest.mark.parametrize("sensitivity", [np.array([1.0]), np.array([1.0, 2.0]), np.array([1.0, -1.0, 1.0])])
def test_a_sensitivity_per_trial_needs_those_trials(sensitivity: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match="sensitivity"):
        channel.release("v", 0.0, dp.Laplace(1), sensitivity=sensitivity)
    with dp.simulate(1, trials=3) as channel, pytest.raises(InvalidValue, match="sensitivity"):
        channel.release("v", 0.0, dp.Laplace(1), sensitivity=sensitivity)


def test_a_value_with_another_number_of_trials_is_refused() -> None:
    with dp.simulate(1, trials=3) as channel, pytest.raises(InvalidValue, match="one entry per trial"):
        channel.release("v", np.zeros(4), dp.Laplace(1), sensitivity=1)


def test_sealed_numbers_pass_many_trials_and_sealed_arrays_are_not_taken_for_coordinates() -> None:
    data = dp.seal(RECORDS, -1, 1)
    with dp.simulate(1, trials=100) as channel:
        channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=2)
        channel.release("per trial", data, dp.Laplace(2), sensitivity=2)
    assert [event.derived for event in channel.events] == [2, None]
    assert not channel.findings


@pytest.mark.parametrize("seed", [-1, 1.5, True, None, "1"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(InvalidValue), dp.simulate(seed):
        pass


@pytest.mark.parametrize("trials", [0, -1, 1.5, True, "3"])
def test_trials_are_a_whole_number_of_at_least_one(trials: Any) -> None:
    with pytest.raises(InvalidValue), dp.simulate(1, trials=trials):
        pass


def test_a_ledger_is_written_by_its_own_kind_of_door(tmp_path: Path) -> None:
    with pytest.raises(dp.DpauditError, match="simulated"), dp.simulate(1, ledger=dp.open_ledger(tmp_path / "a.ledger")):
        pass
    with pytest.raises(dp.DpauditError, match="simulated"), dp.live(dp.MemoryLedger(kind="simulated")):
        pass
    with dp.simulate(1, trials=2, ledger=dp.MemoryLedger(kind="simulated")) as channel, pytest.raises(dp.DpauditError):
        spend(channel, "v", 0.0)


def test_a_simulated_ledger_brings_its_own_budget() -> None:
    ledger = dp.MemoryLedger(kind="simulated")
    with dp.simulate(1, ledger=ledger, budget=("2", "1e-6")) as channel:
        channel.release("a", 0.0, dp.Gaussian(4), sensitivity=1)
    with dp.simulate(2, ledger=ledger) as channel, pytest.raises(dp.BudgetExceeded):
        channel.release("b", 0.0, dp.Gaussian(4), sensitivity=1)


@pytest.mark.parametrize("index", [[0, 0], np.array([2, 1, 2])])
def test_a_subset_of_the_trials_has_each_at_most_once(index: Any) -> None:
    with dp.simulate(1, trials=3) as channel, pytest.raises(InvalidValue, match="once"):
        channel.at(index)


def test_subsets_of_subsets_and_single_trials_are_those_of_the_whole() -> None:
    with dp.simulate(1, trials=5) as channel:
        part = channel.at([4, 2, 0]).at(np.array([True, False, True]))
        part.release("v", np.zeros(2), dp.Laplace(1), sensitivity=1)
        channel.at(3).release("v", np.zeros(1), dp.Laplace(1), sensitivity=1)
    assert [list(event.index) for event in channel.events if event.index is not None] == [[4, 0], [3]]
    with dp.simulate(1) as channel, pytest.raises(InvalidValue):
        channel.at([0])


def test_a_live_door_keeps_no_transcript_and_gives_no_foreseeable_secrets(tmp_path: Path) -> None:
    with dp.live(dp.open_ledger(tmp_path / "a.ledger")) as channel:
        spend(channel, "v", 0.0)
        assert not channel.events
        with pytest.raises(dp.DpauditError):
            channel.transcript  # noqa: B018
        with pytest.raises(dp.DpauditError):
            channel.secret_integers(3)
        assert sorted(channel.secret_permutation(50)) == list(range(50))


def test_replay_pins_outputs_and_public_randomness_and_collects_the_queries() -> None:
    def run(channel: Channel, shift: float) -> tuple[Any, ...]:
        first = spend(channel, "first", shift)
        tie = channel.rng.integers(0, 10**9)
        second = spend(channel, "second", np.full(2, first + shift))
        return float(first), int(tie), *second

    with dp.simulate(3) as channel:
        one = run(channel, 0.0)
    with dp.replay(channel) as pinned:
        assert run(pinned, 5.0) == one
    moved = [np.ravel(b.query - a.query) for a, b in zip(channel.events, pinned.events, strict=True)]
    assert all(np.all(m == 5 * 2**20) for m in moved)


def test_replay_notices_another_shape_and_a_release_too_many() -> None:
    with dp.simulate(3) as channel:
        spend(channel, "v", np.zeros(2))
    with dp.replay(channel) as pinned, pytest.raises(PathChanged, match="DPA002"):
        spend(pinned, "v", np.zeros(3))
    with dp.replay(channel.transcript) as pinned:
        spend(pinned, "v", np.zeros(2))
        with pytest.raises(PathChanged) as changed:
            spend(pinned, "w", 0.0)
    assert changed.value.release == 1


def test_replay_takes_outputs_that_somebody_wrote_down() -> None:
    with dp.replay([1.5, np.array([2.0, 3.0])]) as pinned:
        assert spend(pinned, "a", 0.0) == 1.5
        assert list(spend(pinned, "b", np.zeros(2))) == [2, 3]


def test_a_shuffler_takes_one_report_per_record_only() -> None:
    """Amplification counts n independent clients; sums of records that overlap are none."""
    data = dp.seal(RECORDS, -1, 1)
    with dp.simulate(1) as channel:
        for values in (np.ones((5, 100)) @ data, data[np.array([0, 0, 1])]):
            with pytest.raises(InvalidValue, match="one report per record"):
                channel.reports("v", values, dp.Laplace(1), sensitivity=200, to="shuffled")
        channel.reports("v", data * 2, dp.Laplace(1), sensitivity=4, to="shuffled")


def test_wild_noise_replaces_everything_after_the_pinned_first_release() -> None:
    with dp.simulate(1, trials=200, first=np.arange(200), wild=True) as channel:
        first = spend(channel, "first", 0.0)
        later = spend(channel, "later", 0.0)
        bits = channel.release("bits", np.zeros(200), dp.RandomizedResponse(30), sensitivity=1)
    assert np.array_equal(first * 2**20, np.arange(200))
    assert np.ptp(np.log2(np.abs(later))) > 30  # magnitudes over more than 30 octaves; Lap(2) has hardly 15
    assert 50 < bits.sum() < 150  # a fair coin: 7 standard deviations


def test_every_noise_costs_the_same_at_every_door(tmp_path: Path) -> None:
    """The record that a simulated run accounts is the one that a deployment would write."""
    data = dp.seal((RECORDS + 1) / 2, 0, 1)
    noises = [dp.Laplace(1), dp.RandomizedResponse("1/2"), dp.Laplace("0.7", grid="0.1")]
    ledger = dp.open_ledger(tmp_path / "a.ledger")
    with dp.live(ledger) as live, dp.simulate(1, every_report=True) as simulated:
        for (place, noise), kind, channel in product(enumerate(noises), ["release", "reports"], [live, simulated]):
            getattr(channel, kind)(f"{place} {kind}", data, noise, sensitivity=1)
    recorded, accounted = list(ledger.releases()), [event.record for event in simulated.events]
    assert [(r.epsilon, r.cohort) for r in recorded] == [(r.epsilon, r.cohort) for r in accounted if r is not None]
    assert [r.epsilon for r in recorded] == [1, 1, Fraction(1, 2), Fraction(1, 2), Fraction(10, 7), Fraction(10, 7)]
