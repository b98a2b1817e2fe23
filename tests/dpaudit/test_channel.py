"""The door: what it charges and takes, and that replay pins what it says it pins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import Channel, PathChanged
from dpaudit.claims import InvalidValue, Leak
from dpaudit.ledger import MemoryLedger

RECORDS = np.linspace(-1, 1, 100)


def spend(channel: Channel, name: str, value: Any, cohort: Any = None, scale: Any = 2) -> Any:
    return channel.release(name, value, dp.Laplace(scale), sensitivity=2, cohort=cohort)


@pytest.mark.parametrize("noise", [dp.Laplace(1, grid=1), dp.Gaussian(1, grid=1)], ids=["L1", "L2"])
@pytest.mark.parametrize("gaps", [(2.0001, 2.0001), (0.4, 0.4), (1.0, 3.3), (2.0001, 2.0001, 2.0001), (5.0,)])
def test_declared_sensitivity_of_rounded_values_covers_what_rounding_adds(noise: Any, gaps: tuple[float, ...]) -> None:
    """Brute force over offsets: a float vector that moves by ``gaps`` is rounded to whole numbers."""
    declared = sum(gaps) if noise.norm == 1 else math.hypot(*gaps)
    with dp.simulate(1) as channel:
        channel.release("v", np.array(gaps), noise, sensitivity=declared)
    record = channel.events[0].record
    assert record is not None
    steps = record.steps
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
    assert coarse.steps == 9  # ⌈2/.3⌉ = 7, and rounding to multiples of .3 adds up to 2


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
    assert not channel.events


def test_a_list_of_sealed_numbers_is_traced_also_with_public_numbers_among_them() -> None:
    data = dp.seal(RECORDS, -1, 1)
    with dp.simulate(1) as channel:
        channel.release("v", [data.sum(), data.sum()], dp.Laplace(4), sensitivity=4)
        channel.release("w", [data.sum(), 0.0], dp.Laplace(2), sensitivity=2)
    assert [event.record.derived for event in channel.events if event.record is not None] == [4, 2]


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
    with pytest.raises(dp.DpauditError, match="simulated"), dp.live(MemoryLedger(kind="simulated")):
        pass
    with dp.simulate(1, trials=2, ledger=MemoryLedger(kind="simulated")) as channel, pytest.raises(dp.DpauditError):
        spend(channel, "v", 0.0)


def test_a_simulated_ledger_brings_its_own_budget() -> None:
    ledger = MemoryLedger(kind="simulated")
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
    with dp.simulate(1, trials=200, pinned=[np.arange(200)], rest="wild") as channel:
        first = spend(channel, "first", 0.0)
        later = spend(channel, "later", 0.0)
        bits = channel.release("bits", np.zeros(200), dp.RandomizedResponse(30), sensitivity=1)
    assert np.array_equal(first * 2**20, np.arange(200))
    assert np.ptp(np.log2(np.abs(later))) > 30  # magnitudes over more than 30 octaves; Lap(2) has hardly 15
    assert 50 < bits.sum() < 150  # a fair coin: 7 standard deviations


def test_outputs_can_be_chosen_and_the_rest_left_without_noise() -> None:
    with dp.simulate(1, pinned=[None, np.array(7)], rest="exact") as channel:
        outputs = [spend(channel, name, 2.5) * 2**20 for name in "abc"]
        bit = channel.release("bit", 9.0, dp.RandomizedResponse(1), sensitivity=1)
    assert outputs == [2.5 * 2**20, 7, 2.5 * 2**20]
    assert bit == 1
    with dp.simulate(1, pinned=[np.zeros(3)]) as channel, pytest.raises(PathChanged):
        spend(channel, "a", 2.5)


def test_chosen_outputs_follow_their_trial_through_parts_of_the_door() -> None:
    """The second release of a trial is its second, whoever else released in between."""
    chosen = [np.arange(4), 10 + np.arange(4)]
    with dp.simulate(1, trials=4, pinned=chosen, rest="exact") as channel:
        late = channel.at([1, 3])
        first = [spend(late, "first", np.zeros(2)), spend(channel.at([0, 2]), "first", np.zeros(2))]
        second = spend(channel, "second", np.zeros((4, 2)))
        third = spend(channel, "third", np.full(4, 0.5))
    assert [(part * 2**20).tolist() for part in first] == [[1, 3], [0, 2]]
    assert (second * 2**20).tolist() == [[10, 10], [11, 11], [12, 12], [13, 13]]
    assert third.tolist() == [0.5] * 4


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


@pytest.mark.parametrize(
    ("apart", "values"),
    [
        (False, lambda x: x),
        (False, lambda x: x[::-1]),
        (True, lambda x: x + 1000 * np.arange(len(x))),
        (False, lambda x: x * np.where(np.arange(len(x)) == 0, 3, 1)),  # the widest interval holds them all
        (True, lambda x: (x + 1) * np.where(np.arange(len(x)) == 0, 1, -1)),
    ],
)
def test_reports_in_intervals_of_their_own_are_not_hidden_by_shuffling(apart: bool, values: Any, tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "l") as ledger, dp.live(ledger, budget=("9", "1e-6"), proven=True) as channel:
        sealed = values(dp.seal(np.zeros(1000), low=-1, high=1))
        channel.reports("r", sealed, dp.Laplace(scale=2), sensitivity=6, to="shuffled", cohort=None).sum()
        for bound in dp.account(ledger).per_observer.values():
            assert (bound[0] > Fraction(9, 10)) is apart


def test_one_client_far_from_the_others_is_not_hidden_by_a_shuffler(tmp_path: Path) -> None:
    """One at 0 or 2 among 999 at 100: the smallest report is that client's, so δ(1/2) is that of one report, 0.53."""
    values, budget = np.where(np.arange(1000) == 0, 0.0, 100.0), ("1/2", "1e-6")
    smallest = dp.Laplace(1, grid=1)
    truth = max(
        float(smallest.within(None, t, 0)[0]) - math.exp(0.5) * float(smallest.within(None, t, 2)[1]) for t in range(-5, 6)
    )
    assert truth > 0.5
    with dp.open_ledger(tmp_path / "l") as ledger, dp.live(ledger, budget=budget) as channel:
        for more in ({}, {"delta": "1e-6"}):
            with pytest.raises(dp.BudgetExceeded):
                channel.reports("r", values, dp.Laplace(1), sensitivity=2, to="shuffled", **more)
        channel.reports("r", values, dp.Laplace(1), sensitivity=2, to="shuffled", interval=(0, 2))
        assert ledger.spent()[0] <= Fraction(1, 2)


def test_a_shuffled_batch_that_tells_its_clients_apart_is_not_certified_by_amplification() -> None:
    people, claim = dp.replace_one(n=1000, low=-1, high=1), dp.Claim("0.2", "1e-6", "shuffled")

    @dp.subject(claim=claim, neighbours=people)
    def told_apart(x: Any, channel: Any) -> Any:
        return channel.reports("r", x + 1000 * np.arange(1000), dp.Laplace(scale=2), sensitivity=2, to="shuffled").sum()

    @dp.subject(claim=claim, neighbours=people)
    def hidden(x: Any, channel: Any) -> Any:
        return channel.reports("r", x, dp.Laplace(scale=2), sensitivity=2, to="shuffled").sum()

    assert dp.audit(told_apart, seed=1, samples=1000).verdict != "certified"
    assert dp.audit(hidden, seed=1, samples=1000).verdict == "certified"  # the twin
