"""Locally private least squares (Han, Liang, Wang and Zhang 2021), with ordinary least squares: greedy, doubling batches.

Clients send what Zheng's send, at the same σ; that the authors' constant is this one, and the shift, were not confirmed from
the paper. A greedy choice explores by the variety of contexts: with one context for all, as here, it can stay with a wrong
action. Their other form is in ``han_gradient``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.baselines.linear.zheng import Zheng

_FIRST = 64


@dataclass(frozen=True)
class Han(Zheng):
    """(ε, δ)-LDP for a client's context and reward."""

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """As many rounds as all before."""
        return np.maximum(_FIRST, time)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """None: greedy."""
        return np.zeros(len(time))
