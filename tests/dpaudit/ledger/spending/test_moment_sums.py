"""Filters for parameters that depend on outputs: what they allow is private whatever the adversary chooses on the way."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.claims import BudgetExceeded, InvalidValue
from dpaudit.ledger import Budget, Charge, MemoryLedger, Release, refuse_overrun
from dpaudit.ledger.spending.charge_moments import response
from dpaudit.ledger.spending.moment_sums import GaussianSums, MomentSums, default_order, gaussian_epsilon, moment_epsilon
from dpaudit.noise import written_forms

DELTA = Fraction(1, 20)
SIZES = [Fraction(k, 4) for k in range(0, 9)]  # ε of a randomised response


def fits(budget: Budget, order: Fraction, *sizes: Fraction) -> bool:
    sums = MomentSums(order, budget.delta)
    try:
        for size in sizes:
            refuse_overrun(sums, Charge(size), budget)
            sums.add(Charge(size))
    except BudgetExceeded:
        return False
    return True


def exact_delta(first: float, after: dict[int, float], epsilon: float) -> float:
    """δ(ε) of two responses, the second chosen by what the first one said (+1: the truth)."""

    def law(size: float) -> dict[int, float]:
        return {1: 1 / (1 + math.exp(-size)), -1: 1 / (1 + math.exp(size))}

    total = 0.0
    for one, p in law(first).items():
        for two, q in law(after[one]).items():
            total += p * q * max(0.0, -math.expm1(epsilon - one * first - two * after[one]))
    return total


@pytest.mark.parametrize("order", [Fraction(2), Fraction(5)])
def test_no_adaptive_choice_exceeds_the_budget(order: Fraction) -> None:
    """All adversaries with two steps whose second ε depends on the first answer, on a lattice of ε."""
    budget, tried = Budget("2.5", DELTA), 0
    allowed = {(a, b): fits(budget, order, a, b) for a in SIZES for b in SIZES}
    for first in SIZES:
        choices = [second for second in SIZES if allowed[first, second]]
        for plus, minus in itertools.product(choices, repeat=2):
            tried += 1
            assert exact_delta(float(first), {1: float(plus), -1: float(minus)}, 2.5) <= float(DELTA)
    assert tried > 50  # the filter lets something through


def test_the_best_order_afterwards_breaks_what_the_proof_rests_on() -> None:
    """E e^{cL − ΣK(c)} is 1 at one order, whatever is chosen on the way; with an order chosen by the answer it is above 1."""
    first, second = 1.0, {1: 1.5, -1: 0.25}

    def average(orders: dict[int, float]) -> float:
        total = 0.0
        for one, p in ((1, 1 / (1 + math.exp(-first))), (-1, 1 / (1 + math.exp(first)))):
            size, c = second[one], orders[one]
            moments = sum(float(response(Fraction(e), Fraction(c))) for e in (first, size))
            for two, q in ((1, 1 / (1 + math.exp(-size))), (-1, 1 / (1 + math.exp(size)))):
                total += p * q * math.exp(c * (one * first + two * size) - moments)
        return total

    for c in (1.0, 4.0, 9.0):
        assert average({1: c, -1: c}) == pytest.approx(1, rel=1e-9)
    assert average({1: 4.0, -1: 0.25}) > 1.05  # the twin


def test_a_ledger_keeps_its_order() -> None:
    ledger = MemoryLedger(kind="deployment")
    ledger.limit(Budget("3", "1e-6", filter="renyi", order=8))
    assert ledger.filter_name == "renyi(8,1e-6)"
    for other in ("renyi(16)", "zcdp", "gaussian", "sum"):
        with pytest.raises(InvalidValue, match="filter"):
            ledger.limit(("2", "1e-6"), other)
    ledger.limit(("2", "1e-6"), "renyi")
    assert ledger.filter_name == "renyi(8,1e-6)"


@pytest.mark.parametrize("words", ["renyi(1)", "renyi(0.5)", "renyi(eight)", "zcdp(3)", "best"])
def test_a_filter_that_is_none_is_refused(words: str) -> None:
    with pytest.raises(InvalidValue):
        MemoryLedger(kind="deployment").limit(("2", "1e-6"), words)


def test_an_order_goes_with_a_renyi_filter() -> None:
    with pytest.raises(InvalidValue, match="order"):
        Budget("1", "1e-6", filter="zcdp", order=8)
    with pytest.raises(InvalidValue, match="δ"):
        MemoryLedger(kind="deployment").limit(Budget("1", "0", filter="renyi"))
    assert Budget("1", "1e-6", filter="renyi") == Budget("1", "1e-6")


def through(budget: Budget, noise: Any, most: int = 400) -> int:
    ledger = MemoryLedger(kind="simulated")
    count = 0
    with dp.simulate(3, budget=budget, ledger=ledger) as channel:
        try:
            for count in range(most):
                channel.release(f"r{count}", 0.0, noise, sensitivity=1)
        except BudgetExceeded:
            return count
    return most


def test_each_filter_lets_through_what_its_formula_says() -> None:
    """Gaussian of μ = 1/10: Σμ² by its exact curve, one order by (B + κ − ln δ)/c, and never more than what one budget holds."""
    noise, budget = dp.Gaussian(10), ("4", "1e-6")
    exact = through(Budget(*budget, filter="gaussian"), noise)
    mu = math.sqrt(exact) / 10
    delta = norm.cdf(mu / 2 - 4 / mu) - math.exp(4) * norm.cdf(-mu / 2 - 4 / mu)
    assert delta <= 1e-6
    more = math.sqrt(exact + 1) / 10
    assert norm.cdf(more / 2 - 4 / more) - math.exp(4) * norm.cdf(-more / 2 - 4 / more) > 1e-6
    at_eight = through(Budget(*budget, filter="renyi", order=8), noise)
    room = 7 * 4 - (7 * math.log(7) - 8 * math.log(8)) + math.log(1e-6)
    assert at_eight == math.floor(room / (56 * 0.005))
    assert at_eight <= through(Budget(*budget, filter="renyi"), noise) < exact


def test_a_budget_of_mu_takes_gaussian_noise_alone() -> None:
    with pytest.raises(InvalidValue, match="Gaussian"):
        through(Budget("4", "1e-6", filter="gaussian"), dp.Laplace(10))
    with pytest.raises(InvalidValue, match="sigma"):
        GaussianSums(DELTA).add(Charge(None, facts={"sigma": "2", "grid": "1", "sensitivity": "1", "steps": "1"}))


def test_conversions_round_up() -> None:
    found = gaussian_epsilon(Fraction(1, 4), Fraction(1, 10**6))
    e = float(found)
    assert norm.cdf(0.25 - 2 * e) - math.exp(e) * norm.cdf(-0.25 - 2 * e) == pytest.approx(1e-6, rel=1e-6)
    assert norm.cdf(0.25 - 2 * e) - math.exp(e) * norm.cdf(-0.25 - 2 * e) <= 1e-6 * (1 + 1e-12)
    truth = (2 + 3 * math.log(3) - 4 * math.log(4) - math.log(1e-6)) / 3
    assert truth * (1 - 1e-15) <= float(moment_epsilon(Fraction(2), Fraction(4), Fraction(1, 10**6))) <= truth * (1 + 1e-12)


def test_the_order_that_is_left_out_is_the_best_for_gaussian_noise() -> None:
    budget = ("4", "1e-6")
    best = default_order(Fraction(4), Fraction(1, 10**6))
    counts = {
        order: through(Budget(*budget, filter="renyi", order=order), dp.Gaussian(20)) for order in (best - 2, best, best + 3)
    }
    assert counts[best] == max(counts.values())


STATED = {"mechanism": "zcdp", "rho": "1/100", "count": "20"}
VERBS: dict[str, Any] = {
    "gaussian": lambda channel, _: channel.release("g", 0.0, dp.Gaussian(5), sensitivity=1),
    "gaussian stream": lambda channel, _: channel.tree("t", steps=1000, noise=dp.Gaussian(20), sensitivity=1),
    "laplace": lambda channel, _: channel.release("l", 0.0, dp.Laplace(5), sensitivity=1),
    "laplace stream": lambda channel, _: channel.tree("t", steps=1000, noise=dp.Laplace(40), sensitivity=1),
    "categories": lambda channel, _: channel.release("k", 2, dp.KaryResponse("1/3", 9), sensitivity=1),
    "bits": lambda channel, _: channel.release("u", 2, dp.UnaryResponse("1/3", 9), sensitivity=1),
    "select": lambda channel, _: channel.select("s", [0.0, 1.0], epsilon="1/3", sensitivity=1),
    "permute": lambda channel, _: channel.select("p", [0.0, 1.0], epsilon="1/3", sensitivity=1, method="permute-and-flip"),
    "one way": lambda channel, _: channel.select(
        "m", [0.0, 1.0], epsilon="1/3", sensitivity=1, method="permute-and-flip", monotone=True
    ),
    "noisy max": lambda channel, _: channel.noisy_max("n", [0.0, 1.0], dp.Laplace(6), sensitivity=1),
    "above": lambda channel, _: channel.above("a", epsilon="1/3", sensitivity=1, threshold=0),
    "counts": lambda channel, _: channel.threshold_counts("c", ["a"] * 9, epsilon="1/3", delta="1e-9"),
    "stated": lambda _, ledger: ledger.append(Release.from_json(STATED, forms=written_forms())),
}


@pytest.mark.parametrize("filter", ["sum", "zcdp", "renyi", "gaussian"])
@pytest.mark.parametrize("verb", VERBS)
def test_no_filter_charges_less_than_the_exact_composition_costs(verb: str, filter: str) -> None:
    """Whatever passes a door, five times: what is spent is at least what an accountant proves of the same ledger at its δ."""
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=dp.Budget("1000", "1e-5", filter=filter)) as channel:
        if (filter == "gaussian" and not verb.startswith("gaussian")) or (filter, verb) == ("sum", "stated"):
            with pytest.raises(InvalidValue):
                VERBS[verb](channel, ledger)
            return
        if verb == "counts" and filter != "sum":  # the conversion takes all of δ
            with pytest.raises(BudgetExceeded):
                VERBS[verb](channel, ledger)
            return
        times = 1 if filter == "sum" and verb.startswith("gaussian") else 5  # one Gaussian release takes all of δ
        for _ in range(times):
            VERBS[verb](channel, ledger)
    epsilon, delta = ledger.spent()
    assert delta <= Fraction("1.1e-5")
    assert epsilon >= dp.account(ledger, delta=max(delta, Fraction("1e-5")), fixed=True).epsilon * Fraction(999_999, 10**6)


@pytest.mark.parametrize("filter", ["zcdp(9e-6)", "renyi(16,9e-6)"])
def test_a_filter_that_converts_at_a_part_of_delta_leaves_the_rest_to_releases_with_one(filter: str) -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=dp.Budget("4", "1e-5", filter=filter)) as channel:
        VERBS["gaussian"](channel, ledger)
        for _ in range(2):
            channel.threshold_counts("c", ["a"] * 9, epsilon="1/3", delta="5e-7")
        with pytest.raises(BudgetExceeded):  # two had 10^-6 together
            channel.threshold_counts("c", ["a"] * 9, epsilon="1/3", delta="5e-7")
    epsilon, delta = ledger.spent()
    assert Fraction("9e-6") < delta <= Fraction("1e-5")
    assert epsilon >= dp.account(ledger, delta="1e-5", fixed=True).epsilon
    assert ledger.filter_name == filter


@pytest.mark.parametrize(
    "filter", ["zcdp(2e-5)", "renyi(16,2e-5)", "renyi(16,1e-6,2)", "zcdp(16,1e-6)", "sum(1e-6)", "zcdp(0)", "zcdp(x)"]
)
def test_a_filter_with_a_meaningless_part_of_delta_is_refused(filter: str) -> None:
    with pytest.raises(InvalidValue), dp.live(MemoryLedger(kind="deployment"), budget=dp.Budget("4", "1e-5", filter=filter)):
        pass
