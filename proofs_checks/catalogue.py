"""All checks of the paper, in its order: what the entry point ``dpaudit.claims`` hands to ``dpaudit claims``."""

from __future__ import annotations

from importlib import import_module

from dpaudit.papers import Check

MODULES = (
    "lemma_net",
    "lemma_core",
    "frank_wolfe",
    "better_start",
    "batches",
    "singular_design",
    "elimination_rules",
    "theorem1",
    "proof1",
    "lemma_central",
    "lemma_laplace",
    "lemma_local",
    "regret_central",
    "regret_reports",
    "theorem2_privacy",
    "theorem3_privacy",
    "shuffle_views",
    "one_batch",
    "remark_shuffled",
    "table1_ours",
    "table1_peers",
    "figure_checks",
    "corrected_noise",
    "corrected_span",
    "corrected_widths",
    "tight_width",
    "corrected_epsilon0",
    "known_actions",
    "endpoint_pair",
)


def checks() -> list[Check]:
    """Every check; modules load here, not with the package."""
    return [check for name in MODULES for check in import_module(f"proofs_checks.{name}").CHECKS]
