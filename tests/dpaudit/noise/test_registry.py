"""What a ledger says about a mechanism is enough to have it back."""

from __future__ import annotations

import pytest

from dpaudit.claims import InvalidValue
from dpaudit.noise import Gaussian, Laplace, Noise, RandomizedResponse, noise_from

EXAMPLES: list[Noise] = [Laplace(2), Laplace("1/3", grid=1), Gaussian("0.7"), RandomizedResponse("1.25")]


@pytest.mark.parametrize("noise", EXAMPLES, ids=lambda noise: noise.name)
def test_a_mechanism_is_read_back_from_its_name_and_parameters(noise: Noise) -> None:
    again = noise_from(noise.name, noise.parameters())
    assert again == noise
    assert hash(again) == hash(noise)
    assert (again.norm, again.grid) == (noise.norm, noise.grid)


def test_different_mechanisms_are_not_equal() -> None:
    assert Laplace(2) != Laplace(3)
    assert Laplace(2) != Laplace(2, grid=1)
    assert Laplace(2) != Gaussian(2)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("cauchy", {"scale": "1", "grid": "1"}),
        ("laplace", {"sigma": "1", "grid": "1"}),
        ("laplace", {"scale": "1", "grid": "1", "shift": "2"}),
        ("laplace", {"scale": "nan", "grid": "1"}),
        ("randomized-response", {"epsilon": "1", "grid": "2"}),
    ],
)
def test_what_is_not_a_known_mechanism_is_refused(name: str, parameters: dict[str, str]) -> None:
    with pytest.raises(InvalidValue):
        noise_from(name, parameters)
