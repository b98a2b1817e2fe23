"""Mechanisms on a grid: exact sampling, simulation, log-probability, privacy curve. One file per family."""

from dpaudit.noise.coins.binomial import Binomial
from dpaudit.noise.encodings.optimized_unary_response import OptimizedUnaryResponse
from dpaudit.noise.encodings.unary_response import UnaryResponse
from dpaudit.noise.gaussian import Gaussian
from dpaudit.noise.kary_response import KaryResponse
from dpaudit.noise.laplace import Laplace
from dpaudit.noise.mechanism import GRID, Noise, capped_steps, from_units, python_code, to_units
from dpaudit.noise.randomized_response import RandomizedResponse
from dpaudit.noise.registry import MECHANISMS, mechanism_of, noise_from, written_forms
from dpaudit.noise.sampling.source import ReplaySource, SecureSource, Source
from dpaudit.noise.selection.exponential import Exponential
from dpaudit.noise.selection.noisy_max import NoisyMax
from dpaudit.noise.selection.permute_and_flip import PermuteAndFlip
from dpaudit.noise.selection.registry import SELECTIONS
from dpaudit.noise.selection.sparse_vector import SparseVector
from dpaudit.noise.selection.thresholded_laplace import ThresholdedLaplace

__all__ = [
    "GRID",
    "MECHANISMS",
    "SELECTIONS",
    "Binomial",
    "Exponential",
    "Gaussian",
    "KaryResponse",
    "Laplace",
    "Noise",
    "NoisyMax",
    "OptimizedUnaryResponse",
    "PermuteAndFlip",
    "RandomizedResponse",
    "ReplaySource",
    "SecureSource",
    "Source",
    "SparseVector",
    "ThresholdedLaplace",
    "UnaryResponse",
    "capped_steps",
    "from_units",
    "mechanism_of",
    "noise_from",
    "python_code",
    "to_units",
    "written_forms",
]
