"""A user's own bandit behind the audit, in each of the five dialects.

The policies explore two arms in turn for six rounds, add Laplace noise to the difference of the arms' sums, and commit.
Rewards lie in [−1, 1], so one round moves that difference by at most 2: Lap(2/ε) makes the actions ε-DP, and on
the pair "all low, round 0 high or low" the event "arm 1" reaches e^ε exactly. An audit refutes at confidence
1 − 10⁻⁶, so an honest policy fails such a test once in a million seeds; the seeds are fixed.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit as dp
from algorithms.online.wrapper import wrap
from dpaudit.claims import DpauditError, InvalidValue

pytestmark = pytest.mark.slow

HORIZON, EXPLORE = 8, 6
RANGE = {"low": -1, "high": 1, "horizon": HORIZON, "actions": 2}


class Committing:
    """What the four dialects below have in common."""

    def __init__(self, scale: float, rng: np.random.Generator) -> None:
        self.scale, self.rng = scale, rng
        self.start()

    def start(self) -> None:
        self.t, self.difference, self.committed = 0, 0.0, None

    def act(self) -> int:
        if self.t < EXPLORE:
            return self.t % 2
        if self.committed is None:
            noisy = self.difference + (self.rng.laplace(0, self.scale) if self.scale else 0.0)
            self.committed = int(noisy < 0)
        return self.committed

    def see(self, arm: int, reward: float) -> None:
        if self.t < EXPLORE:
            self.difference += reward if arm == 0 else -reward
        self.t += 1


class LikeMABWiser(Committing):
    def predict(self, contexts=None):
        return self.act()

    def partial_fit(self, decisions, rewards, contexts=None):
        for arm, reward in zip(decisions, rewards, strict=True):
            self.see(arm, reward)


class LikeOBP(Committing):
    def select_action(self):
        return np.array([self.act()])

    def update_params(self, action, reward):
        self.see(action, reward)


class LikeSMPyBandits(Committing):
    def startGame(self):
        self.start()

    def choice(self):
        return self.act()

    def getReward(self, arm, reward):
        self.see(arm, reward)


class LikeRiver(Committing):
    def pull(self, arm_ids):
        return arm_ids[self.act()]

    def update(self, arm_id, reward):
        self.see(arm_id, reward)


class LikeOurs(Committing):
    """The face of algorithms.online: a ticket goes out, and comes back with its reward."""

    def select(self):
        return SimpleNamespace(id=str(self.t), action=self.act())

    def update(self, ticket, reward):
        self.see(ticket.action, reward)


DIALECTS = [LikeMABWiser, LikeOBP, LikeSMPyBandits, LikeRiver, LikeOurs]


def factory(dialect, scale):
    return lambda seed: dialect(scale, np.random.default_rng(seed))


def audited(dialect, scale, **more):
    return dp.audit(wrap(factory(dialect, scale), claim="1", **RANGE, **more), samples=1000, seed=11)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_honest_noisy_policy_is_not_refuted(dialect):
    verdict = audited(dialect, scale=2.0)
    assert str(verdict.verdict) == "unproven"
    assert verdict.lower.epsilon > 0.5  # the attack works: it comes near ε = 1 and does not pass it
    assert verdict.claim.observer == "actions"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_policy_without_noise_is_refuted(dialect):
    verdict = audited(dialect, scale=0.0)
    assert str(verdict.verdict) == "refuted"
    assert verdict.lower.epsilon > 3


@pytest.mark.parametrize("relation", ["reward-table", "reward-sequence"])
def test_half_the_noise_is_refuted(relation):
    """The twin of the honest policy: its true ε is 2."""
    verdict = audited(LikeOBP, scale=1.0, neighbours=relation)
    assert str(verdict.verdict) == "refuted"
    assert 1 < verdict.witness["epsilon"] <= 2


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_a_policy_that_ignores_rewards_is_never_refuted_however_rare_its_odd_actions(seed):
    """Arm 1 comes once in 4000 runs in round 0: in one data set's runs that column varies, in the other's not."""

    class Odd:
        def __init__(self, rng):
            self.rng, self.t = rng, 0

        def choice(self):
            return int(self.rng.random() < (1 / 4000 if self.t == 0 else 0.5))

        def getReward(self, arm, reward):
            self.t += 1

    subject = wrap(Odd, claim="1", **{**RANGE, "horizon": 2})
    verdict = dp.audit(subject, samples=2000, seed=seed)
    assert str(verdict.verdict) == "unproven"
    assert verdict.lower.epsilon < 0.5


def test_the_same_seed_and_rewards_replay_the_same_actions():
    subject = wrap(factory(LikeRiver, 2.0), claim="1", **RANGE)
    rewards = np.random.default_rng(0).uniform(-1, 1, (HORIZON, 2))
    runs = [subject(rewards, np.random.default_rng(seed)) for seed in (3, 3, 4, 5, 6, 7, 8, 9)]
    assert runs[0].shape == (HORIZON,)
    assert np.array_equal(runs[0], runs[1])
    assert any(not np.array_equal(runs[0], run) for run in runs[2:])


def test_the_reward_is_that_of_the_action_that_was_played():
    """Arm 1 earns more in every round of the table, so a policy without noise commits to it."""
    table = np.tile([-0.5, 0.5], (HORIZON, 1))
    actions = wrap(factory(LikeOBP, 0.0), claim="1", **RANGE)(table, np.random.default_rng(0))
    assert actions.tolist() == [0, 1, 0, 1, 0, 1, 1, 1]
    swapped = wrap(factory(LikeOBP, 0.0), claim="1", **RANGE)(table[:, ::-1], np.random.default_rng(0))
    assert swapped.tolist() == [0, 1, 0, 1, 0, 1, 0, 0]


def test_rewards_are_clipped_to_the_declared_range_or_refused_without_showing_them():
    wild, calm = np.zeros((HORIZON, 2)), np.zeros((HORIZON, 2))
    wild[0, 0], calm[0, 0], calm[1:6:2, 1] = 12345.0, 1.0, 0.5  # clipped to 1, arm 0 is behind arm 1's 1.5
    wild[1:6:2, 1] = 0.5
    clipping = wrap(factory(LikeOBP, 0.0), claim="1", **RANGE)
    rng = np.random.default_rng(0)
    assert np.array_equal(clipping(wild, rng), clipping(calm, rng))
    assert clipping(wild, rng)[-1] == 1  # unclipped it would be arm 0
    refusing = wrap(factory(LikeOBP, 0.0), claim="1", clip=False, **RANGE)
    assert np.array_equal(refusing(calm, rng), clipping(calm, rng))
    with pytest.raises(InvalidValue, match="rewards must be between -1 and 1") as caught:
        refusing(wild, rng)
    assert "12345" not in str(caught.value)
    with pytest.raises(InvalidValue):
        refusing(np.full((HORIZON, 2), np.nan), rng)


def test_an_object_is_started_again_by_its_own_or_a_given_reset():
    with pytest.raises(InvalidValue, match="reset must be given"):
        wrap(LikeOBP(0.0, np.random.default_rng(0)), claim="1", **RANGE)
    policy = LikeOBP(0.0, np.random.default_rng(0))
    own = LikeSMPyBandits(0.0, np.random.default_rng(0))
    for subject in (
        wrap(policy, claim="1", reset=lambda seed: policy.start(), **RANGE),
        wrap(own, claim="1", **RANGE),
    ):
        table = np.tile([-0.5, 0.5], (HORIZON, 1))
        rng = np.random.default_rng(1)
        assert subject(table, rng).tolist() == [0, 1, 0, 1, 0, 1, 1, 1]
        assert subject(table[:, ::-1], rng).tolist() == [0, 1, 0, 1, 0, 1, 0, 0]  # nothing was remembered
    forgetful = wrap(policy, claim="1", reset=lambda seed: None, **RANGE)  # the twin: it does remember
    assert forgetful(table, rng).tolist() == [0] * HORIZON


def test_policies_on_the_global_generators_replay_and_leave_them_as_they_were():
    class Global(LikeRiver):
        def act(self):
            return int(np.random.random() + random.random() < 1)  # noqa: NPY002

    subject = wrap(lambda: Global(0.0, None), claim="1", **RANGE)
    table = np.zeros((HORIZON, 2))
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    runs = [subject(table, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2, 3)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2] or runs[0] != runs[3]
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_contexts_reach_the_policy_in_either_order_of_arguments():
    seen = []

    class LikeContextualBandits:
        def predict(self, X):
            return np.array([int(X[0, 0] > 0)])

        def partial_fit(self, X, a, r):
            seen.append((X.shape, float(X[0, 0]), int(a[0]), float(r[0])))

    contexts = np.linspace(-1, 1, HORIZON)[:, None]
    subject = wrap(LikeContextualBandits, claim="1", contexts=contexts, **RANGE)
    table = np.tile([0.25, 0.75], (HORIZON, 1))
    assert subject(table, np.random.default_rng(0)).tolist() == [0] * 4 + [1] * 4
    assert seen[-1] == ((1, 1), 1.0, 1, 0.75)
    with pytest.raises(InvalidValue, match=f"contexts must be one for each of the {HORIZON} rounds, not {HORIZON - 1}"):
        wrap(LikeContextualBandits, claim="1", contexts=contexts[1:], **RANGE)
    with pytest.raises(InvalidValue, match=r"contexts must be given: predict\(\) needs X"):
        wrap(LikeContextualBandits, claim="1", **RANGE)


def test_named_actions_and_older_river_generators_are_understood():
    class Yielding(LikeRiver):
        def pull(self, arm_ids):
            yield arm_ids[self.act()]

        def update(self, arm_id, reward):
            self.see(["left", "right"].index(arm_id), reward)

    subject = wrap(factory(Yielding, 0.0), claim="1", **{**RANGE, "actions": ["left", "right"]})
    table = np.tile([-0.5, 0.5], (HORIZON, 1))
    assert subject(table, np.random.default_rng(0)).tolist() == [0, 1, 0, 1, 0, 1, 1, 1]


class MustSeeFirst(LikeMABWiser):
    """As MABWiser's: asked before it was given a reward, it fails."""

    def predict(self, contexts=None):
        if self.t == 0:
            raise Exception("Call fit before prediction")
        return self.act()


def test_a_policy_that_must_see_rewards_first_is_given_its_opening():
    table = np.tile([-0.5, 0.5], (HORIZON, 1))
    subject = wrap(factory(MustSeeFirst, 0.0), claim="1", **RANGE)
    with pytest.raises(DpauditError, match=r"Call fit before prediction\); if it must see some first, give opening="):
        subject(table, np.random.default_rng(0))
    opened = wrap(factory(MustSeeFirst, 0.0), claim="1", opening=[1, 1], **RANGE)
    assert opened(table, np.random.default_rng(0)).tolist() == [1, 1, 0, 1, 0, 1, 1, 1]
    named = wrap(factory(LikeOBP, 0.0), claim="1", **{**RANGE, "actions": np.array([0, 1])}, opening=np.array([0]))
    assert named(table, np.random.default_rng(0)).tolist() == [0, 1, 0, 1, 0, 1, 1, 1]
    for wrong in ([2], [0] * (HORIZON + 1)):
        with pytest.raises(InvalidValue, match=f"opening must be at most {HORIZON} of the 2 actions"):
            wrap(factory(MustSeeFirst, 0.0), claim="1", opening=wrong, **RANGE)
    with pytest.raises(InvalidValue, match="the tickets that it hands out itself"):
        wrap(factory(LikeOurs, 0.0), claim="1", opening=[0], **RANGE)


def test_no_policy_is_given_the_seed_0():
    """Which contextualbandits refuses."""
    seeds = []

    def make(seed):
        seeds.append(seed)
        return LikeOBP(0.0, np.random.default_rng(seed))

    class Zero(np.random.Generator):
        def integers(self, *limits):
            return 0

    wrap(make, claim="1", **RANGE)(np.zeros((HORIZON, 2)), Zero(np.random.PCG64(0)))
    assert len(seeds) == 2
    assert min(seeds) > 0


def test_what_is_missing_is_named():
    class Half:
        def predict(self): ...

    class OtherHalf:
        def update_params(self, action, reward): ...

    class Nothing: ...

    with pytest.raises(InvalidValue, match=r"it has predict\(\) but no partial_fit\(\)"):
        wrap(Half, claim="1", **RANGE)
    with pytest.raises(InvalidValue, match=r"it has update_params\(\) but no select_action\(\)"):
        wrap(OtherHalf, claim="1", **RANGE)
    with pytest.raises(InvalidValue, match="one of the pairs of methods predict/partial_fit, select_action"):
        wrap(Nothing, claim="1", **RANGE)
    with pytest.raises(InvalidValue, match="needs scale"):
        wrap(LikeOBP, claim="1", **RANGE)
    with pytest.raises(InvalidValue, match="one of reward-table, reward-sequence"):
        wrap(factory(LikeOBP, 1.0), claim="1", neighbours="rewards", **RANGE)


@pytest.mark.parametrize(
    ("low", "high"), [(1, -1), (0, 0), ("nan", 1), (float("inf"), 1)], ids=["swapped", "empty", "nan", "inf"]
)
def test_a_reward_range_is_needed_and_checked(low, high):
    with pytest.raises(InvalidValue):
        wrap(factory(LikeOBP, 1.0), claim="1", **{**RANGE, "low": low, "high": high})
    with pytest.raises(TypeError):
        wrap(factory(LikeOBP, 1.0), claim="1", horizon=HORIZON, actions=2)


def test_an_action_outside_the_set_is_an_error():
    class Wild(LikeRiver):
        def pull(self, arm_ids):
            return 7

    subject = wrap(factory(Wild, 1.0), claim="1", **RANGE)
    with pytest.raises(DpauditError, match="none of its 2 actions"):
        subject(np.zeros((HORIZON, 2)), np.random.default_rng(0))


class Grey(Committing):
    """The same policy, whose noise comes from the door."""

    def __init__(self, channel, scale):
        self.channel = channel
        super().__init__(scale, None)

    def pull(self, arm_ids):
        return arm_ids[self.act()]

    def act(self):
        if self.t == EXPLORE:
            noisy = self.channel.release("difference", self.difference, dp.Laplace(self.scale), sensitivity=2)
            self.committed = int(noisy < 0)
        return self.t % 2 if self.t < EXPLORE else self.committed

    def update(self, arm_id, reward):
        self.see(arm_id, reward)


@pytest.mark.parametrize("observer", ["server", "actions"])
def test_a_policy_that_takes_a_channel_is_certified(observer):
    subject = wrap(lambda channel: Grey(channel, 2), claim="1", observer=observer, **RANGE)
    verdict = dp.audit(subject, samples=200, seed=3)
    assert str(verdict.verdict) == "certified"
    assert verdict.upper.epsilon == 1
    assert verdict.upper.sensitivity == "proven"


def test_a_policy_that_takes_a_channel_is_refuted_at_half_the_noise():
    subject = wrap(lambda channel: Grey(channel, 1), claim="1", observer="server", **RANGE)
    verdict = dp.audit(subject, samples=200, seed=3)
    assert str(verdict.verdict) == "refuted"
    assert verdict.lower.epsilon == 2


def test_a_policy_that_decides_on_a_sealed_reward_is_found_out():
    class Peeking(Grey):
        def see(self, arm, reward):
            super().see(arm, reward)
            if reward > 0:
                self.difference = self.difference + 0

    subject = wrap(lambda channel: Peeking(channel, 2), claim="1", observer="server", **RANGE)
    verdict = dp.audit(subject, samples=200, seed=3)
    assert str(verdict.verdict) == "unproven"
    assert "DPA002" in {finding.rule for finding in verdict.findings}
