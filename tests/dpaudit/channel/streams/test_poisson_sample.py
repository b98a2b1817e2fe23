"""Poisson samples at the door: secret coins, the conditions of the theorem, and what is charged."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel.streams.poisson_sample import NotSampled
from dpaudit.claims import DpauditError, InvalidValue, Leak
from dpaudit.ledger import MemoryLedger
from dpaudit.sealed.array import seal
from dpaudit.verdict.proof import prove

NOISE = dp.Gaussian(sigma=2)
TWENTY = dp.add_remove(n=20, low=-1, high=1)


def people(**more: Any) -> Any:
    return seal(np.linspace(-1, 1, 20), -1, 1, **{"removal": True, **more})


@contextmanager
def live(**more: Any) -> Iterator[Any]:
    with dp.live(MemoryLedger(kind="deployment"), **more) as channel:
        yield channel


def released(part: Any, value: Any, noise: Any = NOISE) -> Any:
    return part.release("sum", value, noise, sensitivity=1)


def test_every_record_has_its_own_coin() -> None:
    """20,000 coins of rate .3: their number is within 6 standard deviations but for one seed in 10^8, and 1/3 is not."""
    with dp.simulate(1) as channel, channel.sample("0.3") as part:
        size = len(part(np.zeros(20_000)))
    error = 6 * math.sqrt(20_000 * 0.3 * 0.7)
    assert abs(size - 6000) < error < abs(size - 20_000 / 3) + 280
    with live() as channel, channel.sample("0.3") as part:
        assert abs(len(part(np.zeros(20_000))) - 6000) < error


@pytest.mark.parametrize("rate", ["1", "0.5", "1/3"])
def test_arrays_of_the_same_records_meet_the_same_coins(rate: str) -> None:
    with live() as channel, channel.sample(rate) as part:
        ids = np.arange(100)
        assert np.array_equal(part(ids), part(10 * ids) // 10)
        assert (len(part(ids)) == 100) == (rate == "1")
        with pytest.raises(InvalidValue, match="same records"):
            part(np.arange(99))


def test_samples_are_fresh_and_rows_stay_whole() -> None:
    rows = np.arange(200).reshape(100, 2)
    with dp.simulate(1) as channel:
        with channel.sample("0.5") as part:
            first = part(rows)
        with channel.sample("0.5") as part:
            second = part(rows)
    assert first.shape[1] == 2
    assert (first[:, 1] == first[:, 0] + 1).all()
    assert not np.array_equal(first, second)


def test_coins_are_never_pinned() -> None:
    def run(channel: Any) -> Any:
        with channel.sample("0.5") as part:
            return released(part, part(np.arange(100.0)).sum())

    with dp.simulate(1) as first:
        output = run(first)
    with dp.replay(first) as again:
        assert run(again) == output
    (event,), (mirror,) = first.events, again.events
    assert event.hidden
    assert event.query != mirror.query  # equal for one seed of some thousands


@pytest.mark.parametrize("rate", [0, "1.1", -1, "often", True])
def test_a_rate_is_a_probability(rate: Any) -> None:
    with live() as channel, pytest.raises(InvalidValue), channel.sample(rate):
        pass


@pytest.mark.parametrize(("rate", "agrees"), [("0.25", True), ("0.3", False)])
def test_trials_draw_a_sample_each_with_the_law_of_one_run(rate: str, agrees: bool) -> None:
    """40,000 sums of eight ones at rate 1/4 and a twin: means 2 and 2.4, six standard deviations are 0.06."""
    with dp.simulate(1, trials=40_000) as channel, channel.sample(rate) as part:
        rows = part(np.ones((8, 2)))
        assert rows.shape == (40_000, 8, 2)
        assert (rows[..., 0].mask == rows[..., 1].mask).all()  # one coin for each record
        shown = part.release("sum", rows.sum(axis=1), dp.Laplace(1, grid=1), sensitivity=2)
    assert shown.shape == (40_000, 2)
    assert (abs(shown.mean() - 2) < 0.06) == agrees
    singles = []
    for seed in range(400):
        with dp.simulate(seed) as channel, channel.sample("0.25") as part:
            singles.append(part.release("sum", part(np.ones(8)).sum(axis=-1), dp.Laplace(1, grid=1), sensitivity=1))
    assert abs(np.mean(singles) - 2) < 0.6


def test_trials_leave_out_rows_by_products_too_and_take_data_of_each_trial() -> None:
    with dp.simulate(2, trials=30) as channel, channel.sample("0.5") as part:
        same, own = part(np.arange(1.0, 31.0)), part(np.tile(np.arange(1.0, 31.0), (30, 1)), per_trial=True)
        assert (same.filled(-1) == own.filled(-1)).all()
        assert np.allclose(np.asarray(same) @ np.ones(30), same.sum(axis=-1))
        with pytest.raises(InvalidValue, match="per_trial"):
            part(np.ones((29, 30)), per_trial=True)
        with pytest.raises(InvalidValue, match="same records"):
            part(np.ones(29))
        with pytest.raises(InvalidValue, match="sealed"):
            part(people())


def test_a_sampled_subject_with_trials_is_certified_by_its_plan_and_refuted_below() -> None:
    """ε(10^-3) is 0.65; refuting errs once in 10^6."""

    def subject(claimed: str) -> dp.Verdict:
        plan = [dp.Planned("sum", dp.Gaussian(1), 1, sampling="0.1")]

        @dp.subject(claim=dp.Claim(claimed, "1e-3"), neighbours=dp.add_remove(n=5, low=0, high=1), plan=plan)
        def sampled(data, channel, trials):  # type: ignore[no-untyped-def]
            with channel.sample("0.1") as part:
                return part.release("sum", part(data).sum(axis=-1), dp.Gaussian(1), sensitivity=1)

        return dp.audit(sampled, samples=40_000, seed=1)

    assert subject("0.66").verdict == "certified"
    assert subject("0.2").verdict == "refuted"


def test_one_sample_gives_one_release() -> None:
    with live() as channel, channel.sample("0.5") as part:
        total = part(people()).sum()
        released(part, total)
        with pytest.raises(NotSampled, match=r"DPA005.*twice"):
            released(part, total)


def test_replacing_a_record_is_refused() -> None:
    with live() as channel, channel.sample("0.5") as part:
        total = part(people(removal=False)).sum()
        with pytest.raises(NotSampled, match="add or remove"):
            released(part, total)


def test_other_records_may_not_be_in_the_value() -> None:
    data = people()
    with live(proven=True) as channel:
        with channel.sample("0.5") as part, pytest.raises(NotSampled, match="alone"):
            released(part, data.sum())
        with channel.sample("0.5") as part, pytest.raises(DpauditError, match="refused"):
            released(part, part(data).sum() + data.sum())
        with channel.sample("0.5") as part, channel.sample("0.5") as other, pytest.raises(NotSampled, match="alone"):
            released(part, other(data).sum())


def test_a_sample_leaves_by_its_part_only() -> None:
    with live() as channel, channel.sample("0.5") as part:
        total = part(people()).sum()
        with pytest.raises(NotSampled, match="part that drew it"):
            channel.release("sum", total, NOISE, sensitivity=1)
        tree = channel.tree("sums", steps=2, noise=NOISE, sensitivity=1)
        with pytest.raises(NotSampled, match="part that drew it"):
            tree.add(total)
    with pytest.raises(DpauditError, match="inside"):
        released(part, total)


@pytest.mark.parametrize("way", ["reports", "select", "noisy_max", "above", "threshold_counts", "tree", "sample"])
def test_other_ways_out_are_refused_for_samples_with_the_reason(way: str) -> None:
    with live() as channel, channel.sample("0.5") as part:
        assert hasattr(channel, way)
        with pytest.raises(NotSampled, match="gives sums"):
            getattr(part, way)
        assert not hasattr(part, "anything_else")


def test_size_and_members_of_a_sample_stay_sealed() -> None:
    with live() as channel, channel.sample("0.5") as part:
        batch = part(people())
        for look in (len, np.mean, float):
            with pytest.raises(Leak):
                released(part, look(batch))


def test_a_sample_of_a_sample_is_not_proven() -> None:
    with live(proven=True) as channel, channel.sample("0.5") as part, channel.sample("0.5") as inner:
        total = inner(part(people())).sum()
        with pytest.raises(DpauditError, match="proven releases only"):
            released(inner, total)


def test_rows_are_clipped_before_or_after_they_are_drawn() -> None:
    rows = seal(np.ones((20, 3)), -1, 1, removal=True)
    for before in (True, False):
        with live(proven=True) as channel, channel.sample("0.5") as part:
            batch = part(dp.clip_rows(rows, 1)) if before else dp.clip_rows(part(rows), 1)
            assert np.shape(released(part, batch.sum(axis=0))) == (3,)


@pytest.mark.parametrize(
    "value",
    [np.abs, np.square, lambda x: np.clip(x, 0, 1), lambda x: np.where(x > 0, x, 0), lambda x: x * 2 + 1, lambda x: x > 0],
)
def test_every_operation_keeps_the_mark_of_the_sample(value: Any) -> None:
    with live() as channel, channel.sample("0.5") as part:
        total = value(part(people())).sum()
        with pytest.raises(NotSampled, match="part that drew it"):
            channel.release("sum", total, NOISE, sensitivity=9)
        part.release("sum", total, NOISE, sensitivity=9)


def test_counts_keep_the_mark_of_the_sample() -> None:
    with live() as channel, channel.sample("0.5") as part:
        counts = np.bincount(part(people() > 0) * 1, minlength=2)
        with pytest.raises(NotSampled, match="part that drew it"):
            channel.release("counts", counts, NOISE, sensitivity=1)


def test_pure_noise_costs_the_amplified_epsilon() -> None:
    """ln(1 + q(e^ε − 1)), Li, Qardaji, Su 2012; attained by removing the only record, which enumeration shows."""
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget="1") as channel, channel.sample("1/4") as part:
        released(part, part(people()).sum(), dp.Laplace(scale=1, grid=1))
    charged = float(ledger.spent()[0])
    outputs = np.arange(-40, 41)
    without, with_it = (np.exp(-np.abs(outputs - move)) for move in (0, 1))
    mixed = 0.75 * without + 0.25 * with_it
    assert charged == pytest.approx(np.abs(np.log(mixed / without)).max(), rel=1e-9)


def test_the_law_of_a_sampled_release_is_the_mixture() -> None:
    """One record of 1, rate 1/4, noise of scale 1/4 on whole numbers; 1,000 draws, frequencies within 6 deviations."""
    with dp.simulate(3) as channel:
        drawn = []
        for _ in range(1000):
            with channel.sample("1/4") as part:
                drawn.append(released(part, part(np.ones(1)).sum(), dp.Laplace(scale="1/4", grid=1)))
    ones, share = float(np.mean(np.round(drawn) == 1)), math.tanh(2)
    expected = 0.25 * share + 0.75 * share * math.exp(-4)
    assert abs(ones - expected) < 6 * math.sqrt(expected / 1000) < abs(ones - share)


def test_a_zcdp_budget_takes_no_advantage_of_samples() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=("9", "1e-6"), filter="zcdp") as channel, channel.sample("0.5") as part:
        released(part, part(people()).sum())
    twin = MemoryLedger(kind="deployment")
    with dp.live(twin, budget=("9", "1e-6"), filter="zcdp") as channel:
        channel.release("sum", 0, NOISE, sensitivity=1)
    assert ledger.spent() == twin.spent()


def test_entries_whose_parameters_may_follow_outputs_are_not_composed_numerically() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel:
        for _ in range(5):
            with channel.sample("0.1") as part:
                released(part, part(people()).sum())
    summed, composed = (dp.account(ledger, delta="1e-5", fixed=fixed).epsilon for fixed in (False, True))
    alone = dp.account(list(ledger.releases())[:1], delta=Fraction(1, 5 * 10**5)).epsilon
    assert composed < summed
    assert float(summed) == pytest.approx(float(5 * alone), rel=1e-6)


def subject_of(function: Any, *plan: Any) -> Any:
    return dp.subject(claim=dp.Claim("1", "1e-5"), neighbours=TWENTY, plan=list(plan) or None)(function)


def steps_of(data: Any, channel: Any, releases: int = 1) -> Any:
    total = 0.0
    for _ in range(3):
        with channel.sample("0.1") as part:
            for _ in range(releases):
                total += released(part, part(data).sum())
    return total


@pytest.mark.slow
def test_a_plan_of_samples_is_proven_at_the_composed_cost_and_its_twin_is_not() -> None:
    def honest(data: Any, channel: Any) -> Any:
        return steps_of(data, channel)

    def twice(data: Any, channel: Any) -> Any:
        return steps_of(data, channel, 2)

    planned = subject_of(honest, dp.Planned("sum", NOISE, 1, sampling="0.1", count=3))
    proof = prove(planned, planned.claim, 1)
    assert proof.upper is not None
    assert (proof.upper.path, proof.upper.sensitivity, proof.findings) == ("single", "proven", [])
    assert 0.2 < proof.upper.epsilon < 0.7
    assert dp.audit(planned, seed=1, samples=500).verdict == "certified"
    twin = subject_of(twice)
    assert {finding.rule for finding in prove(twin, twin.claim, 1).findings} == {"DPA005"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_does_not_release_from_the_same_coins_again(copied: Any) -> None:
    with live() as channel, channel.sample("0.1") as part:
        value, other = part(people()).sum(), copied(part)
        released(part, value)
        with pytest.raises(NotSampled, match="one sample gives one release"):
            released(other, value)


def test_a_release_of_a_sample_that_was_never_taken_is_no_sampled_one() -> None:
    """Plain data has no trace to tell, but nobody asked for a row of the sample."""

    def whole(data: Any, channel: Any) -> Any:
        with channel.sample("0.1") as part:
            return part.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)

    with dp.live(MemoryLedger(kind="deployment")) as channel, pytest.raises(NotSampled, match="not made of this sample"):
        whole(np.ones(20), channel)
    subject = dp.subject(claim=dp.Claim(epsilon="0.2"), neighbours=dp.add_remove(n=20, low=0, high=1))(whole)
    verdict = dp.audit(subject, samples=300, seed=1)
    assert verdict.verdict == "refuted"
    assert verdict.lower.epsilon == 1
    assert "DPA005" in {finding.rule for finding in verdict.findings}
