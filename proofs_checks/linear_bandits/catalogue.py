"""All checks of the paper, in its order: what the entry point ``dpaudit.claims`` hands to ``dpaudit claims``."""

from __future__ import annotations

from importlib import import_module

from dpaudit.papers.checks import Check
from proofs_checks.linear_bandits.ratings import RATINGS
from proofs_checks.shared.ratings import rated

TITLE = "Differentially Private Stochastic Linear Bandits: (Almost) for Free"
MODULES = (
    "lemmas.net",
    "lemmas.core_set",
    "lemmas.frank_wolfe",
    "lemmas.better_start",
    "algorithms.batches",
    "algorithms.singular_design",
    "algorithms.elimination_rules",
    "theorems.central_privacy",
    "theorems.regret.central_proof",
    "lemmas.central",
    "lemmas.laplace",
    "lemmas.local",
    "theorems.regret.central_regret",
    "theorems.regret.report_regret",
    "theorems.local_privacy",
    "theorems.shuffled_privacy",
    "algorithms.shuffle_views",
    "theorems.one_batch",
    "theorems.shuffling_gains",
    "theorems.table1_ours",
    "theorems.table1_peers",
    "figures.readings",
    "repairs.noise",
    "repairs.span",
    "repairs.widths",
    "repairs.tight_width",
    "repairs.epsilon0",
    "repairs.known_actions",
    "repairs.endpoint_pair",
    "repairs.same_randomiser",
    "joint.theorems",
)


def checks() -> list[Check]:
    """Every check; modules load here, not with the package."""
    return rated((check for name in MODULES for check in import_module(f"proofs_checks.linear_bandits.{name}").CHECKS), RATINGS)
