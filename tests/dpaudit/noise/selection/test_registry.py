"""Selections are registered beside the noise that is added to numbers, under names of their own."""

from __future__ import annotations

import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import MECHANISMS, SELECTIONS, Noise, mechanism_of

NOISES = [dp.Exponential(1), dp.PermuteAndFlip(1), dp.NoisyMax(1), dp.SparseVector(1)]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_every_selection_answers_the_protocol(noise: Noise) -> None:
    asked = {name for name in (*vars(Noise), *Noise.__annotations__) if not name.startswith("_")}
    assert [name for name in sorted(asked) if not hasattr(noise, name)] == []
    assert SELECTIONS[noise.name] is type(noise) is mechanism_of(noise)
    assert not noise.entrywise
    assert noise.pure == (noise.epsilon(1) is not None)


def test_names_are_not_shared_with_noise() -> None:
    assert set(SELECTIONS) == {noise.name for noise in NOISES}
    assert not set(SELECTIONS) & set(MECHANISMS)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_a_selection_is_no_noise_of_a_release(noise: Noise) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match=f"channel.{noise.verb}"):
        channel.release("sum", 1.0, noise, sensitivity=1)


def test_a_selection_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Mine", (dp.Exponential,), {})
