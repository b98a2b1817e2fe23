"""Mechanisms are final, a door takes exactly them, and all that others ask is answered by each."""

from __future__ import annotations

import re
import typing
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import MECHANISMS, Noise, SecureSource, mechanism_of, python_code, written_forms
from dpaudit.noise.families import AdditiveNoise

EXAMPLES: list[Noise] = [
    dp.Laplace("1/2", grid="1/4"), dp.Gaussian("0.7", grid="1/2"), dp.RandomizedResponse("0.7"), dp.KaryResponse("0.7", 5),
    dp.UnaryResponse("0.7", 5), dp.OptimizedUnaryResponse("0.7", 5), dp.Binomial(400, grid="1/2"),
]  # fmt: skip
each = pytest.mark.parametrize("noise", EXAMPLES, ids=lambda noise: noise.name)


@each
def test_a_mechanism_cannot_be_subclassed(noise: Noise) -> None:
    with pytest.raises(TypeError, match=f"dp.{type(noise).__name__} cannot be subclassed.*black box"):
        type("Truncated", (type(noise),), {})


class Lookalike(AdditiveNoise):
    """All of Laplace noise but its exact sampler."""

    name = "laplace"

    def __getattr__(self, name: str) -> object:
        return getattr(dp.Laplace(2), name)

    def draw(self, units: object, source: object) -> object:
        return units


@pytest.mark.parametrize("noise", [Lookalike(), dp.Laplace, 2, None], ids=["lookalike", "class", "number", "none"])
def test_a_door_takes_exactly_the_registered_classes(noise: typing.Any) -> None:
    for door in (dp.simulate(1), dp.live(dp.MemoryLedger(kind="deployment"))):
        with door as channel, pytest.raises(InvalidValue, match=r"noise must be a mechanism such as dp\.Laplace"):
            channel.release("sum", 1.0, noise, sensitivity=1)


def test_a_live_door_draws_by_the_registered_class_whatever_is_put_on_the_instance() -> None:
    noise = dp.Laplace(1000)
    object.__setattr__(noise, "draw", lambda units, source: units)
    with dp.live(dp.MemoryLedger(kind="deployment")) as channel:
        shown = [channel.release(f"r{i}", 0.0, noise, sensitivity=1) for i in range(5)]
    assert any(shown)  # all five are 0 with probability below 2^-150
    assert mechanism_of(noise) is dp.Laplace


@each
def test_every_question_of_the_protocol_is_answered(noise: Noise) -> None:
    asked = {name for name in (*vars(Noise), *Noise.__annotations__) if not name.startswith("_")}
    assert len(asked) > 30
    assert [name for name in sorted(asked) if not hasattr(noise, name)] == []
    assert MECHANISMS[noise.name] is type(noise)
    assert noise.size_name in noise.parameters()
    assert noise.forms[noise.name].mechanism == noise.name
    assert {*noise.forms[noise.name].needs, "grid"} == set(noise.parameters())
    assert (noise.epsilon(1) is not None) == noise.pure


@each
def test_the_code_of_a_mechanism_makes_it_again(noise: Noise) -> None:
    assert eval(python_code(noise), {"dp": dp}) == noise
    counts = {name: int(noise.parameters()[name]) for name in noise.forms[noise.name].counts}
    assert type(noise).of_size(typing.cast(Fraction, noise.size), noise.grid, counts) == noise


@each
def test_intervals_partition_and_match_what_is_drawn(noise: Noise) -> None:
    # 20,000 draws against a certified probability, six standard deviations: one seed in 10^8 fails
    drawn = noise.draw(np.full(20_000, 1), SecureSource())
    for low, high in product((None, 0, 1, 2), (None, 0, 1, 3)):
        if low is not None and high is not None and low > high:
            continue
        below, above = noise.within(low, high, 1)
        inside = (drawn >= (-(2**60) if low is None else low)) & (drawn <= (2**60 if high is None else high))
        assert 0 <= below <= above <= 1 + Fraction(1, 10**20)
        assert abs(inside.mean() - float(below)) <= 6 * np.sqrt(max(float(below * (1 - below)), 1e-9) / 20_000)
    left, right = noise.within(None, 1, 1), noise.within(2, None, 1)
    assert float(left[0] + right[0]) == pytest.approx(1)


@each
def test_outputs_without_noise_are_likeliest_and_wild_ones_are_possible(noise: Noise) -> None:
    units = np.array([-3, 0, 1, 9])
    plain = noise.without_noise(units)
    wild = noise.wild(units, np.random.default_rng(5))
    for output in np.concatenate([wild, plain + 1 if noise.alphabet is None else wild]):
        assert (noise.log_ratio(plain, units, units) == 0).all()
        if noise.alphabet is not None:
            assert 0 <= output < noise.alphabet
    assert wild.shape == units.shape


def test_forms_with_more_fields_come_first() -> None:
    forms = written_forms()
    assert list(forms) == [
        "laplace", "gaussian", "randomized-response", "kary-response", "unary-response", "optimized-unary-response", "binomial",
        "exponential",
    ]  # fmt: skip
    assert [form.mechanism for form in forms["randomized-response"]] == ["kary-response", "randomized-response"]


def test_nothing_outside_the_noise_tests_a_mechanism_by_name_or_type() -> None:
    """A new mechanism touches its file, its test, the registry and the docs; a switch elsewhere would be a fifth."""
    names = "|".join(f'"{name}"' for name in MECHANISMS)
    classes = "|".join(kind.__name__ for kind in MECHANISMS.values())
    switch = re.compile(
        rf"(noise|release|part|task|options|batch|event)?\.?(name|mechanism)\S*\s*(==|!=|in)\s*[(\[{{]?({names})"
        rf"|isinstance\([^)]*\b({classes})\b|case ({classes})\("
    )
    package = Path(dp.__file__).parent
    found = [
        f"{path.relative_to(package)}:{number}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] != "noise"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if switch.search(line) and 'method == "laplace"' not in line
    ]
    assert found == []
    assert switch.search('if noise.name == "laplace":')
    assert switch.search("isinstance(noise, Laplace)")
