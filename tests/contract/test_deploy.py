"""``subject.deploy(ledger, budget=None)(data)``: seals, runs behind the door, and hands back nothing that is sealed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp

HUNDRED = dp.replace_one(n=100, low=-1, high=1)
DATA = np.linspace(-1, 1, 100)


def declare(function: Callable[..., Any], epsilon: str = "1", delta: str = "0", neighbours: Any = HUNDRED) -> Any:
    return dp.subject(claim=dp.Claim(epsilon, delta), neighbours=neighbours)(function)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=HUNDRED)
def noisy_sum(rewards: Any, channel: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)


def releases_in(path: Path) -> list[Any]:
    with dp.open_ledger(path, readonly=True) as ledger:
        return list(ledger.releases())


@pytest.mark.parametrize("by_path", [True, False])
def test_a_deployment_is_charged_to_its_ledger_and_returns_plain_numbers(tmp_path: Path, by_path: bool) -> None:
    path = tmp_path / "today.ledger"
    ledger = path if by_path else dp.open_ledger(path)
    total = noisy_sum.deploy(ledger)(DATA)
    assert np.isfinite(float(total))
    with dp.open_ledger(path, readonly=True) as written:
        assert dp.account(written).epsilon == 1
        assert written.budget is not None
        assert written.budget.epsilon == 1
        assert written.proven
        assert written.kind == "deployment"


def test_the_door_refuses_a_second_run_on_the_same_budget(tmp_path: Path) -> None:
    deployed = noisy_sum.deploy(tmp_path / "today.ledger")
    deployed(DATA)
    with pytest.raises(dp.BudgetExceeded):
        deployed(DATA)
    assert len(releases_in(tmp_path / "today.ledger")) == 1


def test_a_larger_budget_allows_as_many_runs_as_it_pays_for(tmp_path: Path) -> None:
    deployed = noisy_sum.deploy(tmp_path / "today.ledger", budget="2")
    deployed(DATA)
    deployed(DATA)
    with pytest.raises(dp.BudgetExceeded):
        deployed(DATA)


def test_a_smaller_budget_than_the_claim_refuses_before_noise_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(dp.BudgetExceeded):
        noisy_sum.deploy(tmp_path / "today.ledger", budget="1/2")(DATA)
    assert releases_in(tmp_path / "today.ledger") == []


def test_records_are_clipped_to_the_declared_bounds(tmp_path: Path) -> None:
    wild = np.full(100, 1e12)
    total = noisy_sum.deploy(tmp_path / "today.ledger")(wild)
    assert abs(total - 100) < 100  # 50 scales of the noise: e^-50


def raw_on_a_rare_path(rare: float) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        total = channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)
        return data.sum() if total > rare else total

    return declare(mechanism, neighbours=dp.replace_one(n=10, low=0, high=1))


def test_raw_data_on_a_rare_path_is_refused_and_the_common_path_is_not(tmp_path: Path) -> None:
    with pytest.raises(dp.DpauditError, match="DPA002"):
        raw_on_a_rare_path(-100.0).deploy(tmp_path / "always.ledger")(np.zeros(10))
    assert np.isfinite(raw_on_a_rare_path(100.0).deploy(tmp_path / "never.ledger")(np.zeros(10)))


WAYS: dict[str, Any] = {
    "itself": lambda x: x,
    "nested": lambda x: {"report": [1, (2, x.sum())]},
    "key": lambda x: {(1, x.sum): 1},
    "closure": lambda x: lambda: x,
    "generator": lambda x: (value for value in (1, 2)),
    "float": lambda x: float(x.sum()),
    "caught": lambda x: _try_float(x),
}


def _try_float(x: Any) -> Any:
    try:
        return float(x.sum())
    except dp.DpauditError:
        return 0.0


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_no_way_out_but_the_door(tmp_path: Path, way: Any) -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)
        return way(data)

    with pytest.raises(dp.DpauditError, match="DPA002"):
        declare(mechanism).deploy(tmp_path / "today.ledger")(DATA)


def test_only_proven_releases_pass(tmp_path: Path) -> None:
    def plain(data: Any, channel: Any) -> Any:
        return channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)

    with pytest.raises(dp.DpauditError, match="proven"):
        declare(plain).deploy(tmp_path / "today.ledger")(DATA)

    def understated(data: Any, channel: Any) -> Any:
        return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)

    with pytest.raises(dp.DpauditError, match="DPA003"):
        declare(understated).deploy(tmp_path / "other.ledger")(DATA)


def test_releases_chosen_by_a_released_value_are_held_by_the_budget(tmp_path: Path) -> None:
    """As many more as the first says; the budget pays for two of them on any path."""

    def adaptive(data: Any, channel: Any) -> Any:
        value = channel.release("first", data.sum(), dp.Laplace(scale=4), sensitivity=2)
        return [
            channel.release(f"more {k}", data.sum(), dp.Laplace(scale=4), sensitivity=2) for k in range(10 if value < 1e6 else 1)
        ]

    with pytest.raises(dp.BudgetExceeded):
        declare(adaptive).deploy(tmp_path / "today.ledger")(DATA)
    assert len(releases_in(tmp_path / "today.ledger")) == 2


def test_gaussian_releases_are_kept_by_the_filter_that_lets_them_through(tmp_path: Path) -> None:
    """Twenty releases at σ = 40: Σε of each at a share of δ exceeds 2 long before their sum of ρ does."""

    def gradients(data: Any, channel: Any) -> Any:
        return [channel.release(f"{k}", data.sum(), dp.Gaussian(sigma=40), sensitivity=2) for k in range(20)]

    declare(gradients, "2", "1e-5").deploy(tmp_path / "today.ledger")(DATA)
    assert len(releases_in(tmp_path / "today.ledger")) == 20
    with dp.open_ledger(tmp_path / "today.ledger", readonly=True) as ledger:
        assert ledger.filter_name.startswith("zcdp")


@pytest.mark.parametrize("neighbours", [[(np.zeros(2), np.ones(2))]])
def test_neighbours_without_bounds_cannot_be_deployed(tmp_path: Path, neighbours: Any) -> None:
    with pytest.raises(dp.DpauditError, match="replace_one"):
        declare(noisy_sum.function, neighbours=neighbours).deploy(tmp_path / "today.ledger")(np.zeros(2))
    assert not (tmp_path / "today.ledger").exists()


def test_a_black_box_cannot_be_deployed(tmp_path: Path) -> None:
    with pytest.raises(dp.DpauditError, match="channel"):
        declare(lambda data, rng: 0.0).deploy(tmp_path / "today.ledger")


def test_removable_records_are_deployed_as_such(tmp_path: Path) -> None:
    def count(data: Any, channel: Any) -> Any:
        return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)

    declare(count, neighbours=dp.add_remove(n=100, low=0, high=1)).deploy(tmp_path / "today.ledger")(np.ones(42))
    assert {release.relation for release in releases_in(tmp_path / "today.ledger")} == {"add-remove"}
    assert {release.derived for release in releases_in(tmp_path / "today.ledger")} == {Fraction(1)}


def test_what_is_printed_tells_nothing_and_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(data: Any, channel: Any) -> Any:
        print(data, f"{data.sum()}")
        return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)

    with pytest.raises(dp.DpauditError, match="DPA002"):
        declare(chatty).deploy(tmp_path / "today.ledger")(DATA)
    assert capsys.readouterr().out == "<sealed private data> <sealed private data>\n"
