"""The door: live, simulated and replayed; shapes, grid, cohorts, budget, reports."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp

GRID = 2.0**-20
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3)]


def ledger_in(folder: Path) -> Any:
    return dp.open_ledger(folder / "today.ledger")


def on_grid(values: Any) -> bool:
    units = np.asarray(values, dtype=float) / GRID
    return bool(np.all(units == np.round(units)))


@pytest.mark.parametrize("shape", SHAPES)
def test_one_live_release_keeps_the_shape_of_its_value(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with dp.live(ledger_in(tmp_path)) as channel:
        assert channel.trials is None
        noisy = channel.release("sum", np.zeros(shape)[()], dp.Laplace(scale=2), sensitivity=2)
    assert np.shape(noisy) == shape
    assert np.all(np.isfinite(noisy))
    assert on_grid(noisy)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_simulated_release_keeps_the_shape_of_its_value(shape: tuple[int, ...]) -> None:
    with dp.simulate(seed=1) as channel:
        assert channel.trials is None
        noisy = channel.release("sum", np.zeros(shape)[()], dp.Laplace(scale=2), sensitivity=2)
    assert np.shape(noisy) == shape
    assert on_grid(noisy)


@pytest.mark.parametrize("shape", SHAPES)
def test_many_trials_return_trials_as_the_first_axis(shape: tuple[int, ...]) -> None:
    with dp.simulate(seed=1, trials=5) as channel:
        assert channel.trials == 5
        noisy = channel.release("sum", np.zeros((5, *shape)), dp.Laplace(scale=2), sensitivity=2)
    assert np.shape(noisy) == (5, *shape)
    assert len(np.unique(noisy)) == np.size(noisy)  # every trial and coordinate has its own noise


def test_a_scalar_is_broadcast_over_the_trials() -> None:
    with dp.simulate(seed=1, trials=5) as channel:
        noisy = channel.release("sum", 7.0, dp.Laplace(scale=2), sensitivity=2)
    assert np.shape(noisy) == (5,)
    assert len(np.unique(noisy)) == 5


@pytest.mark.parametrize(
    ("family", "parameters"),
    [("Laplace", {"scale": 2}), ("Gaussian", {"sigma": 2}), ("RandomizedResponse", {"epsilon": "1"})],
)
def test_every_noise_of_the_design_goes_through_the_door(tmp_path: Path, family: str, parameters: dict[str, Any]) -> None:
    noise = getattr(dp, family)(**parameters)
    with dp.live(ledger_in(tmp_path)) as channel:
        live = channel.release("bit", 1, noise, sensitivity=1)
    with dp.simulate(seed=1, trials=200) as channel:
        simulated = channel.release("bit", 1, noise, sensitivity=1)
    assert np.shape(live) == ()
    assert np.shape(simulated) == (200,)
    assert (set(np.unique(simulated)) == {0, 1}) == (family == "RandomizedResponse")


@pytest.mark.parametrize("family", ["UnaryResponse", "OptimizedUnaryResponse"])
def test_a_unary_encoding_releases_the_bits_of_a_category(tmp_path: Path, family: str) -> None:
    noise = getattr(dp, family)(epsilon="1", k=4)
    with dp.live(ledger_in(tmp_path), budget=dp.Claim("1")) as channel:
        live = channel.release("colour", 2, noise, sensitivity=1)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("again", 2, noise, sensitivity=1)
    with dp.simulate(seed=1, trials=200) as channel:
        simulated = channel.release("colour", 2, noise, sensitivity=1)
    assert np.shape(live) == (4,)
    assert np.shape(simulated) == (200, 4)
    assert set(np.unique(simulated)) == {0, 1}


def test_a_seed_repeats_a_simulation_and_another_does_not() -> None:
    def draw(seed: int) -> Any:
        with dp.simulate(seed, trials=10) as channel:
            return channel.release("sum", 0.0, dp.Laplace(scale=2), sensitivity=2)

    assert np.array_equal(draw(1), draw(1))
    assert not np.array_equal(draw(1), draw(2))


def test_two_live_doors_draw_different_noise(tmp_path: Path) -> None:
    with dp.live(ledger_in(tmp_path)) as channel:
        first = channel.release("sum", np.zeros(20), dp.Laplace(scale=2), sensitivity=2)
    with dp.live(dp.open_ledger(tmp_path / "other.ledger")) as channel:
        second = channel.release("sum", np.zeros(20), dp.Laplace(scale=2), sensitivity=2)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(("scale", "agrees"), [(2.0, True), (2.2, False), (1.8, False)])
def test_simulated_laplace_has_the_mean_size_of_its_scale(scale: float, agrees: bool) -> None:
    """E|Lap(b)| = b with standard deviation b. Five standard errors: 6e-7; seed fixed."""
    count = 20_000
    with dp.simulate(seed=20, trials=count) as channel:
        noise = channel.release("sum", 0.0, dp.Laplace(scale=scale), sensitivity=2)
    error = 2.0 / np.sqrt(count)
    assert bool(abs(np.mean(np.abs(noise)) - 2.0) <= 5 * error) is agrees


def test_live_and_simulated_laplace_agree_in_mean_size(tmp_path: Path) -> None:
    """One live release of 20,000 coordinates. Five standard errors: wrong with probability 6e-7."""
    with dp.live(ledger_in(tmp_path)) as channel:
        noise = channel.release("sums", np.zeros(20_000), dp.Laplace(scale=2), sensitivity=2)
    error = 2.0 / np.sqrt(20_000)
    assert abs(np.mean(np.abs(noise)) - 2.0) <= 5 * error
    assert abs(np.mean(np.abs(noise)) - 2.2) > 5 * error


def test_scale_and_sensitivity_may_differ_between_trials() -> None:
    """Trial 0 at scale 1/100, trial 1 at 100: their mean sizes over 1,000 coordinates cannot be confused."""
    scales = np.array([0.01, 100.0])
    with dp.simulate(seed=4, trials=2) as channel:
        noise = channel.release("sums", np.zeros((2, 1000)), dp.Laplace(scale=scales), sensitivity=np.array([1.0, 2.0]))
    sizes = np.mean(np.abs(noise), axis=1)
    assert np.all(np.abs(sizes / scales - 1) < 0.2)  # 6 standard errors


def test_at_is_the_same_door_for_a_subset_of_the_trials() -> None:
    with dp.simulate(seed=4, trials=4) as channel:
        part = channel.at(np.array([1, 3]))
        assert part.trials == 2
        noisy = part.release("sum", np.array([10.0, 30.0]), dp.Laplace(scale="0.001"), sensitivity=2)
        everyone = channel.release("sum again", np.zeros((4, 2)), dp.Laplace(scale=2), sensitivity=2)
    assert np.shape(noisy) == (2,)
    assert np.allclose(noisy, [10, 30], atol=0.1)  # P(|Lap(.001)| > .1) = e^-100
    assert np.shape(everyone) == (4, 2)


def test_public_randomness_comes_from_the_seed() -> None:
    def draw(seed: int) -> list[int]:
        with dp.simulate(seed) as channel:
            return [int(channel.rng.integers(0, 1000)) for _ in range(5)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_a_live_release_of_rewards_costs_exactly_one(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        channel.release("sum", 12.0, dp.Laplace(scale=2), sensitivity=2)
    assert dp.account(ledger).epsilon == Fraction(1)


def test_sensitivity_is_charged_outward_to_the_grid(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        channel.release("sum", 0.0, dp.Laplace(scale=1), sensitivity="1/3")
    charged = dp.account(ledger).epsilon
    assert Fraction(1, 3) <= charged <= Fraction(1, 3) + Fraction(2, 2**20)


@pytest.mark.parametrize(
    ("first", "second", "cost"),
    [
        (range(50), range(50, 100), 1),
        (range(51), range(50, 100), 2),
        (None, None, 2),
        ([1, 2], [3], 1),
        ([1, 2], [2], 2),
    ],
)
def test_disjoint_cohorts_cost_their_maximum_and_others_their_sum(tmp_path: Path, first: Any, second: Any, cost: int) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        channel.release("first", 0.0, dp.Laplace(scale=2), sensitivity=2, cohort=first)
        channel.release("second", 0.0, dp.Laplace(scale=2), sensitivity=2, cohort=second)
    assert dp.account(ledger).epsilon == cost


def test_a_release_over_budget_is_refused_and_leaves_no_record(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        channel.release("first", 0.0, dp.Laplace(scale=2), sensitivity=2)
        with pytest.raises(dp.BudgetExceeded, match="DPA001"):
            channel.release("second", 0.0, dp.Laplace(scale=2), sensitivity=2)
    assert dp.account(ledger).epsilon == 1
    assert len(dp.account(ledger).lines) == 1


def test_a_budget_may_be_spent_to_its_last_tenth(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        for index in range(10):
            channel.release(f"tenth {index}", 0.0, dp.Laplace(scale=20), sensitivity=2)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("one more", 0.0, dp.Laplace(scale=1000), sensitivity=2)
    assert dp.account(ledger).epsilon == 1


def test_a_budget_is_per_record(tmp_path: Path) -> None:
    with dp.live(ledger_in(tmp_path), budget=dp.Claim(epsilon="1")) as channel:
        channel.release("first", 0.0, dp.Laplace(scale=2), sensitivity=2, cohort=range(50))
        channel.release("second", 0.0, dp.Laplace(scale=2), sensitivity=2, cohort=range(50, 100))
        with pytest.raises(dp.BudgetExceeded):
            channel.release("third", 0.0, dp.Laplace(scale=2), sensitivity=2, cohort=[99])


def test_an_over_budget_message_tells_nothing_about_the_value(tmp_path: Path) -> None:
    with (
        dp.live(ledger_in(tmp_path), budget=dp.Claim(epsilon="1/2")) as channel,
        pytest.raises(dp.BudgetExceeded) as refused,
    ):
        channel.release("sum", 86753.09, dp.Laplace(scale=2), sensitivity=2)
    assert "86753" not in str(refused.value) + repr(refused.value)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "two"])
def test_noise_without_a_scale_is_refused(scale: Any) -> None:
    with pytest.raises(dp.DpauditError):
        dp.Laplace(scale=scale)


@pytest.mark.parametrize("sensitivity", [-1, float("nan"), float("inf"), "two"])
def test_a_sensitivity_that_is_not_one_is_refused(sensitivity: Any) -> None:
    with dp.simulate(seed=1) as channel, pytest.raises(dp.DpauditError):
        channel.release("sum", 0.0, dp.Laplace(scale=2), sensitivity=sensitivity)


def test_sensitivity_must_be_declared_by_keyword() -> None:
    with dp.simulate(seed=1) as channel:
        with pytest.raises(TypeError):
            channel.release("sum", 0.0, dp.Laplace(scale=2))
        with pytest.raises(TypeError):
            channel.release("sum", 0.0, dp.Laplace(scale=2), 2)


# 40 clients hold 0, 1, …, 39, out of order; noise of scale .001 leaves each value recognisable.
CLIENTS = 40
HELD = np.arange(CLIENTS) * 7.0 % CLIENTS
PARITY = np.arange(CLIENTS) % 2


def reports(channel: Any, to: str, scale: Any = "0.001") -> Any:
    return channel.reports("reward", HELD, dp.Laplace(scale=scale), sensitivity=CLIENTS - 1, cohort=range(CLIENTS), to=to)


def test_live_reports_to_the_server_arrive_in_order_and_sum_by_group(tmp_path: Path) -> None:
    with dp.live(ledger_in(tmp_path)) as channel:
        batch = reports(channel, "server")
        values, sums = np.asarray(batch.values), batch.sum(PARITY)
    assert np.array_equal(np.round(values), HELD)
    assert np.allclose(sums, [values[0::2].sum(), values[1::2].sum()], atol=1e-9)


def test_live_reports_through_the_shuffler_are_permuted(tmp_path: Path) -> None:
    with dp.live(ledger_in(tmp_path)) as channel:
        arrived = np.round(reports(channel, "shuffled").values)
    assert sorted(arrived) == sorted(HELD)
    assert not np.array_equal(arrived, HELD)  # 1 in 40! by chance


def test_simulated_reports_through_the_shuffler_are_permuted() -> None:
    with dp.simulate(seed=6) as channel:
        arrived = np.round(reports(channel, "shuffled").values)
    assert sorted(arrived) == sorted(HELD)
    assert not np.array_equal(arrived, HELD)


def test_each_live_report_is_charged_to_its_client_alone(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        reports(channel, "server", scale=CLIENTS - 1)
    assert dp.account(ledger).epsilon == 1


def test_a_shuffled_batch_is_one_release_and_never_costs_more_than_a_report(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        reports(channel, "shuffled", scale=CLIENTS - 1)
    bound = dp.account(ledger)
    assert len(bound.lines) == 1
    assert bound.lines[0].n == CLIENTS
    assert bound.lines[0].epsilon0 == 1
    assert "shuffled" in bound.per_observer
    assert bound.epsilon <= 1


def test_simulated_reports_give_values_and_sums() -> None:
    with dp.simulate(seed=6) as channel:
        batch = reports(channel, "server")
        assert np.array_equal(np.round(batch.values), HELD)
    with dp.simulate(seed=6) as channel:
        sums = reports(channel, "server").sum(PARITY)
    assert np.shape(sums) == (2,)
    assert np.allclose(sums, [HELD[0::2].sum(), HELD[1::2].sum()], atol=0.1)  # 20 noises of scale .001


def test_simulated_reports_have_trials_as_the_first_axis() -> None:
    with dp.simulate(seed=6, trials=3) as channel:
        values = channel.reports(
            "reward", np.tile(HELD, (3, 1)), dp.Laplace(scale="0.001"), sensitivity=39, cohort=range(CLIENTS)
        ).values
        sums = channel.reports(
            "again", np.tile(HELD, (3, 1)), dp.Laplace(scale="0.001"), sensitivity=39, cohort=range(CLIENTS)
        ).sum(PARITY)
    assert np.array_equal(np.round(values), np.tile(HELD, (3, 1)))
    assert np.shape(sums) == (3, 2)


@pytest.mark.parametrize(("scale", "agrees"), [(1.0, True), (1.2, False)])
def test_simulated_sums_have_the_law_of_a_sum_of_reports(scale: float, agrees: bool) -> None:
    """Var Σ of 40 Lap(b) = 80b², excess kurtosis 3/40. Five standard errors: 6e-7; seed fixed."""
    trials = 20_000
    with dp.simulate(seed=9, trials=trials) as channel:
        batch = channel.reports("reward", np.zeros((trials, 40)), dp.Laplace(scale=scale), sensitivity=2, cohort=range(40))
        sums = np.asarray(batch.sum(np.zeros(40, dtype=int))).reshape(trials)
    error = 80 * np.sqrt((2 + 3 / 40) / trials)
    assert bool(abs(np.var(sums) - 80) <= 5 * error) is agrees


def pinned(channel: Any, outputs: list[Any]) -> Any:
    """A transcript of what left the door: the channel's own where it keeps one, else the ordered outputs."""
    kept = getattr(channel, "transcript", None)
    return outputs if kept is None else kept() if callable(kept) else kept


def test_replay_pins_the_outputs_whatever_the_data() -> None:
    def policy(rewards: Any, channel: Any) -> list[float]:
        first = channel.release("first", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)
        second = channel.release("second", rewards.sum() * 0.5, dp.Laplace(scale=2), sensitivity=1)
        return [float(first), float(second)]

    with dp.simulate(seed=8) as channel:
        outputs = policy(np.ones(10), channel)
    with dp.replay(pinned(channel, outputs)) as channel:
        assert policy(np.ones(10), channel) == outputs
    with dp.replay(pinned(channel, outputs)) as channel:
        assert policy(-np.ones(10), channel) == outputs
    with dp.simulate(seed=8) as channel:
        assert policy(-np.ones(10), channel) != outputs


# Selection: an index leaves the door, never a score. Scores 40 apart at ε = 1 and Δ = 1 leave e^-20 for any other candidate.
FAR_APART = [0.0, 40.0, -40.0]


@pytest.mark.parametrize("method", ["exponential", "permute-and-flip"])
def test_select_gives_the_index_of_a_good_score_and_costs_its_epsilon(tmp_path: Path, method: str) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        best = channel.select("best", FAR_APART, epsilon="1", sensitivity=1, method=method)
        with pytest.raises(dp.BudgetExceeded):
            channel.select("again", FAR_APART, epsilon="0.1", sensitivity=1)
    assert (best, type(best)) == (1, int)
    assert dp.account(ledger).epsilon == 1


def test_noisy_max_gives_an_index_and_costs_twice_the_sensitivity_over_the_scale(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger) as channel:
        best = channel.noisy_max("best", FAR_APART, dp.Laplace(scale=2), sensitivity=1)
        with pytest.raises(dp.DpauditError):
            channel.noisy_max("best", FAR_APART, dp.Gaussian(sigma=2), sensitivity=1)
    assert (best, type(best)) == (1, int)
    assert dp.account(ledger).epsilon == 1


def test_above_answers_until_its_last_positive_and_costs_epsilon_in_all(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        gate = channel.above("gate", epsilon="1", sensitivity=1, threshold=100, positives=2)
        answers = [gate.ask(value) for value in (-400.0, 600.0, -400.0, 600.0)]
        with pytest.raises(dp.DpauditError, match="gate"):
            gate.ask(0.0)
    assert answers == [False, True, False, True]  # noise of scale 8 against 500: e^-60
    assert dp.account(ledger).epsilon == 1


def test_selection_has_trials_as_its_first_axis_and_is_replayed() -> None:
    def policy(scores: Any, channel: Any) -> list[Any]:
        best = channel.select("best", scores, epsilon="1", sensitivity=1)
        other = channel.noisy_max("other", scores, dp.Laplace(scale=2), sensitivity=1)
        gate = channel.above("gate", epsilon="1", sensitivity=1, threshold=0)
        return [best, other, gate.ask(scores[..., 0])]

    with dp.simulate(seed=3, trials=50) as channel:
        many = policy(np.zeros((50, 3)), channel)
    assert [np.shape(part) for part in many] == [(50,)] * 3
    assert set(np.unique(many[0])) <= {0, 1, 2}
    with dp.simulate(seed=3) as channel:
        outputs = policy(np.zeros(3), channel)
    with dp.replay(channel.transcript) as again:
        assert policy(np.array([9.0, -9.0, 0.0]), again) == outputs


# --- running sums by a binary tree ---


def test_a_tree_gives_the_running_sum_after_each_value() -> None:
    with dp.simulate(seed=1) as channel:
        tree = channel.tree("count", steps=5, noise=dp.Laplace(scale=1e-4), sensitivity=1)
        sums = [tree.add(value) for value in (1, 0, 1, 1, 0)]
    assert np.round(sums).tolist() == [1, 1, 2, 3, 3]
    assert on_grid(sums)
    with pytest.raises(dp.DpauditError, match="5 steps"):
        tree.add(1)


@pytest.mark.parametrize(("steps", "cost"), [(1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11)])
def test_a_tree_is_charged_once_for_all_its_steps_when_it_is_opened(tmp_path: Path, steps: int, cost: int) -> None:
    with ledger_in(tmp_path) as ledger, dp.live(ledger, budget=str(cost)) as channel:
        tree = channel.tree("count", steps=steps, noise=dp.Laplace(scale=2), sensitivity=2)
        assert ledger.spent()[0] == cost
        tree.add(1)
        assert ledger.spent()[0] == cost
        assert dp.account(ledger).epsilon == cost


def test_a_tree_over_budget_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger, dp.live(ledger, budget="2.99") as channel:
        with pytest.raises(dp.BudgetExceeded):
            channel.tree("count", steps=4, noise=dp.Laplace(scale=2), sensitivity=2)
        assert ledger.spent()[0] == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tree_keeps_the_shape_of_its_values(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with dp.live(ledger_in(tmp_path)) as channel:
        tree = channel.tree("sum", steps=2, noise=dp.Gaussian(sigma=2), sensitivity=1)
        assert np.shape(tree.add(np.zeros(shape)[()])) == shape
    with dp.simulate(seed=1, trials=5) as channel:
        tree = channel.tree("sum", steps=2, noise=dp.Gaussian(sigma=2), sensitivity=1)
        assert np.shape(tree.add(np.zeros((5, *shape)))) == (5, *shape)


def test_a_replayed_tree_gives_the_same_sums_on_other_data() -> None:
    def run(channel: Any, value: int) -> list[float]:
        tree = channel.tree("count", steps=4, noise=dp.Laplace(scale=2), sensitivity=1)
        return [float(tree.add(value)) for _ in range(4)]

    with dp.simulate(seed=1) as first:
        sums = run(first, 0)
    with dp.replay(first) as again:
        assert run(again, 1) == sums


# --- Poisson samples whose coins nobody sees ---


def test_what_a_part_releases_is_charged_as_sampled(tmp_path: Path) -> None:
    data = dp.seal(np.ones(20), -1, 1, removal=True)
    with ledger_in(tmp_path) as ledger, dp.live(ledger, budget=("2", "1e-5"), proven=True) as channel:
        with channel.sample("0.04") as part:
            noisy = part.release("sum", part(data).sum(), dp.Gaussian(sigma="1.5"), sensitivity=1)
        assert np.shape(noisy) == ()
        (release,) = ledger.releases()
        assert (release.sampling, release.derived) == ("0.04", 1)
        sampled = dp.account(ledger).epsilon
    with dp.open_ledger(tmp_path / "all.ledger") as ledger, dp.live(ledger, budget=("9", "1e-5")) as channel:
        channel.release("sum", 1.0, dp.Gaussian(sigma="1.5"), sensitivity=1)
        assert sampled < dp.account(ledger).epsilon / 3


def test_a_plan_of_samples_costs_what_is_written_by_hand(tmp_path: Path) -> None:
    plan = [dp.Planned("sum", dp.Gaussian(sigma="1.5"), 1, sampling="0.04", count=30)]

    @dp.subject(claim=dp.Claim("1", "1e-5"), neighbours=dp.add_remove(n=20, low=-1, high=1), plan=plan)
    def sums(data: Any, channel: Any) -> Any:
        total = 0.0
        for _ in range(30):
            with channel.sample("0.04") as part:
                total += part.release("sum", part(data).sum(), dp.Gaussian(sigma="1.5"), sensitivity=1)
        return total

    with dp.simulate(seed=1) as channel:
        sums(np.ones(20), channel)
    written = '{"mechanism": "gaussian", "sigma": "1.5", "sensitivity": "1", "sampling": "0.04", "count": "30"}\n'
    (tmp_path / "hand.jsonl").write_text(written)
    by_hand = dp.account(tmp_path / "hand.jsonl", delta="1e-5").epsilon
    at_the_door = dp.account([event.record for event in channel.events], delta="1e-5", fixed=True).epsilon
    assert float(at_the_door) == pytest.approx(float(by_hand), rel=1e-6)


# --- counts of keys that are not known in advance ---


def test_threshold_counts_are_planned_and_take_trials() -> None:
    plan = [dp.Planned("keys", dp.ThresholdedLaplace(1, "1e-6"), 1, kind="threshold_counts")]

    @dp.subject(claim=dp.Claim("1", "1e-6"), neighbours=dp.add_remove(n=200, low=0, high=1), plan=plan)
    def keys(data: Any, channel: Any, trials: Any) -> Any:
        return channel.threshold_counts("keys", data, epsilon="1", delta="1e-6")

    with dp.simulate(seed=1, trials=3) as channel:
        shown = keys(np.zeros(200), channel, 3)
    assert [list(run) for run in shown] == [[0], [0], [0]]


def test_a_sample_takes_trials() -> None:
    with dp.simulate(seed=1, trials=5) as channel, channel.sample("0.5") as part:
        assert np.shape(part.release("sum", part(np.ones(20)).sum(axis=-1), dp.Laplace(1), sensitivity=1)) == (5,)


def test_threshold_counts_show_common_keys_and_hide_those_of_one_record(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger, dp.live(ledger, budget=("1", "1e-9")) as channel:
        counts = channel.threshold_counts("words", ["common"] * 1000 + ["mine alone"], epsilon="1", delta="1e-9")
        assert list(counts) == ["common"]
        assert abs(counts["common"] - 1000) < 100
        assert ledger.spent()[0] == 1
        assert 0 < ledger.spent()[1] <= Fraction("1e-9")


def test_the_async_door_is_the_live_door(tmp_path: Path) -> None:
    import asyncio

    async def service() -> Any:
        with dp.open_ledger(tmp_path / "service.ledger") as ledger:
            async with dp.alive(ledger, "1") as channel:
                return await channel.release("sum", dp.seal([0.5], -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)

    assert isinstance(float(asyncio.run(service())), float)
