"""Compositions beside dp-accounting and Opacus, in one run: value, time, and how far apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from benchmarks.figures import Figure, Figures
from dpaudit.accountants import Part, compose, kairouz_epsilon
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.claims import Enclosure
from dpaudit.noise import GRID, Gaussian, Laplace, RandomizedResponse

DELTA = Fraction(1, 10**6)
STEP = int(1 / GRID)
Found = TypeVar("Found")


def compositions() -> Figures:
    many, gaussians = [Part(Laplace(10), STEP, 10_000)], [Part(Gaussian(10), STEP, 10_000)]
    compose(many, DELTA)  # once, to load everything
    ours = _timed(lambda: compose(many, DELTA))
    yield _reached("10^4 Laplace, ε = 0.1, δ = 1e-6", ours, 94.23587)
    yield _beside("the same against dp-accounting's PLD", ours, lambda: _pld(10_000), 100)
    yield _beside("Rényi divergences against dp-accounting's", _timed(lambda: renyi_epsilon(many, DELTA)), lambda: _rdp(10_000))
    ours = _timed(lambda: compose(gaussians, DELTA))
    yield _reached("10^4 Gaussians, σ = 10", ours, 96.717272)
    yield _beside("the same against Opacus PRV", ours, _opacus_prv)
    ours = _timed(lambda: compose([Part(Laplace(10), STEP, 100)], DELTA))
    yield _reached("100 Laplace, ε = 0.1", ours, 4.692667)
    yield _beside("the same against dp-accounting's PLD", ours, lambda: _pld(100))
    mix = [Part(Laplace(10), STEP, 50), Part(Gaussian(10), STEP, 50), Part(RandomizedResponse("0.3"), 1, 20)]
    yield Figure("50 Laplace, 50 Gaussians, 20 responses", "", _told(*_timed(lambda: compose(mix, DELTA))))
    apart = abs(float(_responses(100) - kairouz_epsilon("0.1", "0", 100, DELTA).upper))
    yield Figure("100 responses: numerical and optimal composition", "equal to 1e-8", f"{apart:.1e} apart", apart < 1e-8)


def _timed(call: Callable[[], Found]) -> tuple[Found, float]:
    started = time.perf_counter()
    found = call()
    return found, time.perf_counter() - started


def _told(found: Enclosure, seconds: float) -> str:
    return f"{float(found.upper):.6f}, width {float(found.upper - found.lower):.0e}, {seconds * 1e3:.0f} ms"


def _reached(name: str, timed: tuple[Enclosure, float], figure: float) -> Figure:
    """Within 1e-4 of the figure, and certified to that."""
    found = timed[0]
    met = abs(float(found.upper) - figure) <= 1e-4 and float(found.upper - found.lower) <= 1e-4
    return Figure(name, f"{figure} ± 1e-4", _told(*timed), met)


def _beside(name: str, ours: tuple[Enclosure, float], peer: Callable[[], float], times: int = 0) -> Figure:
    """What a peer says and how long it takes, if it is installed."""
    try:
        value, seconds = _timed(peer)
    except ImportError as missing:
        return Figure(name, f"≥ {times} ×" if times else "", f"{missing.name} is not installed")
    figure = f"{seconds / ours[1]:,.1f} × ({value:.6f} in {seconds:.3f} s; ours {float(ours[0].upper):.6f})"
    return Figure(name, f"≥ {times} ×" if times else "", figure, seconds >= times * ours[1] if times else None)


def _responses(count: int) -> Fraction:
    return compose([Part(RandomizedResponse("0.1"), 1, count)], DELTA).upper


def _pld(count: int) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant()
    accountant.compose(dp_event.LaplaceDpEvent(10.0), count)
    return float(accountant.get_epsilon(float(DELTA)))


def _rdp(count: int) -> float:
    from dp_accounting import dp_event
    from dp_accounting.rdp import rdp_privacy_accountant

    accountant = rdp_privacy_accountant.RdpAccountant()
    accountant.compose(dp_event.LaplaceDpEvent(10.0), count)
    return float(accountant.get_epsilon(float(DELTA)))


def _opacus_prv() -> float:
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(10.0, 1.0, 10_000)]
    return float(accountant.get_epsilon(delta=float(DELTA)))
