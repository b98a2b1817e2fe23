"""Outputs as a claim about ideal arithmetic reads them: rounded, so that the last bits of floats are not there to be attacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.subjects.subject import Subject

BITS = {8: 30, 4: 14, 2: 8}  # of the mantissa that are left, by the bytes of a float


@dataclass(frozen=True)
class RoundedOutputs:
    """What an observer sees of a returned value, with every float rounded."""

    public: Callable[[Any], Any]

    def __call__(self, returned: Any) -> Any:
        return round_floats(self.public(returned))


def with_ideal_outputs(subject: Subject) -> Subject:
    """The same subject; its floats are rounded before anybody sees them."""
    return replace(subject, public=RoundedOutputs(subject.public))


def with_outputs_as_they_are(subject: Subject) -> Subject:
    """The same subject; its floats are not rounded."""
    return replace(subject, public=subject.public.public) if isinstance(subject.public, RoundedOutputs) else subject


def round_floats(value: Any) -> Any:
    """A value of the same kind, every float in it rounded to the bits of ``BITS``; texts, whole numbers and flags stay."""
    if isinstance(value, Mapping):
        return {key: round_floats(part) for key, part in value.items()}
    if type(value) in (tuple, list, set, frozenset):
        return type(value)(round_floats(part) for part in value)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
        return _round(value)
    return float(_round(np.float64(value))) if isinstance(value, float) else value


def _round(value: Any) -> Any:
    bits = BITS.get(value.dtype.itemsize, max(BITS.values()))
    mantissa, exponent = np.frexp(value)
    with np.errstate(over="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)
    return np.asarray(rounded).astype(value.dtype)[()] if np.ndim(value) == 0 else rounded.astype(value.dtype)
