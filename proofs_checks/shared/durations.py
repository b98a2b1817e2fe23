"""How long full runs of checks take: processor seconds on one core of a small machine, rounded up. Others take about a second."""

from __future__ import annotations

SECONDS = {
    "lemma-core.leverage": 6.5,
    "fix.batches": 2.0,
}
