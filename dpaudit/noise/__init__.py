"""Mechanisms on a grid: exact sampling, simulation, log-probability, privacy curve. One file per family."""

from dpaudit.noise.gaussian import Gaussian
from dpaudit.noise.kary_response import KaryResponse
from dpaudit.noise.laplace import Laplace
from dpaudit.noise.mechanism import GRID, Noise, capped_steps, from_units, python_code, to_units
from dpaudit.noise.randomized_response import RandomizedResponse
from dpaudit.noise.registry import MECHANISMS, mechanism_of, noise_from, written_forms
from dpaudit.noise.sampling.source import ReplaySource, SecureSource, Source

__all__ = [
    "GRID",
    "MECHANISMS",
    "Gaussian",
    "KaryResponse",
    "Laplace",
    "Noise",
    "RandomizedResponse",
    "ReplaySource",
    "SecureSource",
    "Source",
    "capped_steps",
    "from_units",
    "mechanism_of",
    "noise_from",
    "python_code",
    "to_units",
    "written_forms",
]
