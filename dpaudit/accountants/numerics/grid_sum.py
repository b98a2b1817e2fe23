"""E[(ΣG)_+] for a G on a regular grid, by one Fourier transform: 5 digits more than the contour where few of many reports count.

Exact but for rounding, which is bounded; measured on the Laplace blanket by ``python -m benchmarks engines``.

With ω = e^{ch−iθ} and φ(ω) = E ω^{G/h}, the mean of φ(ω)^n ω/(ω−1)² over the M-th roots e^{iθ} of 1 is Σ_m e^{−qmc}
E[(S+qm)_+]/h over all integers m, q = Mh (the contour of contour.py, which closes here): an upper bound at any M, and
the terms m ≠ 0 are bounded as there.

Rounding: a transform of M numbers x is off by at most ``transform_error``·√M·‖x‖₂ in the 2-norm (fourier.py), and |x^n − y^n| ≤
n|x−y| in the unit disc, so it grows with the number of reports that count, not with n: values of 0 are kept apart. 2^-45 is
allowed for the functions of numpy, whose errors are near 2^-52.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpaudit.accountants.numerics.contour import log1p
from dpaudit.accountants.numerics.fourier import real_transform, transform_error

Floats = npt.NDArray[np.float64]
_NEGLIGIBLE = 60.0  # nodes below e^-60 of the largest are bounded, not added


@dataclass(frozen=True)
class Summand:
    """G = ``knots`` · ``step`` with these weights, and 0 with the weight ``idle`` that is left of ``total``."""

    knots: npt.NDArray[np.int64]
    step: float
    weights: Floats
    total: float  # of the law that was moved to the grid; the weights may sum to a little more, or less

    def log_moment(self, c: float) -> float:
        """log φ(c), φ(c) = 1 − total + Σ weight·e^{cG}."""
        return math.log1p(
            float((self.weights * np.expm1(c * self.step * self.knots)).sum()) + float(self.weights.sum()) - self.total
        )

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log φ and its first two derivatives at c."""
        values = self.step * self.knots
        height = self.log_moment(c)
        firsts = self.weights * values * np.exp(c * values - height)
        mean = float(firsts.sum())
        return height, mean, float(firsts @ values) - mean**2


def log_upper(law: Summand, n: int, c: float, nodes: int) -> float:
    """The log of an upper bound on E[S_+]/n."""
    peak, mean, error = _mean(law, n, c, nodes)
    return peak + math.log(law.step * (mean + error)) - math.log(n) + _slack(law, n, peak)


def log_lower(law: Summand, n: int, c: float, nodes: int) -> float:
    """The log of a lower bound on E[S_+]/n; −inf if rounding or the wrapped terms leave nothing."""
    if not law.weights.any():
        return -math.inf
    peak, mean, error = _mean(law, n, c, nodes)
    least = mean - error - _wrapped(law, n, c, nodes, peak)
    return peak + math.log(law.step * least) - math.log(n) - _slack(law, n, peak) if least > 0 else -math.inf


def _mean(law: Summand, n: int, c: float, nodes: int) -> tuple[float, float, float]:
    """log φ(c)^n, the mean over the nodes divided by φ(c)^n, and a bound on its rounding error."""
    height = c * law.step * law.knots
    tilted = law.weights * np.exp(height - height[-1])
    log_phi = law.log_moment(c)
    share = min(1.0, float(tilted.sum()) * math.exp(float(height[-1]) - log_phi))
    folded: Floats = np.asarray(np.bincount(law.knots % nodes, tilted / tilted.sum(), nodes), dtype=np.float64)
    excess = -share * (1 - real_transform(folded))  # φ(ω)/φ(c) − 1
    square = 2 * excess.real + excess.real**2 + excess.imag**2
    seen = np.flatnonzero(square > math.expm1(-2 * _NEGLIGIBLE / n))
    logs = log1p(excess[seen])
    # ω/(ω−1)² = 1/(2 sinh((ch − iθ)/2))², sinh(x − iy) = sinh x cos y − i cosh x sin y
    angle, half = math.pi / nodes * seen, c * law.step / 2
    real, imaginary = 2 * math.sinh(half) * np.cos(angle), 2 * math.cosh(half) * np.sin(angle)
    # Re(e^{iψ}/(x − iy)²) = cos(ψ + 2 arg(x + iy))/(x² + y²)
    turned = n * logs.imag + 2 * np.arctan2(imaginary, real)
    terms = np.exp(n * logs.real) * np.cos(turned) / (real**2 + imaginary**2)
    ends = float(terms[seen % (nodes // 2) == 0].sum())  # θ = 0 and π have no partner
    # the mean of |ω/(ω−1)²| over the roots is coth(Mch/2)/(2 sinh ch)
    size = 1 / (math.tanh(min(20.0, nodes * c * law.step / 2)) * 2 * math.sinh(c * law.step))
    error = size * ((n * share + 1) * 2.0**-45 + math.exp(-_NEGLIGIBLE))
    # by Cauchy and Schwarz an error of the transform costs no more than its 2-norm times that of |ω/(ω−1)²|
    off = 1.01 * transform_error(2 * nodes) * math.sqrt(float(folded @ folded))
    error += n * share * off * math.sqrt(mean_square(c * law.step, nodes))
    return n * log_phi, (2 * float(terms.sum()) - ends) / nodes, error


def mean_square(a: float, nodes: int) -> float:
    """The mean of |ω/(ω−1)²|² = 1/(2 cosh a − 2 cos θ)² over the M-th roots of 1.

    Its Fourier coefficients are cosh a/(4 sinh³ a) · e^{−|j|a}(1 + |j| tanh a), and those of multiples of M make up the mean.
    """
    q = math.exp(-nodes * a)
    aliases = q / (1 - q) + nodes * math.tanh(a) * q / (1 - q) ** 2
    return math.cosh(a) / (4 * math.sinh(a) ** 3) * (1 + 2 * aliases)


def _slack(law: Summand, n: int, peak: float) -> float:
    """The rounding of log φ(c)^n, whose terms sum to n·total and more at most."""
    return 2.0**-44 * (1 + abs(peak) + n * law.total)


def _wrapped(law: Summand, n: int, c: float, nodes: int, peak: float) -> float:
    """An upper bound on the terms m ≠ 0: (S ± qm)_+ ≤ e^{θ(S ± qm)}/(eθ) at the best of a few θ on either side of c."""
    period, total = nodes * law.step, 0.0
    for thetas in ([c * k / 8 for k in range(1, 8)], [c * (1 + 2.0**k) for k in range(-4, 3)]):
        bounds = [math.inf]
        for theta in thetas:
            turns = period * abs(theta - c)
            if theta * law.step * float(law.knots[-1]) < 600 and turns > 1:
                growth = n * law.log_moment(theta) - peak - turns - 1 - math.log(theta * law.step * -math.expm1(-turns))
                bounds.append(math.exp(min(growth + 1e-6, 600.0)))
        total += min(bounds)
    return total
