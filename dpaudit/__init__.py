"""dpaudit: pytest for privacy claims. Names load when they are first used, so that ``import dpaudit`` is light."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "claims": ("BudgetExceeded", "Claim", "Bound", "DpauditError", "Enclosure",
               "Finding", "Leak", "SensitivityError", "Verdict", "exact"),
    "noise": ("Gaussian", "KaryResponse", "Laplace", "RandomizedResponse", "from_units", "to_units"),
    "ledger": ("Cohort", "Ledger", "MemoryLedger", "Release", "open_ledger"),
    "sealed": ("Sealed", "clip_rows", "seal", "seal_sums", "snap", "unseal"),
    "channel": ("Channel", "Reports", "Transcript", "sum_by_tag"),
    "deployment": ("live", "replay", "simulate"),
    "neighbours": ("Neighbours", "add_remove", "replace_one"),
    "subjects": ("Subject", "subject"),
    "accountants": ("Part", "account", "amplify", "calibrate", "calibrate_shuffled", "compose", "composed_delta",
                    "epsilon0_rule", "invert", "odometer"),
    "verdict": ("assert_private", "audit"),
    "certificate": ("live_certified",),
}  # fmt: skip
_MODULE = {name: module for module, names in _WHERE.items() for name in names}
__all__ = [
    "Bound",
    "BudgetExceeded",
    "Channel",
    "Claim",
    "Cohort",
    "DpauditError",
    "Enclosure",
    "Finding",
    "Gaussian",
    "KaryResponse",
    "Laplace",
    "Leak",
    "Ledger",
    "MemoryLedger",
    "Neighbours",
    "Part",
    "RandomizedResponse",
    "Release",
    "Reports",
    "Sealed",
    "SensitivityError",
    "Subject",
    "Transcript",
    "Verdict",
    "account",
    "add_remove",
    "amplify",
    "assert_private",
    "audit",
    "calibrate",
    "calibrate_shuffled",
    "clip_rows",
    "compose",
    "composed_delta",
    "epsilon0_rule",
    "exact",
    "from_units",
    "invert",
    "live",
    "live_certified",
    "odometer",
    "open_ledger",
    "replace_one",
    "replay",
    "seal",
    "seal_sums",
    "simulate",
    "snap",
    "subject",
    "sum_by_tag",
    "to_units",
    "unseal",
]

if TYPE_CHECKING:
    from dpaudit.accountants import (
        Part,
        account,
        amplify,
        calibrate,
        calibrate_shuffled,
        compose,
        composed_delta,
        epsilon0_rule,
        invert,
        odometer,
    )
    from dpaudit.certificate import live_certified
    from dpaudit.channel import Channel, Reports, Transcript, sum_by_tag
    from dpaudit.claims import (
        Bound,
        BudgetExceeded,
        Claim,
        DpauditError,
        Enclosure,
        Finding,
        Leak,
        SensitivityError,
        Verdict,
        exact,
    )
    from dpaudit.deployment import live, replay, simulate
    from dpaudit.ledger import Cohort, Ledger, MemoryLedger, Release, open_ledger
    from dpaudit.neighbours import Neighbours, add_remove, replace_one
    from dpaudit.noise import Gaussian, KaryResponse, Laplace, RandomizedResponse, from_units, to_units
    from dpaudit.sealed import Sealed, clip_rows, seal, seal_sums, snap, unseal
    from dpaudit.subjects import Subject, subject
    from dpaudit.verdict import assert_private, audit


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    value = getattr(import_module(f"dpaudit.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
