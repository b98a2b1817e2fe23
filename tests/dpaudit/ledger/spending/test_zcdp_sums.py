"""The zCDP filter: ρ by hand, per record, at the door, across reopening; and its conversion."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

import dpaudit as dp
from dpaudit.claims import BudgetExceeded, InvalidValue
from dpaudit.ledger import Budget, Charge, Cohort, PureSums, Release
from dpaudit.ledger.spending.filters import filter_for, filter_named
from dpaudit.ledger.spending.zcdp_sums import ZcdpSums, charge_rho, zcdp_delta, zcdp_epsilon

MILLIONTH = Fraction(1, 10**6)


def gaussian(sigma: str, cohort: object = None, **facts: str) -> Charge:
    facts = {"mechanism": "gaussian", "sigma": sigma, "sensitivity": "1", **facts}
    return Charge(None, cohort=Cohort.of(cohort), facts=facts)


def test_rho_of_charges() -> None:
    assert charge_rho(gaussian("4")) == (Fraction(1, 32), 0)
    assert charge_rho(gaussian("4", grid="1", steps="3")) == (Fraction(9, 32), 0)
    assert charge_rho(gaussian("4", grid="3")) == (Fraction(9, 32), 0)  # a move of 1 is a whole step of 3
    assert charge_rho(Charge(Fraction(1, 2), MILLIONTH)) == (Fraction(1, 8), MILLIONTH)
    for unknown in (Charge(None), Charge(None, facts={"mechanism": "gaussian"})):
        with pytest.raises(InvalidValue):
            charge_rho(unknown)


def test_a_grid_finer_than_its_move_is_rounded_up_to_whole_steps() -> None:
    assert charge_rho(gaussian("4", grid="2/3"))[0] == Fraction(16, 9) / 32


@pytest.mark.parametrize("rho", ["1e-6", "0.02", "1", "50"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-12"])
def test_the_conversion_is_the_best_over_all_orders_and_rounded_up(rho: str, delta: str) -> None:
    """Canonne, Kamath, Steinke 2020, Prop. 12, minimised by another optimiser."""
    r, d = float(rho), float(delta)

    def epsilon(log_order: float) -> float:
        a = 1 + math.exp(log_order)
        return a * r + math.log1p(-1 / a) - (math.log(d) + math.log(a)) / (a - 1)

    best = min(optimize.minimize_scalar(epsilon, bounds=(start, start + 8), method="bounded").fun for start in range(-8, 24, 4))
    found = float(zcdp_epsilon(Fraction(rho), Fraction(delta)))
    assert max(best, 0.0) * (1 - 1e-9) <= found <= max(best, 0.0) * (1 + 1e-6) + 1e-12


def test_epsilon_and_delta_are_each_others_inverse() -> None:
    epsilon = zcdp_epsilon(Fraction(1, 2), MILLIONTH)
    assert zcdp_delta(Fraction(1, 2), epsilon) <= MILLIONTH * (1 + Fraction(1, 10**9))
    assert zcdp_delta(Fraction(1, 2), epsilon * Fraction(9999, 10_000)) > MILLIONTH


def test_sums_are_per_record_and_grow() -> None:
    sums = ZcdpSums(MILLIONTH)
    sums.add(gaussian("4", range(10)))
    sums.add(Charge(Fraction(1, 10), cohort=Cohort.of(range(5, 15))))
    assert sums.worst() == (zcdp_epsilon(Fraction(1, 32) + Fraction(1, 200), MILLIONTH), MILLIONTH)
    before = sums.would_cost(gaussian("4", range(20, 30)))
    assert before == (zcdp_epsilon(Fraction(1, 32), MILLIONTH), MILLIONTH)
    overlap = gaussian("4", range(9, 12))
    cost = sums.would_cost(overlap)
    sums.add(overlap)
    assert sums.worst() >= cost
    assert ZcdpSums(MILLIONTH).worst() == (0, 0)


def test_filters_have_names_that_make_them_again() -> None:
    assert filter_named("pure-sums") is PureSums
    made = filter_named(ZcdpSums(Fraction(1, 3)).name)
    assert made is not None
    assert made().name == "zcdp(1/3)"
    for unknown in ("zcdp", "zcdp()", "zcdp(2)", "zcdp(0)", "zcdp(x)", "moments"):
        assert filter_named(unknown) is None
    assert filter_for("zcdp", Budget(1, "1e-6")) == "zcdp(1e-6)"
    with pytest.raises(InvalidValue, match="δ > 0"):
        filter_for("zcdp", Budget(1))
    with pytest.raises(InvalidValue, match="filter"):
        filter_for("moments", Budget(1, "1e-6"))


def spend(path: Path, releases: int, sigma: str = "10", budget: object = None) -> int:
    """How many Gaussian releases pass a live door."""
    with dp.open_ledger(path) as ledger, dp.live(ledger, budget, filter=None if budget is None else "zcdp") as channel:
        for passed in range(releases):
            try:
                channel.release("g", 0.0, dp.Gaussian(sigma), sensitivity=1)
            except BudgetExceeded:
                return passed
    return releases


def test_a_live_door_takes_gaussian_releases_up_to_its_rho(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    passed = spend(path, 1000, budget=(1, "1e-6"))
    assert zcdp_epsilon(Fraction(passed, 200), MILLIONTH) <= 1 < zcdp_epsilon(Fraction(passed + 1, 200), MILLIONTH)
    assert passed > 1  # sums of ε at the whole δ take one
    assert spend(path, 5) == 0  # reopened, with the filter that its budget names
    with dp.open_ledger(path, readonly=True) as ledger:
        assert ledger.filter_name == "zcdp(1e-6)"
        assert ledger.spent()[0] <= 1
    assert dp.account(path, delta="1e-6").epsilon <= 1


def test_one_budget_has_one_filter(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    spend(path, 1, budget=(1, "1e-6"))
    with dp.open_ledger(path) as ledger:
        with pytest.raises(InvalidValue, match="filter"), dp.live(ledger, (1, "1e-6"), filter="pure-sums"):
            pass
        with pytest.raises(InvalidValue, match="budget"), dp.live(ledger, filter="zcdp"):
            pass


def test_appended_gaussian_releases_are_read_back_with_their_rho(tmp_path: Path) -> None:
    one = Release(name="g", mechanism="gaussian", sensitivity=Fraction(1), parameters={"sigma": "10"}, cohort=Cohort.of(3))
    path = tmp_path / "a.ledger"
    with dp.open_ledger(path) as ledger:
        ledger.limit((1, "1e-6"), "zcdp")
        ledger.append(one)
        ledger.append(one)
        spent = ledger.spent()
    with dp.open_ledger(path, readonly=True) as ledger:
        assert ledger.spent() == spent == (zcdp_epsilon(Fraction(2, 200), MILLIONTH), MILLIONTH)


def test_laplace_and_shuffled_reports_pass_by_their_pure_epsilon(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, (3, "1e-6"), filter="zcdp") as channel:
        channel.release("l", 0.0, dp.Laplace(10), sensitivity=1)
        reports = channel.reports("s", [0.0, 1.0], dp.Laplace(2), sensitivity=1, to="shuffled")
        assert len(reports.values) == 2
        assert ledger.spent()[0] == zcdp_epsilon(Fraction(1, 200) + Fraction(1, 8), MILLIONTH)


def test_sums_of_epsilon_refuse_what_sums_of_rho_take(tmp_path: Path) -> None:
    """The twin: the same releases under the default filter."""
    with dp.open_ledger(tmp_path / "b.ledger") as ledger, dp.live(ledger, (1, "1e-6")) as channel:
        channel.release("g", 0.0, dp.Gaussian(10), sensitivity=1)
        with pytest.raises(BudgetExceeded):
            channel.release("g", 0.0, dp.Gaussian(10), sensitivity=1)


def test_bounded_range_costs_a_quarter_of_what_is_only_pure() -> None:
    """ε²/8 (Cesar, Rogers 2021): no order of an exponential mechanism, its scores drawn at random, exceeds it."""
    one, ten = ({"mechanism": "exponential", **more} for more in ({}, {"count": "10"}))
    assert charge_rho(Charge(Fraction(1), facts=one)) == (Fraction(1, 8), 0)
    assert charge_rho(Charge(Fraction(10), facts=ten)) == (Fraction(10, 8), 0)
    for facts in ({"mechanism": "permute-and-flip"}, {"mechanism": "noisy-max"}, {**one, "sampling": "1/2"}):
        assert charge_rho(Charge(Fraction(1), facts=facts)) == (Fraction(1, 2), 0)
    assert charge_rho(Charge(Fraction(1), Fraction(1, 10), facts=one)) == (Fraction(1, 2), Fraction(1, 10))
    rng = np.random.default_rng(9)
    for _ in range(500):
        scores = rng.uniform(0, 5, 4)
        first, second = (np.exp(side) / np.exp(side).sum() for side in (scores, scores + rng.uniform(-0.5, 0.5, 4)))
        for order in (1.5, 2.0, 8.0, 64.0):
            divergence = np.log((first**order * second ** (1 - order)).sum()) / (order - 1)
            assert divergence <= order / 8


@pytest.mark.parametrize(("method", "admitted"), [("exponential", 44), ("permute-and-flip", 11)])
def test_a_door_that_adds_up_rho_takes_more_selections_of_bounded_range(method: str, admitted: int) -> None:
    """Budget (3, 1e-5): where ε = 1/5 costs ρ of 1/200 or 1/50."""
    taken = 0
    with dp.live(dp.MemoryLedger(kind="deployment"), budget=dp.Budget("3", "1e-5", filter="zcdp")) as channel:
        while taken < 50:
            try:
                channel.select(f"s{taken}", [0.0, 1.0], epsilon="1/5", sensitivity=1, method=method)
            except dp.BudgetExceeded:
                break
            taken += 1
    assert taken == admitted
    assert zcdp_epsilon(taken * Fraction(1, 200 if method == "exponential" else 50), Fraction("1e-5")) <= 3
    assert zcdp_epsilon((taken + 1) * Fraction(1, 200 if method == "exponential" else 50), Fraction("1e-5")) > 3
