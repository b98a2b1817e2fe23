"""Compositions beside dp-accounting's PLD, Rényi and Opacus: value, width and CPU time, taking turns, all in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.figures import Figure, Figures
from dpaudit.accountants import Part, compose, kairouz_epsilon
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.claims import Enclosure
from dpaudit.noise import GRID, Gaussian, Laplace, RandomizedResponse

DELTA = Fraction(1, 10**6)
STEP = int(1 / GRID)
REPEATS = 3
LEAST_RATIO = 20
LEAST_CPU = 0.05


@dataclass(frozen=True)
class Row:
    """A composition, the value it should have, and how many ms it may take; None where nothing is asked."""

    name: str
    parts: Sequence[Part]
    peer: Callable[[], float]
    value: float | None
    most_ms: float | None
    times: int = LEAST_RATIO


def rows() -> Iterator[Row]:
    for count, value, most in ((10, 0.998978, 5.0), (30, 2.297819, 5.0), (100, 4.692667, 10.0), (10_000, 94.23587, None)):
        parts = [Part(Laplace(10), STEP, count)]
        yield Row(f"{count:,} Laplace, ε = 0.1", parts, lambda count=count: _pld([("laplace", 10.0, count)]), value, most)  # type: ignore[misc]
    yield Row("1,000 different Laplace and Gaussian", _different(1000), lambda: _pld(_events(1000)), None, 100.0)
    gaussians = [Part(Gaussian(10), STEP, 10_000)]
    yield Row("10,000 Gaussians, σ = 10, against Opacus PRV", gaussians, _opacus_prv, 96.717272, None)


def compositions() -> Figures:
    for row in rows():
        yield from _beside(row)
    many = [Part(Laplace(10), STEP, 10_000)]
    yield Figure(
        "10,000 Laplace by Rényi divergences", "", _told(renyi_epsilon(many, DELTA), cpu_of(lambda: renyi_epsilon(many, DELTA)))
    )
    mix = [Part(Laplace(10), STEP, 50), Part(Gaussian(10), STEP, 50), Part(RandomizedResponse("0.3"), 1, 20)]
    yield Figure("50 Laplace, 50 Gaussians, 20 responses", "", _told(compose(mix, DELTA), cpu_of(lambda: compose(mix, DELTA))))
    apart = abs(float(_responses(100) - kairouz_epsilon("0.1", "0", 100, DELTA).upper))
    yield Figure("100 responses: numerical and optimal composition", "equal to 1e-8", f"{apart:.1e} apart", apart < 1e-8)


def _beside(row: Row) -> Figures:
    """Both in turns, warmed up: value and time of ours, ratio to the peer's."""
    found = compose(row.parts, DELTA)
    try:
        theirs = row.peer()
    except ImportError as missing:
        yield Figure(row.name, "", f"{_told(found, cpu_of(lambda: compose(row.parts, DELTA)))}; {missing.name} is not installed")
        return
    own, peer = [], []
    for _ in range(REPEATS):
        own.append(cpu_of(lambda: compose(row.parts, DELTA)))
        peer.append(cpu_of(row.peer))
    spent, other = statistics.median(own), statistics.median(peer)
    near = row.value is None or (abs(float(found.upper) - row.value) <= 1e-4 and float(found.upper - found.lower) <= 1e-4)
    asked = ("" if row.value is None else f"{row.value} ± 1e-4") + ("" if row.most_ms is None else f", ≤ {row.most_ms:g} ms")
    met = near and (row.most_ms is None or spent * 1e3 <= row.most_ms)
    yield Figure(row.name, asked.strip(", "), _told(found, spent), met)
    figure = f"{other / spent:,.1f} × ({theirs:.6f} in {other * 1e3:,.1f} ms)"
    yield Figure("  the same against the peer", f"≥ {row.times} ×", figure, other >= row.times * spent)


def cpu_of(call: Callable[[], object]) -> float:
    """CPU seconds of one call; of short ones the mean of so many that they take ``LEAST_CPU`` together, for peers too."""
    started, calls = time.process_time(), 0
    while True:
        call()
        calls += 1
        spent = time.process_time() - started
        if spent >= LEAST_CPU:
            return spent / calls


def _told(found: Enclosure, seconds: float) -> str:
    return f"{float(found.upper):.6f}, width {float(found.upper - found.lower):.0e}, {seconds * 1e3:.1f} ms"


def _different(count: int) -> list[Part]:
    half = count // 2
    laplace = [Part(Laplace(f"{10 + i / 50:.2f}"), STEP) for i in range(half)]
    return laplace + [Part(Gaussian(f"{30 + i / 50:.2f}"), STEP) for i in range(count - half)]


def _events(count: int) -> list[tuple[str, float, int]]:
    half = count // 2
    return [("laplace", 10 + i / 50, 1) for i in range(half)] + [("gaussian", 30 + i / 50, 1) for i in range(count - half)]


def _responses(count: int) -> Fraction:
    return compose([Part(RandomizedResponse("0.1"), 1, count)], DELTA).upper


def _pld(releases: Sequence[tuple[str, float, int]]) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant()
    events = {"laplace": dp_event.LaplaceDpEvent, "gaussian": dp_event.GaussianDpEvent}
    for name, size, count in releases:
        accountant.compose(events[name](size), count)
    return float(accountant.get_epsilon(float(DELTA)))


def _opacus_prv() -> float:
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(10.0, 1.0, 10_000)]
    return float(accountant.get_epsilon(delta=float(DELTA)))
