"""The verdict, in the order of the design: refuted, certified, unproven; and what never decides."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.wording import beating

BIT = dp.replace_one(n=1, low=0, high=1)
TEN = dp.replace_one(n=10, low=0, high=1)


def declare(
    function: Any, epsilon: Any = "1", delta: Any = "0", observer: str = "server", neighbours: Any = TEN, plan: Any = None
) -> Any:
    return dp.subject(claim=dp.Claim(epsilon, delta, observer), neighbours=neighbours, plan=plan)(function)


def judge(function: Any, *claim: Any, samples: int = 400, **options: Any) -> Any:
    return dp.audit(declare(function, *claim, **options), seed=5, samples=samples)


def rules(verdict: Any) -> set[str]:
    return {finding.rule for finding in verdict.findings}


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


def threshold(data: Any, channel: Any, trials: Any) -> Any:
    """o = x + Lap(1), and then the public action 1{o > 1/2}: ε = 1 for the server, .8317 for the action."""
    noisy = channel.release("o", data.sum(), dp.Laplace(1), sensitivity=1)
    return (noisy > 0.5) * 1


def test_the_joint_view_refutes_a_claim_about_the_server_and_none_about_actions() -> None:
    server = judge(threshold, "0.9", neighbours=BIT, samples=20_000)
    assert server.verdict == "refuted"
    assert server.lower.epsilon == 1
    actions = judge(threshold, "0.9", "0", "actions", neighbours=BIT, samples=20_000)
    assert actions.verdict == "unproven"
    truth = math.log((1 - math.exp(-0.5) / 2) / (math.exp(-0.5) / 2))
    assert actions.lower.epsilon <= truth + 1e-6 < 0.9  # on the grid, o > 1/2 is a step away from o ≥ 1/2
    assert judge(threshold, "0.8", "0", "actions", neighbours=BIT, samples=20_000).verdict == "refuted"
    assert judge(threshold, "1", "0", "actions", neighbours=BIT, samples=20_000).verdict == "certified"


def test_an_action_behind_a_coin_is_judged_by_what_is_played() -> None:
    """Rewards in [9, 11], flipped once in a thousand: the tails that an exact event would claim are not there."""
    far = dp.replace_one(n=1, low=9, high=11)

    def flipped(data: Any, channel: Any, trials: Any) -> Any:
        noisy = channel.release("o", data.sum(), dp.Laplace(1), sensitivity=2)
        coin = channel.rng.random(np.shape(noisy)) < 1e-3
        return np.where(coin, 1 - (noisy > 0.0), (noisy > 0.0) * 1)

    assert judge(flipped, "1/2", "0", "actions", neighbours=far, samples=20_000).verdict != "refuted"


@pytest.mark.parametrize(("epsilon", "expected"), [("0.99", "refuted"), ("1", "certified"), ("2", "certified")])
def test_a_traced_single_release_is_decided_exactly(epsilon: str, expected: str) -> None:
    verdict = judge(noisy_sum, epsilon)
    assert verdict.verdict == expected
    assert (verdict.lower.epsilon, verdict.upper.epsilon) == (1, max(1, Fraction(epsilon)))  # behind a door, the budget
    assert (verdict.witness is not None) is (expected == "refuted")


@pytest.mark.parametrize(("epsilon", "expected"), [("1.0607", "refuted"), ("1.0608", "certified")])
def test_gaussian_noise_is_decided_at_its_exact_epsilon(epsilon: str, expected: str) -> None:
    """Gaussian(4), sensitivity 1, δ = 1e-6: 1.06070186…; both bounds meet there to eight digits."""
    plan = [("v", dp.Gaussian(4), 1)]
    verdict = judge(
        lambda data, channel: channel.release("v", data.sum(), dp.Gaussian(4), sensitivity=1), epsilon, "1e-6", plan=plan
    )
    assert verdict.verdict == expected
    assert verdict.lower.epsilon <= verdict.upper.epsilon <= verdict.lower.epsilon + 1e-8


def test_gaussian_noise_is_never_certified_without_delta() -> None:
    verdict = judge(lambda data, channel: channel.release("v", data.sum(), dp.Gaussian(4), sensitivity=1), "1")
    assert verdict.verdict != "certified"
    assert "DPA005" in rules(verdict)


def test_several_gaussian_coordinates_are_bounded_from_both_sides() -> None:
    verdict = judge(
        lambda data, channel: channel.release("v", np.eye(3, 10) @ data, dp.Gaussian(4), sensitivity=1),
        "1.2",
        "1e-6",
        samples=200,
        plan=[("v", dp.Gaussian(4), 1)],
    )
    assert verdict.verdict == "certified"
    assert 1.06 < verdict.lower.epsilon < verdict.upper.epsilon < 1.2


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize(("epsilon", "expected"), [("0.9", "refuted"), ("1", "certified")])
def test_randomised_response_is_decided_exactly(delta: str, epsilon: str, expected: str) -> None:
    verdict = judge(
        lambda data, channel: channel.release("bit", data[0], dp.RandomizedResponse(1), sensitivity=1), epsilon, delta
    )
    assert verdict.verdict == expected
    assert verdict.upper.epsilon == 1
    assert verdict.lower.epsilon == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("noise", [dp.Laplace(1), dp.RandomizedResponse(1)])
@pytest.mark.parametrize(("epsilon", "expected"), [("0.9", "refuted"), ("1", "certified")])
def test_local_reports_are_decided_exactly(noise: Any, epsilon: str, expected: str) -> None:
    verdict = judge(lambda data, channel: channel.reports("r", data, noise, sensitivity=1).sum(), epsilon)
    assert verdict.verdict == expected


def test_shuffled_reports_are_certified_at_the_amplified_epsilon_and_refuted_below_the_event() -> None:
    crowd = dp.replace_one(n=2000, low=0, high=1)

    def mixed(data: Any, channel: Any) -> Any:
        return channel.reports("r", data, dp.Laplace(1), sensitivity=1, to="shuffled").sum()

    certified = judge(mixed, "1/2", "1e-6", "shuffled", neighbours=crowd)
    assert certified.verdict == "certified"
    assert 0 < certified.lower.epsilon < 0.5
    assert judge(mixed, certified.lower.epsilon / 2, "1e-6", "shuffled", neighbours=crowd).verdict == "refuted"


def test_an_untraced_honest_subject_is_unproven_with_its_sensitivity_tested() -> None:
    verdict = judge(lambda data, channel: channel.release("m", np.median(data), dp.Laplace(1), sensitivity=1), "1")
    assert verdict.verdict == "unproven"
    assert verdict.upper.sensitivity == "tested"
    assert rules(verdict) == set()
    assert "median" in verdict.reason


def test_an_untraced_sensitivity_that_is_seen_to_be_too_small_is_dpa003_and_raises_the_upper_bound() -> None:
    honest, short = (
        judge(lambda data, channel, s=s: channel.release("m", np.sort(data)[-1] * 4, dp.Laplace(4), sensitivity=s), "2")
        for s in (4, 1)
    )
    assert "DPA003" not in rules(honest)
    assert "DPA003" in rules(short)
    assert short.upper.epsilon == 1  # 4/4, where 1/4 was declared
    assert short.verdict == "unproven"


def test_a_traced_sensitivity_that_is_too_small_is_dpa003_and_decided_at_the_proven_one() -> None:
    verdict = judge(lambda data, channel: channel.release("v", 3 * data.sum(), dp.Laplace(1), sensitivity=1), "1")
    assert verdict.verdict == "refuted"
    assert {"DPA003", "DPA004"} <= rules(verdict)
    assert verdict.upper.epsilon == 3
    generous = judge(lambda data, channel: channel.release("v", 3 * data.sum(), dp.Laplace(1), sensitivity=1), "3")
    assert generous.verdict == "certified"  # a finding never refutes by itself
    assert "DPA003" in rules(generous)


def test_an_adaptive_scale_is_not_on_a_single_path() -> None:
    def adaptive(data: Any, channel: Any) -> Any:
        first = channel.release("a", data.sum(), dp.Laplace(2), sensitivity=1)
        return channel.release("b", data.sum(), dp.Laplace(2 if first > 5 else 4), sensitivity=1)

    assert judge(adaptive, "1").upper.path == "enforced"
    assert judge(adaptive, "0.7").verdict != "certified"


def test_a_rare_expensive_path_is_never_called_single() -> None:
    """One time in 10^8 the second release costs 1000: no run shows it, so only a budget can bound it."""

    def rare(data: Any, channel: Any) -> Any:
        first = channel.release("a", data.sum(), dp.Laplace(2), sensitivity=1)
        return channel.release("b", data.sum(), dp.Laplace("0.001") if first.item() > 50 else dp.Laplace(2), sensitivity=1)

    verdict = judge(rare, "1")
    assert verdict.upper is None or verdict.upper.path != "single"


PRIVATE_PATHS: dict[str, Any] = {
    "scale": lambda d, c: c.release("v", d.sum(), dp.Laplace(abs(d.sum()) + 1), sensitivity=1),
    "branch": lambda d, c: c.release("v", d.sum(), dp.Laplace(1 if d.sum() > 0.5 else 2), sensitivity=1),
    "rounds": lambda d, c: sum(c.release("v", d.sum(), dp.Laplace(9), sensitivity=1) for _ in range(1 + int(d[0] > 0.5))),
    "returned": lambda d, c: (c.release("v", d.sum(), dp.Laplace(1), sensitivity=1), d[0])[1],
    "name": lambda d, c: c.release(f"v{np.sign(d[0])}", d.sum(), dp.Laplace(1), sensitivity=1),
}


@pytest.mark.parametrize("path", PRIVATE_PATHS.values(), ids=PRIVATE_PATHS.keys())
def test_a_path_that_private_data_decides_is_dpa002_and_has_no_upper_bound(path: Any) -> None:
    verdict = judge(lambda data, channel: path(data, channel), "100")
    assert "DPA002" in rules(verdict)
    assert verdict.upper is None
    assert verdict.verdict != "certified"


def test_assert_private_says_what_is_missing_and_with_which_seed() -> None:
    with pytest.raises(AssertionError, match=r"refuted.*seed 5"):
        dp.assert_private(declare(noisy_sum, "1/2"), seed=5)
    assert dp.assert_private(declare(noisy_sum), seed=5).verdict == "certified"


def test_an_excess_by_rounding_to_the_grid_is_named_and_shown_with_enough_digits() -> None:
    """Weights without a common divisor leave the grid: a move of 0.6 is rounded up to it. Twin: half the noise."""

    def mean(scale: str) -> Any:
        return dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=3, low=-1, high=1))(
            lambda data, channel: channel.release("s", data @ [0.1, 0.2, 0.3], dp.Laplace(scale), sensitivity="0.6")
        )

    found, half = dp.audit(mean("0.6"), seed=1), dp.audit(mean("0.3"), seed=1)
    assert "grid 2^-20" in found.reason
    assert any("lower bound 1.0000006 beats the claim ε=1" in finding.message for finding in found.findings)
    scale = re.search(r"scale=([0-9.]+) would do", found.reason)
    assert scale is not None
    assert str(dp.audit(mean(scale.group(1)), seed=1).verdict) == "certified"
    assert "grid" not in half.reason


@pytest.mark.parametrize(("figure", "shown"), [("2.5", "2.5 "), ("1.0000000012345", "1.000000001 "), ("1.0000000000000002", "")])
def test_a_lower_bound_is_shown_rounded_down_and_above_what_it_beats(figure: str, shown: str) -> None:
    assert beating(Fraction(figure), Fraction(1)) == shown


@pytest.mark.parametrize("sequential", [True, False])
def test_more_runs_than_anybody_can_wait_for_are_refused_before_the_first(sequential: bool) -> None:
    def never(data: Any, rng: Any) -> Any:
        raise AssertionError

    subject = dp.subject(claim=dp.Claim("1"), neighbours=[(0.0, 1.0)])(never)
    with pytest.raises(dp.DpauditError, match="samples must be at most 100,000,000"):
        dp.audit(subject, samples=10**14, sequential=sequential)
    pair = {"place": 0, "seed": 1, "swapped": False}
    common = {"observer": "server", "pair": pair, "score": "learned", "seed": 1}
    game = {"kind": "statistics", "samples": 10**14, "right": 2, "wrong": 1, "runs": 160_000}
    bets = {"kind": "sequential", "draws": 100, "runs": 10**14}
    with pytest.raises(dp.DpauditError, match="must be at most"):
        dp.audit(subject, witness={**common, **(bets if sequential else game)})


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda data, channel: 3, "certified"),
        (lambda data, channel: int(channel.rng.integers(5)), "certified"),
        (lambda data, channel: channel.release("sum", data.sum(), dp.Laplace(scale=1000), sensitivity=1), "refuted"),
    ],
)
def test_a_claim_of_nothing_is_certified_where_nothing_is_revealed(function: Any, expected: str) -> None:
    subject = dp.subject(claim=dp.Claim("0"), neighbours=dp.replace_one(5, 0, 1))(function)
    assert dp.audit(subject, samples=100, seed=1, workers=1).verdict == expected


def test_samples_that_are_no_number_are_refused_in_words() -> None:
    subject = dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(5, 0, 1))(lambda data, rng: 3)
    with pytest.raises(dp.DpauditError, match="samples must be a whole number of at least 100, not 'a'"):
        dp.audit(subject, samples="a")  # type: ignore[arg-type]


def test_a_rare_path_that_declares_too_little_is_no_contradiction() -> None:
    """With this seed only replay takes the second branch, which declares half of its sensitivity (random program 425)."""
    sigma = "114828119/81190000"

    @dp.subject(claim=dp.Claim("66293/10000", "1/100000"), neighbours=dp.replace_one(1, values=[0, 1]))
    def program(x: Any, channel: Any) -> Any:
        c = channel.release("c", np.abs(x).sum(), dp.Laplace(scale="4"), sensitivity="1")
        if c > 0:
            cells = np.stack([(x > 0.0).sum(), (x <= 0.0).sum()])
            return c, channel.release("d", cells, dp.Gaussian(sigma=sigma), sensitivity=sigma)
        return c, channel.release("e", x.mean(), dp.Laplace(scale="1/2"), sensitivity="1/2")

    verdict = dp.audit(program, samples=200, seed=425)
    assert "DPA003" in [finding.rule for finding in verdict.findings]
    assert verdict.verdict == "certified"
    assert verdict.upper is not None
    assert verdict.upper.path == "enforced"
