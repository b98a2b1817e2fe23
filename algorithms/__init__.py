"""The paper's three bandit algorithms, and what they are compared with, as subjects of dpaudit.

Each factory is an entry point: ``make(*, epsilon, delta, horizon, actions, calibration) -> subject``;
``registry`` says how to add one.
"""

from algorithms.optimistic.registry import optimistic_central, optimistic_local, optimistic_shuffled
from algorithms.registry import central, central_nocore, local, nonprivate, shuffled

__all__ = [
    "central", "central_nocore", "local", "nonprivate", "optimistic_central", "optimistic_local", "optimistic_shuffled",
    "shuffled",
]  # fmt: skip
