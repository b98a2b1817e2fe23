"""Checks on a small real training: the correct one passes all, and a broken twin of each is found by the check that is for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.training.checks import clipping, mixing, noise, sampling
from dpaudit.training.checks.result import LEVEL
from dpaudit.training.watch import TrainingWatch, watched

Make = Callable[..., Any]
EPOCHS = 4


def watch(training: Any) -> TrainingWatch:
    return watched(training.model, training.optimizer, training.loader)


def failed(watch: TrainingWatch, **more: Any) -> set[str]:
    return {result.name for result in watch.results(**more) if result.passed is False}


def test_a_correct_training_passes_every_check(make_training: Make) -> None:
    """At 10^-6 a check, eight checks: once in 10^5 seeds."""
    training = make_training(seed=3)
    seen = watch(training)
    training.run(EPOCHS)
    fresh = make_training(seed=4)
    results = seen.results(evaluation_data=fresh.loader.dataset)
    assert {result.name for result in results if result.passed} == {result.name for result in results}
    assert seen.findings() == []
    values = {result.name: result.p_value for result in results if result.p_value is not None}
    assert all(value > LEVEL for value in values.values())
    assert set(values) == {noise.NOISE, sampling.SIZES, sampling.INCLUSION, sampling.EPOCHS}


@pytest.mark.parametrize("factor", [0.5, 0.75])
def test_less_noise_than_claimed(make_training: Make, factor: float) -> None:
    training = make_training()
    draw = training.optimizer.add_noise

    def too_little() -> None:
        claimed = training.optimizer.noise_multiplier
        training.optimizer.noise_multiplier = factor * claimed
        draw()
        training.optimizer.noise_multiplier = claimed

    training.optimizer.add_noise = too_little
    seen = watch(training)
    training.run(EPOCHS)
    assert failed(seen) == {noise.NOISE}


def test_no_clipping(make_training: Make) -> None:
    training = make_training()
    clip = training.optimizer.clip_and_accumulate

    def unclipped() -> None:
        norm, training.optimizer.max_grad_norm = training.optimizer.max_grad_norm, 1e9
        clip()
        training.optimizer.max_grad_norm = norm

    training.optimizer.clip_and_accumulate = unclipped
    seen = watch(training)
    training.run(1)
    assert failed(seen) == {clipping.CLIPPING}


def test_per_layer_clipping_passes(make_training: Make) -> None:
    training = make_training(clipping="per_layer", max_grad_norm=[0.4, 0.2])
    seen = watch(training)
    training.run(1)
    assert failed(seen) == set()


def test_shuffled_epochs_passed_off_as_poisson(make_training: Make) -> None:
    from torch.utils.data import DataLoader

    training = make_training(poisson_sampling=False, batch=60)
    training.loader = DataLoader(training.loader.dataset, batch_size=60, shuffle=True)
    seen = watched(training.model, training.optimizer, training.loader, sampling="1/5")
    training.run(6)
    assert {sampling.SIZES, sampling.INCLUSION, sampling.EPOCHS} <= failed(seen)


def test_a_sampler_with_favourites(make_training: Make) -> None:
    training = make_training()
    favourites = list(range(20))
    draw = type(training.loader.batch_sampler).__iter__

    class Partial(type(training.loader.batch_sampler)):  # type: ignore[misc]
        def __iter__(self) -> Any:
            for batch in draw(self):
                yield sorted({*batch, *favourites})

    training.loader.batch_sampler.__class__ = Partial
    seen = watch(training)
    training.run(EPOCHS)
    assert sampling.INCLUSION in failed(seen)


@pytest.mark.parametrize("reseeded", ["each step", "each training"])
def test_the_same_generator_seed_twice(make_training: Make, reseeded: str) -> None:
    import torch

    seen = []
    for _ in range(2):
        generator = torch.Generator().manual_seed(7)
        training = make_training(noise_generator=generator)
        if reseeded == "each step":
            draw = training.optimizer.add_noise
            training.optimizer.add_noise = lambda draw=draw, generator=generator: (generator.manual_seed(7), draw())
        seen.append(watch(training))
        training.run(1)
    if reseeded == "each step":
        assert noise.SEED in failed(seen[0])
    else:
        assert failed(seen[0]) == set()
        assert noise.SEED in failed(seen[0], others=[seen[1]])


def test_noise_for_one_sample_on_two_that_are_accumulated(make_training: Make) -> None:
    training = make_training()
    seen = watch(training)
    for place in range(10):
        training.optimizer.signal_skip_step(do_skip=place % 2 == 0)
    training.run(1)
    assert failed(seen) == {sampling.ACCUMULATION}


@pytest.mark.parametrize("kind", ["batch norm", "mean over the batch"])
def test_samples_that_mix(make_training: Make, kind: str) -> None:
    import torch

    class Centred(torch.nn.Module):
        def forward(self, data: Any) -> Any:
            if kind == "batch norm":
                return torch.nn.functional.batch_norm(data, None, None, training=True)
            return data - data.mean(0)

    training = make_training(layers=torch.nn.Sequential(Centred(), torch.nn.Linear(8, 2)))
    seen = watch(training)
    training.run(1)
    assert failed(seen) == {mixing.MIXING}


def test_dropout_is_no_mixing(make_training: Make) -> None:
    import torch

    training = make_training(layers=torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)))
    seen = watch(training)
    training.run(1)
    assert failed(seen) == set()


def test_evaluation_data_that_is_trained_on(make_training: Make) -> None:
    import torch

    training = make_training()
    seen = watch(training)
    held_out = torch.utils.data.Subset(training.loader.dataset, [3, 5])
    (result,) = [each for each in seen.results(evaluation_data=held_out) if each.name == mixing.EVALUATION]
    assert (result.passed, result.gap) == (False, 2)


def test_what_did_not_run_is_not_passed(make_training: Make) -> None:
    seen = watch(make_training())
    assert {result.passed for result in seen.results() if result.name != sampling.ACCUMULATION} == {None}
    assert seen.findings() == []
