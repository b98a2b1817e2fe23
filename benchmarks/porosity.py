"""The porosity test, DPA006: false alarms over 1,000 audits of each honest mechanism, and power beside them.

``python -m benchmarks.porosity [--audits 1000]``. At α = 1 %, at most 1 % of the audits may flag a mechanism, those at the
boundary included. Seeds are fixed; runs per side are those of an audit without `trials`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

import dpaudit as dp
from benchmarks.figures import HEADER, Figure, Figures
from dpaudit.auditors.floats.porosity import porosity
from dpaudit.noise.sampling.source import SecureSource

ALPHA = 0.01
RUNS = 2_000
Draw = Callable[[np.random.Generator, float], np.ndarray]


def lattice(noise: dp.Laplace | dp.Gaussian, divisor: float = 1.0) -> Draw:
    def draw(rng: np.random.Generator, centre: float) -> np.ndarray:
        return noise.simulate(np.full(RUNS, int(centre * 2**20)), rng) / 2.0**20 / divisor

    return draw


def floats(sampler: str, scale: float = 1.0, step: float = 0.0) -> Draw:
    def draw(rng: np.random.Generator, centre: float) -> np.ndarray:
        values = centre + getattr(rng, sampler)(scale=scale, size=RUNS)
        return np.round(values / step) * step if step else values

    return draw


def last_bit(usual: float, other: float) -> Draw:
    """A coarse value and a last bit that is set with one probability at centre 0 and with the other at centre 1."""

    def draw(rng: np.random.Generator, centre: float) -> np.ndarray:
        coarse = np.round(rng.uniform(1, 2, RUNS) * 2.0**20) / 2.0**20
        return coarse + 2.0**-50 * (rng.random(RUNS) < (other if centre else usual))

    return draw


def lattice_of(multiple: int) -> Draw:
    """Uniform noise on multiples of an odd number of units."""

    def draw(rng: np.random.Generator, centre: float) -> np.ndarray:
        return centre + multiple * 2.0**-52 * rng.integers(-(2**52), 2**52, size=RUNS)

    return draw


def snapping(rng: np.random.Generator, centre: float) -> np.ndarray:
    """Rounded to a power of two near the scale, and clamped (Mironov 2012); claimed at twice the ε of its noise."""
    return np.clip(np.round(centre + rng.laplace(size=RUNS)), -50.0, 50.0)


def whole(rng: np.random.Generator, centre: float) -> np.ndarray:
    return centre + rng.geometric(1 - math.exp(-1), RUNS) - rng.geometric(1 - math.exp(-1), RUNS)


HONEST: dict[str, tuple[Draw, float]] = {
    "lattice Laplace": (lattice(dp.Laplace(scale=1)), 1.0),
    "lattice Laplace over 100": (lattice(dp.Laplace(scale=1), 100.0), 1.0),
    "lattice Gaussian": (lattice(dp.Gaussian(sigma=1)), 1.0),
    "lattice Gaussian over 3": (lattice(dp.Gaussian(sigma=1), 3.0), 1.0),
    "floats rounded to 0.01": (floats("laplace", step=0.01), 1.0),
    "floats rounded to 1e-9": (floats("laplace", step=1e-9), 1.0),
    "snapping": (snapping, 2.0),
    "whole numbers": (whole, 1.0),
    "last bit, 8 times as often: the boundary": (last_bit(0.4, 0.05), math.log(8)),
    "last bit, 8 times as often, rare": (last_bit(0.04, 0.005), math.log(8)),
    "last bit, 8 times as often, always": (last_bit(1.0, 0.125), math.log(8)),
}
POROUS: dict[str, tuple[Draw, float]] = {
    "numpy Laplace": (floats("laplace"), 1.0),
    "numpy Laplace, scale 2": (floats("laplace", 2.0), 0.5),
    "numpy normal": (floats("normal"), 1.0),
    "numpy normal, scale 5": (floats("normal", 5.0), 1.0),
    "numpy Laplace, scale 100": (floats("laplace", 100.0), 0.01),
    "uniform on multiples of 5·2^-52": (lattice_of(5), 1.0),
    "last bit, 18 times as often": (last_bit(0.9, 0.05), math.log(8)),
}


def flags(draw: Draw, epsilon: float, audits: int) -> int:
    found = 0
    for audit in range(audits):
        rng = np.random.default_rng([2012, audit])
        found += porosity(draw(rng, 0.0), draw(rng, 1.0), alpha=ALPHA, epsilon=epsilon) is not None
    return found


def false_alarms(audits: int = 1000) -> Figures:
    limit = int(ALPHA * audits)
    for name, (draw, epsilon) in HONEST.items():
        found = flags(draw, epsilon, audits)
        yield Figure(f"false alarms, {name}", f"≤ {limit} of {audits}", str(found), found <= limit)
    for name, (draw, epsilon) in POROUS.items():
        few = max(audits // 10, 10)
        found = flags(draw, epsilon, few)
        yield Figure(f"power, {name}", f"≥ 95 % of {few}", str(found), found >= 0.95 * few)
    units = dp.Laplace(scale=1).draw(np.zeros(10**6, dtype=np.int64), SecureSource())
    found = int(porosity(units / 2.0**20, units / 2.0**20, grid="1/1048576") is not None)
    yield Figure("10^6 exact draws off their lattice", "0", str(found), found == 0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.porosity", description=__doc__)
    parser.add_argument("--audits", type=int, default=1000, help="audits of each honest mechanism (default 1000)")
    print(HEADER)
    for figure in false_alarms(parser.parse_args().audits):
        print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
