"""All checks of the optimistic bandit: what the entry point ``dpaudit.claims`` hands to ``dpaudit claims``."""

from __future__ import annotations

from importlib import import_module

from dpaudit.papers.checks import Check
from proofs_checks.optimistic_bandit.ratings import RATINGS
from proofs_checks.shared.ratings import rated

TITLE = "The optimistic private bandit"
MODULES = ("privacy", "ball_lemmas", "validity", "regret")


def checks() -> list[Check]:
    """Every check; modules load here, not with the package."""
    return rated(
        (check for name in MODULES for check in import_module(f"proofs_checks.optimistic_bandit.{name}").CHECKS), RATINGS
    )
