"""Stochastic contexts: each round draws one of some public sets of actions, and the policy has an action for each of them.

Between two looks of the policy all rounds with one context play the same action, and rewards of one action are exchangeable: they
are played as one block for each context, of as many rounds as the context came up.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from algorithms.baselines.linear.parts.confidence_bandit import largest


class Scored(Protocol):
    """A linear policy that says how good every action looks."""

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Index and leverage of every action, (trials, contexts·K)."""

    def length(self, leverage: np.ndarray) -> np.ndarray:
        """Rounds until it looks again."""

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None: ...

    def keep(self, index: np.ndarray) -> None: ...


class ContextPolicy:
    """A look, then a block for each context; what they teach counts from the next look on. Arrays have one row per trial."""

    def __init__(self, inner: Scored, contexts: int) -> None:
        self._inner, self._contexts, self._place = inner, contexts, contexts
        self._actions = self._counts = np.zeros((0, contexts), np.int64)
        if hasattr(inner, "told"):  # what clients of a block are told, where that is more than the action
            self.told = inner.told

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if self._place == self._contexts:
            self._look(rng)
        self._place += 1
        return self._actions[:, self._place - 1], self._counts[:, self._place - 1]

    def _look(self, rng: np.random.Generator) -> None:
        index, leverage = (each.reshape(len(each), self._contexts, -1) for each in self._inner.scores())
        chosen = largest(index, rng)
        length = self._inner.length(np.take_along_axis(leverage, chosen[:, :, None], axis=2)[:, :, 0].max(axis=1))
        shares = np.full(self._contexts, 1 / self._contexts)
        together = (length == length[0]).all()  # systems with one stream need the same blocks in all trials
        counts = np.tile(rng.multinomial(length[0], shares), (len(length), 1)) if together else rng.multinomial(length, shares)
        self._actions, self._counts = chosen + np.arange(self._contexts) * index.shape[2], np.maximum(counts, 1)
        self._place = 0

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        self._inner.learn(action, length, statistic, rng)

    def keep(self, index: np.ndarray) -> None:
        self._actions, self._counts = self._actions[index], self._counts[index]
        self._inner.keep(index)
