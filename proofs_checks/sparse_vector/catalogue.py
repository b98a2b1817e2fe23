"""All checks of the sparse vector variants: what the entry point ``dpaudit.claims`` hands to ``dpaudit claims``."""

from __future__ import annotations

from importlib import import_module

from dpaudit.papers.checks import Check
from proofs_checks.shared.ratings import rated
from proofs_checks.sparse_vector.ratings import RATINGS

TITLE = "Understanding the Sparse Vector Technique for Differential Privacy (Lyu, Su, Li 2017)"
MODULES = ("privacy", "allocation")


def checks() -> list[Check]:
    """Every check; modules load here, not with the package."""
    return rated((check for name in MODULES for check in import_module(f"proofs_checks.sparse_vector.{name}").CHECKS), RATINGS)
