"""Mechanisms on a grid: exact sampling, simulation, log-probability, privacy curve. One file per family."""

from dpaudit.noise.gaussian import Gaussian
from dpaudit.noise.laplace import Laplace
from dpaudit.noise.mechanism import GRID, Noise, from_units, to_units
from dpaudit.noise.randomized_response import RandomizedResponse
from dpaudit.noise.registry import noise_from
from dpaudit.noise.sampling.source import ReplaySource, SecureSource, Source

__all__ = [
    "GRID",
    "Gaussian",
    "Laplace",
    "Noise",
    "RandomizedResponse",
    "ReplaySource",
    "SecureSource",
    "Source",
    "from_units",
    "noise_from",
    "to_units",
]
