"""The mechanisms that the contract's examples judge: each honest one has a wrong twin.

All are about 100 rewards in [−1, 1], so one reward moves their sum by 2 and Lap(2) costs exactly ε = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

rewards_100 = dp.replace_one(n=100, low=-1, high=1)
one_reward = dp.replace_one(n=1, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def noisy_sum(rewards: Any, channel: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def half_noise(rewards: Any, channel: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def noisy_sums(rewards: Any, channel: Any, trials: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def half_noises(rewards: Any, channel: Any, trials: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1/2"), neighbours=rewards_100)
def small_sensitivity(rewards: Any, channel: Any) -> Any:
    """Declares 1 where one reward moves the sum by 2: as declared ε = 1/2, in truth 1."""
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def two_halves(rewards: Any, channel: Any) -> Any:
    """Two disjoint cohorts at ε = 1 each: together ε = 1, not 2."""
    first = channel.release("first", rewards[:50].sum(), dp.Laplace(scale=2), sensitivity=2, cohort=range(50))
    rest = channel.release("rest", rewards[50:].sum(), dp.Laplace(scale=2), sensitivity=2, cohort=range(50, 100))
    return first + rest


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def branches(rewards: Any, channel: Any) -> Any:
    """The scale depends on the data: the door cannot see that."""
    scale = 2 if rewards.sum() > 0 else 4
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=scale), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def returns_raw(rewards: Any, channel: Any) -> Any:
    """Releases with noise and then returns the exact sum beside the door."""
    channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)
    return rewards.sum()


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def own_randomness(rewards: Any, channel: Any) -> Any:
    """Draws a release parameter from a generator that the channel does not know."""
    scale = 2 + float(np.random.default_rng().random())
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=scale), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def public_randomness(rewards: Any, channel: Any) -> Any:
    """The same with the channel's public randomness, which is recorded."""
    scale = 2 + int(channel.rng.integers(0, 3))
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=scale), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def adaptive(rewards: Any, channel: Any) -> Any:
    """The second scale depends on the first output; its worst path costs 1, but only some are observed."""
    first = channel.release("first", rewards.sum(), dp.Laplace(scale=4), sensitivity=2)
    return channel.release("second", rewards.sum(), dp.Laplace(scale=4 if first > 0 else 8), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def overspends(rewards: Any, channel: Any) -> Any:
    """The same with a path, taken one time in four, that costs 1.5."""
    first = channel.release("first", rewards.sum(), dp.Laplace(scale=4), sensitivity=2)
    gap = first - 4 * round(float(first) / 4)
    return channel.release("second", rewards.sum(), dp.Laplace(scale=2 if gap > 1 else 4), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def median(rewards: Any, channel: Any) -> Any:
    """Honest, but through an operation that is not traced."""
    return channel.release("median", np.median(rewards), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1", observer="actions"), neighbours=rewards_100)
def silent(rewards: Any, channel: Any) -> None:
    """Costs ε = 2 for the server, but plays nothing in public."""
    channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1", observer="actions"), neighbours=rewards_100)
def loud(rewards: Any, channel: Any) -> Any:
    """Its twin: plays what it released."""
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=rewards_100)
def black_box(rewards: Any, rng: Any) -> Any:
    return float(rewards.sum() + rng.laplace(scale=2))


@dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=rewards_100)
def black_box_half_noise(rewards: Any, rng: Any) -> Any:
    return float(rewards.sum() + rng.laplace(scale=1))


@dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=rewards_100)
def black_boxes_half_noise(rewards: Any, rng: Any, trials: Any) -> Any:
    return rewards.sum() + rng.laplace(scale=1, size=trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=one_reward)
def spells_it_out(rewards: Any, rng: Any) -> Any:
    """A black box without noise that returns a string."""
    return "gain" if rewards.sum() > 0 else "loss"


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_100)
def breaks(rewards: Any, channel: Any) -> Any:
    raise RuntimeError("this mechanism is broken")
