"""What a certificate is about besides code: the subject's claim, its neighbours and its public choices, in one canonical form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import rfc8785

from dpaudit.claims import Claim, show
from dpaudit.subjects.subject import Subject

LARGEST_INTEGER = 2**53 - 1  # beyond it RFC 8785 has no number


def configuration_of(subject: Subject, claim: Claim) -> dict[str, Any]:
    """The same subject with the same parameters has the same configuration, in every process."""
    plan = {} if subject.plan is None else {"plan": [entry.python_code() for entry in subject.plan.entries]}
    return {
        "subject": subject.name,
        "function": str(getattr(subject.function, "__qualname__", type(subject.function).__qualname__)),
        "claim": {**claim.to_dict(), "observer": claim.observer},
        "neighbours": {"relation": subject.neighbours.name, "parameters": plain(subject.neighbours)},
        "choices": plain(subject.notes),
        **plan,
    }


def digest_of(configuration: Mapping[str, Any]) -> str:
    """SHA-256 of its canonical JSON (RFC 8785)."""
    return hashlib.sha256(rfc8785.dumps(dict(configuration))).hexdigest()


def plain(value: Any) -> Any:
    """Public parameters as JSON: exact numbers and floats as texts, arrays by shape and SHA-256, other objects by their type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) <= LARGEST_INTEGER else str(int(value))
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "sha256": hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{each.name: plain(getattr(value, each.name)) for each in fields(value)}}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return {"type": type(value).__name__}
