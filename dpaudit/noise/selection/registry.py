"""The mechanisms that release an index or answers, by their name in a ledger. To add one: its file, its test, a line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpaudit.noise.mechanism import Noise
from dpaudit.noise.selection.exponential import Exponential
from dpaudit.noise.selection.noisy_max import NoisyMax
from dpaudit.noise.selection.permute_and_flip import PermuteAndFlip
from dpaudit.noise.selection.sparse_vector import SparseVector

_CLASSES: tuple[type[Noise], ...] = (Exponential, PermuteAndFlip, NoisyMax, SparseVector)
SELECTIONS: Mapping[str, type[Noise]] = MappingProxyType({each.name: each for each in _CLASSES})
