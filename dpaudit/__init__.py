"""dpaudit: pytest for privacy claims. Names load when they are first used, so that ``import dpaudit`` is light.

The public names stand here once. What type checkers read, ``__init__.pyi``, is made from this table (tests/dpaudit/test_face.py);
everything else is imported from its package.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

PUBLIC = {
    "accountants": ("account", "amplify", "invert"),
    "certificate": ("live_certified",),
    "channel": ("Planned",),
    "claims": ("Bound", "BudgetExceeded", "Claim", "DpauditError", "Enclosure", "Verdict"),
    "deployment": ("alive", "live", "replay", "simulate"),
    "ledger": ("Budget", "open_ledger"),
    "neighbours": ("add_remove", "replace_one"),
    "noise": (
        "Binomial",
        "Exponential",
        "Gaussian",
        "KaryResponse",
        "Laplace",
        "NoisyMax",
        "OptimizedUnaryResponse",
        "PermuteAndFlip",
        "RandomizedResponse",
        "SparseVector",
        "ThresholdedLaplace",
        "UnaryResponse",
    ),
    "sealed": ("clip_rows", "seal", "seal_frame"),
    "subjects": ("subject",),
    "verdict": ("assert_private", "audit"),
}
# Names of 0.1 that belong to their packages; they still load from here, and are listed nowhere.
FORMER = {
    "accountants": (
        "Part", "calibrate", "calibrate_shuffled", "compose", "composed_delta", "epsilon0_rule", "odometer",
    ),
    "channel": ("Channel", "Reports", "Transcript", "sum_by_tag"),
    "claims": ("Finding", "Leak", "SensitivityError", "exact"),
    "ledger": ("Cohort", "Ledger", "MemoryLedger", "Release"),
    "neighbours": ("Neighbours",),
    "noise": ("from_units", "to_units"),
    "sealed": ("Sealed", "seal_sums", "snap", "unseal"),
    "subjects": ("Subject",),
}  # fmt: skip
_MODULE = {name: module for table in (PUBLIC, FORMER) for module, names in table.items() for name in names}
__all__ = sorted(name for names in PUBLIC.values() for name in names)


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    value = getattr(import_module(f"dpaudit.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
