import mpmath
import numpy as np

from dpaudit.accountants.sampling.lattice.fourier import inverse, transform, transform_error


def test_transform_stays_within_its_error_bound():
    rng = np.random.default_rng(4)
    x = rng.normal(size=64) + 1j * rng.normal(size=64)
    mpmath.mp.dps = 40
    exact = [sum(mpmath.mpc(v) * mpmath.expjpi(mpmath.mpf(-2 * j * k) / 64) for j, v in enumerate(x.tolist())) for k in range(64)]
    off = mpmath.sqrt(sum(abs(mpmath.mpc(complex(a)) - b) ** 2 for a, b in zip(transform(x), exact, strict=True)))
    size = mpmath.sqrt(sum(abs(b) ** 2 for b in exact))
    mpmath.mp.dps = 15
    assert float(off / size) <= transform_error(64)
    assert float(off / size) > 0


def test_inverse_undoes_the_transform():
    x = np.arange(1024) / 1024 + 0j
    assert np.abs(inverse(transform(x)) - x).max() < 1e-13
