"""Releases under a key are drawn once, at every door; a release can take a share of δ; a door and its ledger are of one kind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import Channel, Live
from dpaudit.channel.modes import Simulated
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Ledger, MemoryLedger, WrongKind
from dpaudit.noise import ReplaySource, SecureSource

Door = Callable[[], AbstractContextManager[Channel]]
RECORDS = np.linspace(-1, 1, 100)


@pytest.fixture(params=["live", "simulated with a ledger", "simulated", "replayed"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    if request.param == "live":
        return lambda: dp.live(dp.open_ledger(tmp_path / "a.ledger"))
    if request.param == "simulated with a ledger":
        return lambda: dp.simulate(5, ledger=MemoryLedger(kind="simulated"))
    if request.param == "simulated":
        return lambda: dp.simulate(5)
    return lambda: dp.replay([0.5, np.full(100, 0.25), 0.75, np.full(100, 0.125), 1.0])


def spend(channel: Channel, value: Any, key: str | None = None, **other: Any) -> Any:
    given: dict[str, Any] = {"name": "sum", "noise": dp.Laplace(2), "sensitivity": 2, "cohort": None}
    given |= other
    return channel.release(given.pop("name"), value, given.pop("noise"), key=key, **given)


def test_a_key_is_drawn_once_whatever_the_value_is_then(door: Door) -> None:
    with door() as channel:
        first = spend(channel, 0.0, "k")
        assert [spend(channel, value, "k") for value in (0.0, 1.0, -7.5)] == [first] * 3
        reports = channel.reports("each", RECORDS, dp.Laplace(2), sensitivity=2, key="r").values
        again = channel.reports("each", -RECORDS, dp.Laplace(2), sensitivity=2, key="r")
        assert np.array_equal(again.values, reports)
        assert again.sum()[0] == pytest.approx(reports.sum())
        assert spend(channel, 0.0, "another key") != first  # the twin: a key of its own is a draw of its own
        assert isinstance(channel._door, Live) or [event.kind for event in channel.events] == ["release", "reports", "release"]


def test_a_key_costs_once_and_outlives_the_process_and_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with dp.open_ledger(path) as ledger, dp.live(ledger, budget="1") as channel:
        kept = spend(channel, np.arange(4), "k")
        shuffled = dp.seal(RECORDS, -1, 1)
        with pytest.raises(dp.BudgetExceeded):
            channel.reports("mixed", shuffled, dp.Laplace(2), sensitivity=2, to="shuffled", key="r")
        size = ledger.head().size
    with dp.open_ledger(path) as ledger, dp.live(ledger) as channel:
        assert np.array_equal(spend(channel, np.zeros(4, int), "k"), kept)
        assert kept.shape == (4,)
        assert ledger.head().size == size
        with pytest.raises(dp.BudgetExceeded):  # the twin
            spend(channel, np.zeros(4, int))


def test_a_shuffled_batch_under_a_key_is_the_stored_multiset(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, budget=("1", "1e-6")) as channel:
        data, tags = dp.seal(RECORDS, -1, 1), np.arange(100) % 3
        ways = {"noise": dp.Laplace(2), "sensitivity": 2, "to": "shuffled", "key": "r"}
        first, second = (channel.reports("mixed", data, tags=tags, **ways) for _ in range(2))
        assert np.array_equal(first.values, second.values)
        assert np.array_equal(first.sum(), second.sum())
        assert len(list(ledger.releases())) == 1
        with pytest.raises(InvalidValue, match="taken"):
            channel.reports("mixed", data, tags=np.arange(100) % 2, **ways)


@pytest.mark.parametrize(
    "other",
    [
        {"name": "mean"}, {"noise": dp.Laplace(4)}, {"noise": dp.Gaussian(9)}, {"sensitivity": 1}, {"cohort": range(3)},
        {"to": "actions"},
    ],
)  # fmt: skip
def test_a_key_belongs_to_one_release_of_a_ledger(other: dict[str, Any]) -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel:
        spend(channel, 0.0, "k")
        size = ledger.head().size
        with pytest.raises(InvalidValue, match="taken"):
            spend(channel, 0.0, "k", **other)
        with pytest.raises(InvalidValue, match="taken"):
            spend(channel, np.zeros(2, int), "k")
        assert ledger.head().size == size


@pytest.mark.parametrize("key", ["", "x" * 257, 7, "\x1b[2J", dp.seal([1.0], 0, 1)])
def test_what_is_no_key_is_refused_at_every_door(door: Door, key: Any) -> None:
    with door() as channel:
        with pytest.raises(InvalidValue, match="key"):
            spend(channel, 0.0, key)
        with pytest.raises(InvalidValue, match="key"):
            channel.reports("each", RECORDS, dp.Laplace(2), sensitivity=2, key=key)


def test_a_charge_whose_draw_failed_is_charged_again_under_its_key() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget="2") as channel:
        failing = Channel(Live(FailingSource(), 1), ledger=ledger, budget=channel._budget)
        with pytest.raises(OSError, match="no entropy"):
            spend(failing, 0.0, "k")
        first = spend(channel, 0.0, "k")
        assert ledger.spent() == (2, 0)
        assert spend(channel, 0.0, "k") == first


class FailingSource(SecureSource):
    def words(self, count: int, bits: int = 64) -> Any:
        raise OSError("no entropy")


def test_of_many_threads_with_one_key_all_get_the_same_value(tmp_path: Path) -> None:
    """Each may draw; only the first to be stored is handed out."""
    ledger, got = dp.open_ledger(tmp_path / "a.ledger"), []

    def ask() -> None:
        with dp.live(ledger) as channel:
            got.append(float(spend(channel, 0.0, "k")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len(set(got)) == 1
    assert len(list(ledger.releases())) == 1


def test_every_trial_has_its_own_key() -> None:
    with dp.simulate(5, trials=6) as channel:
        even, odd = channel.at([0, 2, 4]), channel.at([1, 3, 5])
        first = spend(even, np.zeros(3), "k")
        assert not set(spend(odd, np.zeros(3), "k")) & set(first)
        assert np.array_equal(spend(even, np.ones(3), "k"), first)
        for some in (channel, channel.at([0, 1])):
            with pytest.raises(InvalidValue, match="taken"):
                spend(some, 0.0, "k")
        with pytest.raises(InvalidValue, match="taken"):
            spend(even, np.ones(3), "k", name="mean")
        assert len(channel.events) == 2


# --- a share of δ ---


def test_gaussian_releases_of_a_record_share_delta(door_with_delta: Callable[[], Any]) -> None:
    """Three of them at a third each fit into (3, 10⁻⁶); the fourth does not. Without shares the second does not."""
    with door_with_delta() as channel:
        for _ in range(3):
            channel.release("g", 0.5, dp.Gaussian(10), sensitivity=1, delta="1/3000000")
        with pytest.raises(dp.BudgetExceeded, match="δ="):
            channel.release("g", 0.5, dp.Gaussian(10), sensitivity=1, delta="1/3000000")
        channel.release("l", 0.5, dp.Laplace(10), sensitivity=1)  # needs no δ


@pytest.fixture(params=["live", "simulated"])
def door_with_delta(request: pytest.FixtureRequest) -> Callable[[], Any]:
    if request.param == "simulated":
        return lambda: dp.simulate(1, budget=("3", "1e-6"))
    return lambda: dp.live(MemoryLedger(kind="deployment"), budget=("3", "1e-6"))


def test_a_smaller_share_of_delta_costs_more_epsilon() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=("9", "1e-6")) as channel:
        for share in (None, "5e-7", "1e-9"):
            cohort = [str(share)]
            channel.release("g", 0.5, dp.Gaussian(4), sensitivity=1, delta=share, cohort=cohort)
    whole, half, little = ledger.releases()
    assert (whole.delta, half.delta, little.delta) == (Fraction("1e-6"), Fraction("5e-7"), Fraction("1e-9"))
    assert whole.epsilon < half.epsilon < little.epsilon
    assert whole.epsilon == pytest.approx(1.0607018, abs=1e-6)


def test_shuffled_batches_of_the_same_records_share_delta_the_same_way() -> None:
    ledger, data = MemoryLedger(kind="deployment"), dp.seal(np.linspace(-1, 1, 3000), -1, 1)
    ways = {"noise": dp.Laplace(2), "sensitivity": 2, "to": "shuffled"}
    with dp.live(ledger, budget=("1", "1e-6")) as channel:
        for _ in range(2):
            channel.reports("mixed", data, delta="5e-7", **ways)
        with pytest.raises(dp.BudgetExceeded, match="δ="):
            channel.reports("mixed", data, delta="5e-7", **ways)
    one, other = ledger.releases()
    assert one.delta == other.delta == Fraction("5e-7")
    assert one.epsilon is not None
    assert one.epsilon < Fraction(1, 2)  # amplified
    assert ledger.spent() == (2 * one.epsilon, Fraction("1e-6"))


@pytest.mark.parametrize("share", [-1, 1, "x", float("nan"), True])
def test_a_share_is_a_number_below_one(share: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match="delta"):
        channel.release("g", 0.5, dp.Gaussian(4), sensitivity=1, delta=share)


def test_a_share_larger_than_the_budget_is_refused() -> None:
    with dp.live(MemoryLedger(kind="deployment"), budget=("9", "1e-6")) as channel, pytest.raises(dp.BudgetExceeded):
        channel.release("g", 0.5, dp.Gaussian(4), sensitivity=1, delta="1e-5")


# --- one kind ---


@contextmanager
def unchanged(ledger: Ledger) -> Any:
    before = ledger.head()
    yield
    assert ledger.head() == before


def test_what_can_be_foretold_does_not_write_a_deployment_ledger() -> None:
    deployment, simulated = (MemoryLedger(kind=kind) for kind in ("deployment", "simulated"))
    for door in (Live(ReplaySource(1), 1), Simulated(1, None)):
        with unchanged(deployment), pytest.raises(WrongKind, match="deployment ledger"):
            Channel(door, ledger=deployment)
        Channel(door, ledger=simulated).release("a", 0.0, dp.Laplace(1), sensitivity=1)
    with unchanged(simulated), pytest.raises(WrongKind, match="simulated ledger"):
        Channel(Live(SecureSource(), 1), ledger=simulated)
    with unchanged(simulated), pytest.raises(WrongKind), dp.live(simulated, budget="1"):
        pass
    with unchanged(deployment), pytest.raises(WrongKind), dp.simulate(1, ledger=deployment, budget="1"):
        pass
