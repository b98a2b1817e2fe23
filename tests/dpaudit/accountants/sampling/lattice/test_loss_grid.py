import math

import mpmath
import numpy as np

from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.accountants.sampling.lattice.loss_grid import grid_laws


def _curve(q: float, sigma: float, alpha: float) -> float:
    if alpha <= 1 - q:
        return 1 - alpha
    u = sigma * math.log((alpha - 1 + q) / q) + 1 / (2 * sigma)
    plain, moved = mpmath.erfc(u / math.sqrt(2)) / 2, mpmath.erfc((u - 1 / sigma) / math.sqrt(2)) / 2
    return float((1 - q - alpha) * plain + q * moved)


def test_the_true_curve_lies_between_both_polygons():
    unit = 2.0**-8
    above, below = grid_laws(SampledGaussian("0.1", "1", 1), unit, 500)
    for law, side in ((above, 1), (below, -1)):
        alphas = np.exp(unit * (law.first + np.arange(len(law.masses))))
        for alpha in np.linspace(0.5, math.exp(500 * unit), 400):
            polygon = float((np.maximum(alphas - alpha, 0) * law.masses / alphas).sum()) + law.infinite
            assert side * (polygon - _curve(0.1, 1.0, float(alpha))) >= -1e-15
            assert abs(polygon - _curve(0.1, 1.0, float(alpha))) < 5e-5


def test_a_finer_grid_is_closer():
    widths = []
    for unit in (2.0**-6, 2.0**-8):
        above, below = grid_laws(SampledGaussian("0.1", "1", 1), unit, int(2 / unit))
        widths.append(above.masses.sum() + above.infinite - below.masses.sum() - below.infinite)
    assert 0 < widths[1] < widths[0] / 8
