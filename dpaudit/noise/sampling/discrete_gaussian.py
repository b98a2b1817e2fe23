"""The exact discrete Gaussian sampler: Canonne, Kamath, Steinke 2020, Algorithm 3, many at a time.

As in every rejection sampler, the number of proposals is independent of the value drawn.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpaudit.noise.sampling.bernoulli import decay, decide
from dpaudit.noise.sampling.geometric import add_two_sided
from dpaudit.noise.sampling.source import Source

# e^-γ in float64 errs by less than 2^-45: let y = |K|/s, m = s/t ≤ 1, z = |y − m|, γ = z²/2. Each rounding is
# a factor within 1 ± 2^-53, so γ errs by at most 2^-50 (z (y + m) + z²), where y + m ≤ z + 2, and
# e^(−z²/2) z (2z + 2) < 4. The exponential itself errs by a few 2^-53.
_MARGIN = 2.0**-40
_PROPOSALS = 1.45  # per draw; about 76 % are accepted for large s


def discrete_gaussian_words(s: Fraction, count: int, source: Source) -> NDArray[np.int64]:
    """``count`` independent K with P(k) ∝ e^(−k²/(2s²)), exactly."""
    parts: list[NDArray[np.int64]] = []
    missing = count
    while missing > 0:
        accepted = _accepted(s, int(missing * _PROPOSALS) + 4, source)
        parts.append(accepted[:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _accepted(s: Fraction, proposals: int, source: Source) -> NDArray[np.int64]:
    """Propose K with P(k) ∝ e^(−|k|/t), t = ⌊s⌋ + 1; accept with probability e^(−(|K| − s²/t)²/(2s²))."""
    t = s.__floor__() + 1
    proposed = add_two_sided(np.zeros(proposals, dtype=np.int64), Fraction(1, t), source)
    gamma = ((np.abs(proposed) - float(s * s / t)) / float(s)) ** 2 / 2
    probability = np.exp(-gamma)
    words = source.words(proposals)
    uniform = words * 2.0**-64  # rounded: within 2^-53, far inside the margin
    accepted = uniform < probability
    for index in np.flatnonzero(np.abs(uniform - probability) <= _MARGIN):
        exact_gamma = (abs(int(proposed[index])) - s * s / t) ** 2 / (2 * s * s)
        accepted[index] = decide(decay(exact_gamma), int(words[index]), 64, source)
    return proposed[accepted]
