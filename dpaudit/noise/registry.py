"""The mechanisms by the name that stands in a ledger."""

from __future__ import annotations

from collections.abc import Mapping

from dpaudit.claims import InvalidValue
from dpaudit.noise.gaussian import Gaussian
from dpaudit.noise.laplace import Laplace
from dpaudit.noise.mechanism import Noise
from dpaudit.noise.randomized_response import RandomizedResponse


def noise_from(name: str, parameters: Mapping[str, str]) -> Noise:
    """The mechanism with this ``name`` and these ``parameters()``; raises ``InvalidValue`` for any other."""
    match name, dict(parameters):
        case "laplace", {"scale": scale, "grid": grid, **rest} if not rest:
            return Laplace(scale, grid)
        case "gaussian", {"sigma": sigma, "grid": grid, **rest} if not rest:
            return Gaussian(sigma, grid)
        case "randomized-response", {"epsilon": epsilon, "grid": "1", **rest} if not rest:
            return RandomizedResponse(epsilon)
    raise InvalidValue("noise", (name, sorted(parameters)), "laplace, gaussian or randomized-response with its parameters")
