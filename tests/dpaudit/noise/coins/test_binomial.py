"""Binomial noise: its moments, its scores, and what a door and an audit do with it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import ReplaySource


def _masses(coins: int) -> list[Fraction]:
    return [Fraction(math.comb(coins, heads), 2**coins) for heads in range(coins + 1)]


def test_thrown_coins_and_simulated_ones_have_the_mean_and_spread_of_the_law() -> None:
    # six standard errors: one seed in 10^8 fails
    noise = dp.Binomial(100)
    for drawn in (noise.draw(np.full(20_000, 3), ReplaySource(1)), noise.simulate(np.full(20_000, 3), np.random.default_rng(1))):
        assert abs(drawn.mean() - 3) < 6 * 5 / math.sqrt(20_000)
        assert drawn.std() == pytest.approx(5, rel=6 / math.sqrt(40_000))
    sums = noise.simulate_sums(np.full(20_000, 9), np.full(20_000, 4), np.random.default_rng(2))
    assert sums.std() == pytest.approx(10, rel=6 / math.sqrt(40_000))


def test_scores_are_the_logarithms_of_exact_ratios() -> None:
    small, masses = dp.Binomial(20), _masses(20)
    for output in range(-9, 10):
        exact = math.log(masses[output + 10] / masses[output + 9])
        assert float(small.log_ratio(output, 0, 1)) == pytest.approx(exact, abs=1e-9)
    large, m = dp.Binomial(10**10), 5 * 10**9
    assert float(large.log_ratio(200_000, 0, 1)) == pytest.approx(math.log((m - 200_000 + 1) / (m + 200_000)), rel=1e-6)
    assert float(small.log_ratio(-10, 0, 1)) > 10**9  # impossible for the other
    assert float(small.log_ratio(40, 0, 1)) == 0  # impossible for both


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dp.Binomial(7), "even"), (lambda: dp.Binomial(0), "coins"), (lambda: dp.Binomial(2**52), "coins"),
        (lambda: dp.Binomial(8, 0), "failure"), (lambda: dp.Binomial(8, 1), "failure"),
    ],
)  # fmt: skip
def test_what_is_no_such_noise_is_refused(call: object, words: str) -> None:
    with pytest.raises(InvalidValue, match=words):
        call()  # type: ignore[operator]


def _subject(coins: int, epsilon: str, delta: str) -> object:
    @dp.subject(claim=dp.Claim(epsilon, delta), neighbours=dp.replace_one(n=20, values=[0, 1]))
    def count(bits, channel):  # type: ignore[no-untyped-def]
        return channel.release("count", bits.sum(), dp.Binomial(coins, delta), sensitivity=1)

    return count


def test_a_count_is_certified_at_its_own_epsilon_and_refuted_with_a_quarter_of_the_coins() -> None:
    epsilon = dp.Binomial(400, "1e-4").epsilon(1)
    claimed = str(math.ceil(float(epsilon or 0) * 1000) / 1000)
    honest = dp.audit(_subject(400, claimed, "1e-4"), seed=1, samples=2000)
    assert str(honest.verdict) == "certified"
    assert honest.lower.epsilon <= float(claimed)
    assert honest.lower.epsilon > 0.9 * float(claimed)  # the exact event
    halved = dp.audit(_subject(100, claimed, "1e-4"), seed=1, samples=2000)
    assert str(halved.verdict) == "refuted"


def test_a_ledger_tells_its_cost_again_and_several_add_up_failures() -> None:
    noise = dp.Binomial(10**4, "1e-7")
    ledger = dp.MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel:
        for place in range(3):
            channel.release(f"r{place}", 5, noise, sensitivity=1)
    bound = dp.account(ledger)
    one = noise.epsilon(1) or 0
    assert bound.delta == Fraction(3, 10**7)
    assert bound.epsilon == 3 * one
    written = [{"mechanism": "binomial", "coins": "10000", "failure": "1e-7", "sensitivity": "1", "count": 3}]
    again = dp.account(written)
    assert again.delta == bound.delta
    assert 0 <= bound.epsilon - again.epsilon < Fraction(1, 10**12)  # one plan: its failures multiply, 1 − (1 − δ)³ < 3δ


def test_only_plain_releases_are_accounted_for() -> None:
    noise = dp.Binomial(100)
    with dp.simulate(1) as channel:
        for call in (
            lambda: channel.reports("r", [0.0, 1.0], noise, sensitivity=1),
            lambda: channel.tree("t", steps=4, noise=noise, sensitivity=1),
            lambda: dp.calibrate("binomial", 1),
            lambda: dp.Planned("p", noise, 1, kind="tree", count=4),
        ):
            with pytest.raises(InvalidValue):
                call()  # type: ignore[no-untyped-call]


def test_a_budget_refuses_more_than_it_holds() -> None:
    noise = dp.Binomial(10**4, "1e-7")
    epsilon = noise.epsilon(1) or Fraction(0)
    with dp.live(dp.MemoryLedger(kind="deployment"), budget=dp.Budget(2 * epsilon, "1e-6")) as channel:
        channel.release("a", 5, noise, sensitivity=1)
        channel.release("b", 5, noise, sensitivity=1)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("c", 5, noise, sensitivity=1)
