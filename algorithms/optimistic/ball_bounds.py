"""What |θ| ≤ B adds: the ellipsoid of all releases cut with the ball (Lemma 4), and bounds from other actions (Lemma 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.optimistic.intervals import SLACK
from algorithms.optimistic.schedule import Schedule

MULTIPLES = (1 / 16, 1.0, 16.0, 256.0, 4096.0)  # of B²/Λ: the weights α of the ellipsoid against the ball
_MULTIPLES = np.array(MULTIPLES)[:, None, None]
_BONUS = 6.0  # squared: of the ridge index, which chooses among actions that may be played and needs no proof
_MOST_PAIRS = 2**22  # angles that are remembered
_MOST_AT_ONCE = 2**17  # angles that are compared with all intervals in one step: more do not stay in a core's memory


@dataclass(frozen=True)
class Ellipsoid:
    """|s − Hθ|_{A⁻¹} ≤ β with A = H + ΛI, in the eigenvectors of H. Arrays have one row per trial."""

    schedule: Schedule
    eigenvalues: np.ndarray  # (B, d) of H
    turned: np.ndarray  # (B, d): s in the eigenvectors
    points: np.ndarray  # (B, K, d): actions in the eigenvectors
    ball: float = 1.0  # |θ| is at most this

    @classmethod
    def of(cls, schedule: Schedule, gram: np.ndarray, response: np.ndarray, actions: np.ndarray, ball: float = 1.0) -> Ellipsoid:
        values, vectors = np.linalg.eigh(gram)
        turned = np.einsum("bij,bi->bj", vectors, response)
        return cls(schedule, np.maximum(values, 0.0), turned, actions @ vectors, ball)

    def radius(self) -> np.ndarray:
        """β² = 2 log 2T + log det(I + H/Λ), and 2 log 2 where noise is added."""
        growth: np.ndarray = np.log1p(self.eigenvalues / self.schedule.ridge).sum(axis=-1)
        return self.schedule.radius_start + growth

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds on all means, (B, K): for each α, α(|s−Hθ|²_{A⁻¹} − β²) + |θ|² − B² ≤ 0 is an ellipsoid."""
        h, s, ridge, square = self.eigenvalues, self.turned, self.schedule.ridge, self.ball**2
        excess = (s**2 / (h + ridge)).sum(axis=-1) - self.radius()
        alpha = _MULTIPLES * square / ridge  # first axis of all below
        scale = 1 + alpha * (h**2 / (h + ridge))  # D_α
        centre = alpha * (h / (h + ridge) * s) / scale  # θ_α
        room = np.maximum(0.0, (centre**2 * scale).sum(axis=-1) + square - alpha[:, :, 0] * excess)
        middle, squares = self.points @ centre[..., None], self.points**2 @ (1 / scale)[..., None]
        reach = np.sqrt(room[:, :, None] * squares[..., 0]) + SLACK
        return (middle[..., 0] - reach).max(axis=0), (middle[..., 0] + reach).min(axis=0)

    def ridge_index(self) -> np.ndarray:
        """⟨a, (H+I/B²)⁻¹s⟩ + √6 |a|_{(H+I/B²)⁻¹}."""
        inverse = 1 / (self.eigenvalues + 1 / self.ball**2)
        estimate = np.einsum("bkd,bd->bk", self.points, inverse * self.turned)
        index: np.ndarray = estimate + np.sqrt(_BONUS * np.einsum("bkd,bd->bk", self.points**2, inverse))
        return index


class Pairs:
    """Upper bounds on all means from the intervals of all, by angles: with ⟨b, θ⟩/B|b| in [cos q, cos p] and φ between a and b,
    ⟨a, θ⟩ ≤ B|a| cos(max(p − φ, φ − q, 0)). The least over b is the cosine of the largest distance."""

    def __init__(self, actions: np.ndarray, ball: float = 1.0) -> None:
        """``actions`` (G, K, d): one set for all trials (G = 1) or one for each. ``norms`` are B|a|, the largest means."""
        lengths = np.linalg.norm(actions, axis=-1)
        self.norms, self._nonzero = ball * lengths, lengths > 0
        self._units = actions / np.where(self._nonzero, lengths, 1.0)[..., None]
        self._rows: dict[int, np.ndarray] = {}  # angles to single rivals, where there are too many for all
        self._angles: np.ndarray | None = None  # (G, K, K)
        if self.norms.size * actions.shape[1] <= _MOST_PAIRS:
            self._angles = np.stack([self._between(rival) for rival in range(actions.shape[1])], axis=1)

    def take(self, index: np.ndarray) -> Pairs:
        """The same for some of the trials."""
        if len(self.norms) == 1:
            return self
        part = object.__new__(Pairs)
        part.norms, part._nonzero, part._units = self.norms[index], self._nonzero[index], self._units[index]
        part._angles = None if self._angles is None else self._angles[index]
        part._rows = {rival: angles[index] for rival, angles in self._rows.items()}
        return part

    def _between(self, rival: int) -> np.ndarray:
        """Angles of all actions to this one, (G, K), without loss of digits near 0 and π: tan(φ/2) = |x − y|/|x + y|."""
        if self._angles is not None:
            return self._angles[:, rival]
        if rival in self._rows:
            return self._rows[rival]
        one, all_of_them = self._units[:, rival, None], self._units
        sizes = (np.linalg.norm(all_of_them + sign * one, axis=-1) for sign in (-1, 1))
        angles: np.ndarray = 2 * np.arctan2(*sizes)
        if (len(self._rows) + 1) * angles.size <= _MOST_PAIRS:
            self._rows[rival] = angles
        return angles

    def upper(self, low: np.ndarray, high: np.ndarray, played: np.ndarray | None = None) -> np.ndarray:
        """min over b of the bound from b's interval, (…, B, K): any axes may stand before that of trials.

        ``played``: where there are too many actions for all pairs, only these are b. The bound is as valid, being a minimum over
        fewer; and what is known of the others, the ellipsoid tells of all.
        """
        norms = np.where(self._nonzero, self.norms, 1.0)
        nearest = np.where(self._nonzero, np.arccos(np.minimum(np.maximum(high / norms, -1.0), 1.0)), 0.0)  # p
        farthest = np.where(self._nonzero, np.arccos(np.minimum(np.maximum(low / norms, -1.0), 1.0)), np.pi)  # q
        distance = self._distance(nearest, farthest, played)
        result: np.ndarray = self.norms * np.cos(np.minimum(distance, np.pi)) + SLACK
        return result

    def _distance(self, nearest: np.ndarray, farthest: np.ndarray, played: np.ndarray | None) -> np.ndarray:
        """max over b of max(p_b − φ_ab, φ_ab − q_b, 0)."""
        rivals = nearest.shape[-1]
        if self._angles is not None and nearest.size * rivals <= _MOST_AT_ONCE:
            apart = np.maximum(nearest[..., None] - self._angles, self._angles - farthest[..., None])
            largest: np.ndarray = np.maximum(apart.max(axis=-2), 0.0)
            return largest
        distance = np.zeros_like(nearest)
        all_of_them = played is None or self._angles is not None
        for rival in range(rivals) if all_of_them else np.asarray(played).tolist():
            angles = self._between(rival)
            np.maximum(distance, nearest[..., rival, None] - angles, out=distance)
            np.maximum(distance, angles - farthest[..., rival, None], out=distance)
        return distance
