"""Who is pulled when: the rounds of one batch, per public state, and the rewards behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.rewards import Stochastic


@dataclass(frozen=True)
class Pulls:
    """Rounds start, start+1, … go to the arms in turn, counts[k] rounds to arms[k] (padding: 0).

    Arrays have one row per public state; ``state`` tells each trial's row (sorted), None means one run.
    """

    start: np.ndarray  # (G,)
    arms: np.ndarray  # (G, k)
    counts: np.ndarray  # (G, k)
    state: np.ndarray | None

    def rounds(self) -> tuple[np.ndarray, np.ndarray]:
        stop = np.cumsum(self.counts, axis=1) + self.start[:, None]
        return stop - self.counts, stop

    def cohort(self) -> range | None:
        """The rounds of this batch, for one run; trials are not accounted one by one."""
        if self.state is not None:
            return None
        return range(int(self.start[0]), int(self.start[0] + self.counts[0].sum()))

    def sums(self, rewards: Any) -> Any:
        """The exact sum of rewards per arm: (k,) for one run, else (trials, k)."""
        begin, stop = self.rounds()
        if self.state is None:
            return rewards.sum((begin[0], stop[0]), self.arms[0])
        if isinstance(rewards, Stochastic) and rewards.means.ndim == 1 and len(self.start) * 4 <= len(self.state):
            sizes = np.bincount(self.state, minlength=len(self.start))
            parts = [rewards.shared_sums(n, a, int(m)) for n, a, m in zip(self.counts, self.arms, sizes, strict=True)]
            return np.concatenate(parts)
        return rewards.sum((begin[self.state], stop[self.state]), self.arms[self.state])
