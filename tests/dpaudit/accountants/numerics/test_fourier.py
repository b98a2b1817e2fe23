import mpmath
import numpy as np

from dpaudit.accountants.numerics.fourier import inverse, real_transform, transform, transform_error


def relative_error(found, x):
    """‖found − transform of x‖₂/‖·‖₂ in 40 digits, over the nodes that were found."""
    mpmath.mp.dps = 40
    size, numbers = len(x), [mpmath.mpc(complex(value)) for value in x]
    turns = [mpmath.expjpi(mpmath.mpf(-2 * j) / size) for j in range(size)]
    exact = [sum(v * turns[j * k % size] for j, v in enumerate(numbers)) for k in range(len(found))]
    off = mpmath.sqrt(sum(abs(mpmath.mpc(complex(a)) - b) ** 2 for a, b in zip(found, exact, strict=True)))
    whole = mpmath.sqrt(sum(abs(b) ** 2 for b in exact))
    mpmath.mp.dps = 15
    return float(off / whole)


def test_transform_stays_within_its_error_bound():
    rng = np.random.default_rng(4)
    for size in (2, 32, 64):
        x = rng.normal(size=size) + 1j * rng.normal(size=size)
        off = relative_error(transform(x), x)
        assert off <= transform_error(size)
        assert off > 0


def test_the_transform_of_real_numbers_is_the_first_half_of_the_other():
    rng = np.random.default_rng(5)
    for size in (2, 64):
        x = rng.random(size)
        found = real_transform(x)
        assert len(found) == size // 2 + 1
        assert relative_error(found, x) <= transform_error(2 * size)
        assert np.abs(found - transform(x + 0j)[: size // 2 + 1]).max() < 1e-13


def test_inverse_undoes_the_transform():
    x = np.arange(1024) / 1024 + 0j
    assert np.abs(inverse(transform(x)) - x).max() < 1e-13
