"""Honest subjects with randomness besides their noise are not refuted by replay, and dishonest ones still are."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.events.server_events import server_event

PEOPLE = dp.replace_one(n=10, low=0, high=1)
HALF = dp.Claim(str(round(math.log(1 + 0.5 * (math.e - 1)) + 1e-4, 4)))  # amplification by sampling half of the records
BIT = dp.replace_one(n=1, low=0, high=1)


def judge(function: Any, claim: Any, neighbours: Any = PEOPLE, seed: int = 1, samples: int = 500) -> Any:
    return dp.audit(dp.subject(claim=claim, neighbours=neighbours)(function), seed=seed, samples=samples, workers=1)


def of_half(pick: Any, scale: float = 1) -> Any:
    """The noisy sum of five of ten records."""

    def mechanism(data: Any, channel: Any) -> Any:
        return channel.release("s", data[pick(channel)].sum(), dp.Laplace(scale), sensitivity=1)

    return mechanism


PICKS = {
    "secret": lambda channel: np.asarray(channel.secret_permutation(10))[:5],
    "random": lambda _: random.sample(range(10), 5),
    "np.random": lambda _: np.random.permutation(10)[:5],  # noqa: NPY002
}


@pytest.mark.parametrize("kind", PICKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_sampling_that_replay_cannot_repeat_refutes_nothing_and_contradicts_nothing(kind: str, seed: int) -> None:
    """ε = .6202 is the truth. Replay draws other records, and would show a loss of 1 to 5."""
    assert judge(of_half(PICKS[kind]), HALF, seed=seed).verdict == "unproven"


@pytest.mark.parametrize("kind", PICKS)
def test_twin_sampling_with_a_hundredth_of_the_noise_is_refuted_by_the_game(kind: str) -> None:
    verdict = judge(of_half(PICKS[kind], 0.01), HALF)
    assert verdict.verdict == "refuted"
    assert verdict.witness["kind"] == "statistics"


def test_the_doors_own_secret_is_no_finding_and_foreign_randomness_is() -> None:
    assert [f.rule for f in judge(of_half(PICKS["secret"]), HALF).findings] == []
    assert [f.rule for f in judge(of_half(PICKS["random"]), HALF).findings] == ["DPA002"]


@pytest.mark.parametrize("seed", [0, 2])
def test_who_reports_to_a_shuffler_may_be_a_secret_too(seed: int) -> None:
    """5 of 20 report with ε0 = 2, in secret: log(1 + (e²−1)/4) = .9545, not the 2 of a run whose secret is known."""

    def sampled(data: Any, channel: Any) -> None:
        keep = np.asarray(channel.secret_permutation(20))[:5]
        channel.reports("r", (data[keep] > 0.5) * 1.0, dp.RandomizedResponse(2), sensitivity=1, to="shuffled").values  # noqa: B018

    def known(data: Any, channel: Any) -> None:
        channel.reports("r", (data[:5] > 0.5) * 1.0, dp.RandomizedResponse(2), sensitivity=1, to="shuffled").values  # noqa: B018

    claim, people = dp.Claim("0.96", observer="shuffled"), dp.replace_one(n=20, low=0, high=1)
    assert judge(sampled, claim, people, seed, 300).verdict == "unproven"
    assert judge(known, claim, people, seed, 300).verdict == "refuted"


def windowed(data: Any, channel: Any) -> int:
    """The second release asks for the data only where the first output lies outside of two windows."""
    noisy = abs(channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1))
    inside = 0.05 < noisy < 0.95 or 1.05 < noisy < 6
    channel.release("b", data.sum() * (0 if inside else 1), dp.Laplace(1), sensitivity=1)
    return 0


def always(data: Any, channel: Any) -> int:
    channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1)
    channel.release("b", data.sum(), dp.Laplace(1), sensitivity=1)
    return 0


@pytest.mark.parametrize("seed", range(10))
def test_releases_that_hang_on_earlier_ones_are_not_taken_for_independent(seed: int) -> None:
    """δ(1) is .0265 by integration; two independent releases, as in the twin, need more than ε = 1 at δ = .06."""
    claim, pair = dp.Claim("1", "0.06"), (np.zeros(1), np.ones(1))
    hangs, twin = (server_event(dp.subject(claim=claim, neighbours=BIT)(one), claim, *pair, seed) for one in (windowed, always))
    assert hangs is not None
    assert hangs.epsilon <= 1
    assert [position for position, _ in hangs.facts["numbers"]] == [0]
    assert twin is not None
    assert twin.epsilon > 1


def test_a_path_that_changes_so_rarely_that_only_the_game_meets_it_is_a_finding_and_no_failure() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        noisy = channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1)
        channel.release("b", 0 * data.sum(), dp.Laplace(1), sensitivity=1)
        if noisy > 7.5 and isinstance(data, np.ndarray) and data[0] > 0.5:
            channel.release("z", 1, dp.Laplace(1), sensitivity=1)
        return noisy

    verdict = judge(mechanism, dp.Claim("1", "1e-6"), dp.replace_one(n=5, low=0, high=1), samples=2000)
    assert verdict.verdict == "unproven"
    assert [finding.rule for finding in verdict.findings] == ["DPA002"]
