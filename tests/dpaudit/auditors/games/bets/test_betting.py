"""Sequential audits: how soon they flag, what they say when they are stopped, and that no draw is looked at twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.games.bets.betting import bet_until, detectable, growing
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.transcripts import Trials
from dpaudit.verdict.audit import Interrupted

ONE, ZERO = np.ones(1), np.zeros(1)
HERE = Engine(workers=1)


def black(scale: float, family: str = "laplace") -> Any:
    def box(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + getattr(rng, family)(scale=scale, size=trials)

    return box


def grey(noise: Any) -> Any:
    return lambda data, channel, trials: channel.release("v", data.sum(), noise, sensitivity=1)


def declare(function: Any, epsilon: str = "1", delta: str = "0") -> Any:
    return dp.subject(claim=dp.Claim(epsilon, delta, arithmetic="ideal"), neighbours=[(ONE, ZERO)])(function)


def bet(function: Any, seed: int, runs: int = 4000, alpha: float = 0.05, **claim: str) -> Any:
    subject = declare(function, **claim)
    trials = Trials(subject, (ONE, ZERO), seed, subject.grey)
    return bet_until(trials, subject.claim, runs, alpha=alpha, confidence=0.95, engine=HERE)


def test_half_the_noise_is_flagged_after_70_draws_with_the_exact_score_and_120_with_a_learned_one() -> None:
    """At α = .05, the level of the published figures; means of 200 and 60 audits, standard errors 3.5 and 9."""
    exact = [bet(grey(dp.Laplace("1/2")), seed) for seed in range(200)]
    assert all(one.flagged for one in exact)
    assert np.mean([one.runs for one in exact]) <= 80
    learned = [bet(black(0.5), seed) for seed in range(60)]
    assert all(one.flagged for one in learned)
    assert np.mean([one.runs for one in learned]) <= 180


def test_at_the_level_of_a_refutation_it_takes_a_few_hundred() -> None:
    """α = 10^-6; 314 draws in the mean with the exact score. 20 audits, and none of an honest twin."""
    runs = [bet(grey(dp.Laplace("1/2")), seed, alpha=1e-6).runs for seed in range(20)]
    assert 200 < np.mean(runs) < 450
    assert not any(bet(grey(dp.Laplace(1)), seed, alpha=1e-6).flagged for seed in range(20))


@pytest.mark.parametrize("function", [grey(dp.Laplace(1)), black(1.0)])
def test_a_boundary_mechanism_is_flagged_in_five_percent_of_the_audits(function: Any) -> None:
    """60 audits of 1,000 draws at α = .05, each looked at after every draw: 13 or more have probability 10^-5."""
    assert sum(bet(function, seed, 1000).flagged for seed in range(60)) <= 12


def test_a_delta_is_allowed_for() -> None:
    """σ = 3.7303 is (1, 1e-5)-DP; half of it is not."""
    wrong, honest = (dp.Gaussian(sigma) for sigma in ("1.86515", "3.7303"))
    assert bet(grey(wrong), 1, 200_000, alpha=1e-6, delta="1e-5").flagged
    assert not bet(grey(honest), 1, 200_000, alpha=1e-6, delta="1e-5").flagged


def test_chunks_grow_with_what_is_known() -> None:
    sizes = list(growing(10_000, 500))
    assert sum(sizes) == 10_000
    assert sizes[:5] == [8] * 5
    assert max(sizes) == 500
    assert list(growing(5, 500)) == [5]


def test_the_detectable_epsilon_is_flagged_most_times() -> None:
    """Laplace with that ε, 20 audits: fewer than 10 flags have probability 10^-3 at a power of 80 %."""
    found = bet(grey(dp.Laplace(1)), 1, 20_000, alpha=1e-6)
    least = detectable(found, 1.0, 0.0, 20_000, 1e-6)
    assert 1.05 < least < 1.3
    scale = f"{1 / least:.6f}"
    assert sum(bet(grey(dp.Laplace(scale)), seed, 20_000, alpha=1e-6).flagged for seed in range(20)) >= 10
    assert not any(bet(grey(dp.Laplace(1)), seed, 20_000, alpha=1e-6).flagged for seed in range(5))


@pytest.mark.parametrize("claim", [0.0, 50.0, 1e17])
def test_the_detectable_epsilon_ends_for_every_claim(claim: float) -> None:
    least = detectable(bet(black(1.0), 1, 100), claim, 0.0, 1000, 1e-6)
    assert least is None if claim > 10 else least is not None and least > claim


def stops_after(calls: int, scale: float) -> Any:
    """Ctrl-C in the middle of a chunk, as a person would press it."""
    count = iter(range(10**9))

    def box(data: Any, rng: Any) -> Any:
        if next(count) == calls:
            raise KeyboardInterrupt
        return float(data.sum() + rng.laplace(scale=scale))

    return box


def test_an_interrupted_audit_says_what_holds_and_concludes_no_more() -> None:
    with pytest.raises(Interrupted) as stopped:
        dp.audit(declare(stops_after(3000, 1.0)), seed=1, sequential=True, workers=1)
    verdict = stopped.value.verdict
    assert verdict.verdict == "unproven"
    assert "interrupted after" in verdict.reason
    assert 0.5 < verdict.lower.epsilon < 1
    assert 1000 < verdict.lower.samples < 1500
    assert verdict.detectable is None  # of the draws that were asked for, most were never made
    full = dp.audit(
        declare(lambda data, rng: float(data.sum() + rng.laplace())), seed=1, sequential=True, workers=1, samples=1500
    )
    assert full.detectable is not None
    assert full.lower.epsilon == pytest.approx(verdict.lower.epsilon, abs=0.1)


def test_a_game_that_is_interrupted_concludes_nothing() -> None:
    with pytest.raises(KeyboardInterrupt) as stopped:
        dp.audit(declare(stops_after(3000, 1.0)), seed=1, workers=1)
    assert not isinstance(stopped.value, Interrupted)


def test_progress_tells_the_bound_so_far() -> None:
    told: list[str] = []
    for sequential in (True, False):
        dp.audit(declare(black(1.0)), seed=1, sequential=sequential, samples=3000, progress=told.append)
    assert any("draws, ε ≥" in line for line in told)
    assert any("runs, ε ≥" in line for line in told)


@pytest.mark.parametrize("function", [grey(dp.Laplace("1/2")), black(0.5)])
def test_a_sequential_verdict_can_be_replayed_and_an_honest_subject_is_not_refuted_by_it(function: Any) -> None:
    verdict = dp.audit(declare(function), seed=1, sequential=True)
    assert verdict.verdict == "refuted"
    assert verdict.lower.epsilon > 1
    assert verdict.witness is not None
    again = dp.audit(declare(function), witness=verdict.witness)
    assert again.verdict == "refuted"
    honest = declare(grey(dp.Laplace(1)) if "likelihood" in verdict.lower.method else black(1.0))
    assert dp.audit(honest, witness=verdict.witness).verdict == "unproven"
    changed = {**verdict.witness, "draws": 17}
    assert dp.audit(declare(function), witness=changed).verdict == "unproven"


def test_what_no_bet_refutes_is_still_proven_or_refuted_by_exact_evidence() -> None:
    certified = dp.audit(
        dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=3, low=0, high=1))(
            lambda data, channel, trials: channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1)
        ),
        seed=1,
        sequential=True,
        samples=1000,
    )
    assert certified.verdict == "certified"
    rarely = dp.audit(declare(grey(dp.Laplace("0.99"))), seed=1, sequential=True, samples=200)
    assert rarely.verdict == "refuted"
    assert rarely.lower.confidence == 1
