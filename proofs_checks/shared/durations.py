"""How long full runs of checks take: processor seconds on one core of a small machine, rounded up. Others take about a second."""

from __future__ import annotations

SECONDS = {
    "lemma-core.leverage": 7.0,
    "fix.batches": 2.0,
    "thm1.privacy": 14.0,
    "lemma-central.concentration": 2.0,
    "thm1.regret": 9.0,
    "thm2.privacy": 4.0,
    "thm3.privacy": 6.0,
    "table1.central": 3.0,
    "table1.local": 4.0,
    "figure.converges": 6.0,
    "figure.core-set": 22.0,
    "fix.noise": 13.0,
    "fix.span": 2.0,
    "fix.tight-gamma": 3.0,
    "fix.eps0-closed": 8.0,
    "fix.known-actions": 4.0,
    "tight.endpoint-pair": 23.0,
    "fix.theorem3": 5.0,
    "svt1.privacy": 4.0,
    "svt1.monotone": 3.0,
    "svt1.half-noise": 4.0,
    "svt2.privacy": 4.0,
    "svt4.privacy": 4.0,
    "svt4.bound": 4.0,
    "svt4.monotone-bound": 3.0,
    "svt6.privacy": 10.0,
}
