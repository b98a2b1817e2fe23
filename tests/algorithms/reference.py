"""The paper's three algorithms, read line by line from the paper and the corrections, one reward at a time: O(T) for each run.

Nothing here calls the loop, its widths, its noise or its door. Only the design (core set) is shared: it has tests of its own.
Rewards are ±1 with mean ⟨θ, a⟩; noise is continuous Laplace noise by inversion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from algorithms.actions.core_set import core_set


def closed_form(e, n, delta):
    """f_{n,δ}(ε0), the paper's amplification."""
    return math.log1p(math.tanh(e / 2) * (8 * math.sqrt(math.exp(e) * math.log(4 / delta) / n) + 8 * math.exp(e) / n))


def clone_delta(epsilon, e, n):
    """H_ε(e) of the exact clones, summed over every number of clones in floats: for small n."""
    c, p, claim = np.arange(n), math.exp(e), math.exp(epsilon)
    threshold = np.floor((c + 1) * (p * claim - 1) / ((p - 1) * (1 + claim))) + 1
    first, second = (stats.binom.sf(threshold - k, c, 0.5) for k in (2, 1))  # P(A ≥ a*−1), P(A ≥ a*)
    terms = (p - claim) * first - (p * claim - 1) * second
    return float((stats.binom.pmf(c, n - 1, 1 / p) * terms).sum() / (1 + p))


def blanket_delta(epsilon, e, n):
    """E[(ΣG)_+]/n of the privacy blanket of continuous Laplace reports, by Fourier transform on a grid: for small n.

    G = 0 with probability 1 − γ, γ = e^{−ε0/2}; else u − e^ε or 1 − e^ε u; u = e^ε0 weighs e^{−ε0}/2, or density γ/4 u^{−3/2}.
    """
    top, claim = math.exp(e), math.exp(epsilon)
    v = (np.arange(4000) + 0.5) / 4000 * e
    u = np.append(np.exp(v), top)
    weights = np.append(math.exp(-e / 2) / 4 * np.exp(-v / 2) * e / 4000, 0.5 / top)
    values, weights = np.concatenate([u - claim, 1 - claim * u]), np.concatenate([weights, weights])
    # under the weight e^{cG} the sum is near 0, so that a short period holds it; c is where φ(c)^n/c² is smallest
    choices = np.geomspace(1e-3, 60, 40) / (top - claim)
    phis = [1 - weights.sum() + float(weights @ np.exp(c * values)) for c in choices]
    best = int(np.argmin([n * math.log(phi) - 2 * math.log(c) for c, phi in zip(choices, phis, strict=True)]))
    c, phi = float(choices[best]), phis[best]
    tilted = weights * np.exp(c * values) / phi
    deviation = math.sqrt(n * float(tilted @ values**2)) + 1 / c
    step = (top - claim) / 300
    size = 2 ** math.ceil(math.log2(24 * deviation / step + 1000))
    low = np.floor(values / step).astype(int)
    law = np.zeros(size)
    np.add.at(law, low % size, tilted * (1 - values / step + low))
    np.add.at(law, (low + 1) % size, tilted * (values / step - low))
    law[0] += 1 - tilted.sum()
    sums = np.fft.irfft(np.fft.rfft(law) ** n, size)[: size // 2]
    positive = np.arange(size // 2) * step
    return math.exp(n * math.log(phi)) * float(sums @ (positive * np.exp(-c * positive))) / n


def largest_epsilon0(curve, epsilon, n, delta):
    """sup{e : δ(ε) ≤ δ} of a curve, at least ε."""
    most = epsilon + 1e-9
    while curve(epsilon, most, n) <= delta:
        most += 0.5
    low = max(epsilon + 1e-9, most - 0.5)
    if curve(epsilon, low, n) > delta:
        return epsilon
    return brentq(lambda e: curve(epsilon, e, n) - delta, low, most, xtol=1e-6)


def clone_epsilon0(epsilon, n, delta):
    return largest_epsilon0(clone_delta, epsilon, n, delta)


@lru_cache(maxsize=1000)
def blanket_epsilon0(epsilon, n, delta):
    return largest_epsilon0(blanket_delta, epsilon, n, delta)


@dataclass
class Reference:
    """One model and calibration on one instance. ``noise`` multiplies every Laplace scale: 1 but for twins."""

    model: str  # "central", "local" or "shuffled"
    calibration: str  # "printed", "corrected" or "tight"
    actions: np.ndarray
    means: np.ndarray
    horizon: int
    epsilon: float
    delta: float = 1e-6
    noise: float = 1.0
    batches: dict = field(default_factory=dict)

    def run(self, rng):
        """(pulls per action, active sets of all batches and the final action) of one run."""
        horizon, q = self.horizon, (2 * self.horizon) ** (1 / math.log(self.horizon))
        luck, chance = rng.random(horizon).tolist(), ((1 + self.means) / 2).tolist()
        active, best = tuple(range(len(self.actions))), 0
        pulls, path, t, i = [0] * len(self.actions), [], 0, 1
        while True:
            if self.calibration == "tight" and len(active) == 1:
                break  # decided: the rest of the rounds goes to this action either way
            batch = self.batch(active, i, q)
            if t + batch.size > horizon:
                break
            path.append(active)
            noisy = []
            for a, n in zip(batch.core, batch.counts, strict=True):
                total = 0
                for _ in range(n):  # reward by reward
                    total += 1 if luck[t] < chance[a] else -1
                    t += 1
                noisy.append(total + self.privacy_noise(rng, n, batch.scale))
                pulls[a] += n
            estimate = batch.estimator @ np.array(noisy)
            best = active[int(np.argmax(estimate))]
            top = max(estimate - batch.width)
            active = tuple(a for a, e, w in zip(active, estimate, batch.width, strict=True) if e + w >= top)
            i += 1
        pulls[best] += horizon - t
        return pulls, (*path, best)

    def privacy_noise(self, rng, n, scale):
        """Central: one Laplace variable for the sum. Else one for each of the n reports."""
        half = rng.random(1 if self.model == "central" else n) - 0.5
        return float(-(scale * np.sign(half) * np.log1p(-2 * np.abs(half))).sum())

    def batch(self, active, i, q):
        if (active, i) not in self.batches:
            self.batches[active, i] = self.new_batch(active, q**i)
        return self.batches[active, i]

    def new_batch(self, active, power):
        vectors = self.actions[list(active)]
        design = core_set(vectors)
        counts = [math.ceil(weight * power - 1e-9) for weight in design.weights]
        core = vectors[design.support]
        inverse = np.linalg.pinv(sum(n * np.outer(a, a) for n, a in zip(counts, core, strict=True)), rcond=1e-12)
        estimator = vectors @ inverse @ core.T  # ⟨α, V⁻¹ Σ r̂_a a⟩ for the active α
        sensitivity = 1.0 if self.calibration == "printed" else 2.0
        epsilon = self.local_epsilon(sum(counts))
        scale = sensitivity / epsilon
        norms = np.einsum("ai,ij,aj->a", vectors, inverse, vectors)
        width = self.width(len(active), design.rank, power, counts, estimator, norms, epsilon, scale)
        where = [active[k] for k in design.support]
        return Batch(where, counts, sum(counts), estimator, np.broadcast_to(width, len(active)), scale * self.noise)

    def local_epsilon(self, n):
        """ε, or ε0 of a shuffled batch of n reports."""
        if self.model != "shuffled":
            return self.epsilon
        if self.calibration == "tight":
            return blanket_epsilon0(self.epsilon, n, self.delta)
        inverse = brentq(lambda e: closed_form(e, n, self.delta) - self.epsilon, 1e-12, 60.0, xtol=1e-14)
        if self.calibration == "printed":
            return inverse
        domain = n / (16 * math.log(2 / self.delta))
        return max(self.epsilon, min(inverse, math.log(domain)) if domain > 1 else 0.0)

    def width(self, size, rank, power, counts, estimator, norms, epsilon, scale):
        d, log_term = self.actions.shape[1], math.log(4 * size * self.horizon**2)
        if self.calibration == "tight":
            return [self.tight(size, row, v, counts, scale) for row, v in zip(estimator, norms, strict=True)]
        if self.calibration == "printed":
            statistical = math.sqrt(4 * d / power * log_term)
            if self.model == "central":
                return statistical + (2 * len(counts) * d + 2 * d * log_term) / (epsilon * power)
            return statistical + 2 * d / (power * epsilon) * math.sqrt(sum(counts) * log_term)
        statistical = math.sqrt(4 * rank * log_term / power)
        if self.model == "central":
            return statistical + 2 * rank * 2 / (epsilon * power) * (log_term + 2 * math.sqrt(len(counts) * log_term))
        return statistical + 2 / epsilon * (2 * math.sqrt(2 * rank * log_term / power) + 2 * rank * log_term / power)

    def tight(self, size, coefficients, variance, counts, scale):
        """min over λ by golden section, with the one-sided L = log(|A_i|·N_max·T)."""
        terms = [1] * len(counts) if self.model == "central" else counts
        level = math.log(size * self.most_batches() * self.horizon)
        largest = max(abs(x) for x in coefficients) * scale

        def bound(x):
            lam = x / largest
            logs = sum(m * math.log1p(-((lam * lever * scale) ** 2)) for m, lever in zip(terms, coefficients, strict=True))
            return (lam**2 * variance / 2 - logs + level) / lam

        return minimize_scalar(bound, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12}).fun

    def most_batches(self):
        q, used, n = (2 * self.horizon) ** (1 / math.log(self.horizon)), 0, 0
        while used + math.ceil(q ** (n + 1)) <= self.horizon:
            used, n = used + math.ceil(q ** (n + 1)), n + 1
        return n


@dataclass(frozen=True)
class Batch:
    core: list
    counts: list
    size: int
    estimator: np.ndarray  # (active, core)
    width: np.ndarray  # (active,)
    scale: float
