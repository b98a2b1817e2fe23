"""Shuffle bounds: ε by every method, and how long each takes, over sizes of the crowd up to 10^12."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from benchmarks.figures import Figure, Figures

DELTA = Fraction(1, 10**6)
# ε at δ = 1e-6 as measured before: (ε0, n): closed (None outside its domain), clones, Laplace blanket, attack on any randomiser
TABLE: dict[tuple[int, int], tuple[str | None, str, str, str]] = {
    (1, 10**3): (".5662", ".18241", ".1302", ".1306"),
    (1, 10**4): (".2140", ".053005", ".03784", ".0380"),
    (1, 10**6): (".0235", ".0043345", ".003066", ".00308"),
    (4, 10**4): (None, ".60091", ".3281", ".4066"),
    (4, 10**6): (".2010", ".049307", ".02760", ".03395"),
}
CROWDS = tuple(10**k for k in range(13))
LOCAL = ("0.01", "0.1", "1", "4", "8")
FAILURES = (Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**12))
REPEATED = 5  # each call is timed by the best of so many: the time it takes when nobody else is in the way, from empty caches


# ε0, n, δ, method, k, ε as measured before, and CPU ms of the public code of the variation-ratio reduction (Wang et al., arXiv
# 2304.05007; 20 halvings), timed once, elsewhere: quoted, not run
RANDOMISERS: tuple[tuple[int, int, str, str, int | None, str, int], ...] = (
    (4, 10**5, "1e-6", "same", None, ".1181532", 4397),
    (1, 10**4, "1e-6", "same", None, ".0432062", 4292),
    (2, 10**6, "1e-8", "same", None, ".0130369", 20998),
    (1, 10**4, "1e-6", "krr", 100, ".0071837", 1502),
    (3, 10**5, "1e-7", "krr", 10, ".0638706", 5424),
    (1, 10**4, "1e-6", "unary", None, ".0306878", 3705),
    (4, 10**5, "1e-6", "unary", None, ".1041244", 4224),
)


def shuffles() -> Figures:
    yield from _table()
    yield from _randomisers()
    for method in ("clone", "laplace"):
        yield from _times(method)


def _table() -> Figures:
    from dpaudit import amplify

    for (epsilon0, n), (closed, clone, laplace, attack) in TABLE.items():
        bounds = [amplify(epsilon0, n, DELTA, method=method) for method in ("closed", "clone", "laplace")]
        printed = f"{float(bounds[0].upper):.4f}" if bounds[0].in_domain else "invalid"
        reached = [printed, _like(bounds[1].upper, clone), _like(bounds[2].upper, laplace), _like(bounds[1].attack or 0, attack)]
        known = [closed or "invalid", clone, laplace, attack]
        met = all(Fraction(x) <= Fraction(y) for x, y in zip(reached[1:3], known[1:3], strict=True))
        name = f"ε closed|clone|laplace|attack, ε0={epsilon0}, n=10^{round(math.log10(n))}"
        yield Figure(name, "|".join(known), "|".join(reached).replace("0.", "."), met)
        yield Figure(
            f"attack on Laplace reports, ε0={epsilon0}, n=10^{round(math.log10(n))}", "", f"{float(bounds[2].attack or 0):.4g}"
        )


def _randomisers() -> Figures:
    """One randomiser for all, and blankets of finite ones, both ends certified, without the attack."""
    from dpaudit import amplify

    for epsilon0, n, delta, method, k, known, quoted in RANDOMISERS:
        found, seconds = _timed(lambda a=(epsilon0, n, delta, method, k): amplify(*a, attack=False), REPEATED)
        name = f"{method}{'' if k is None else f' k={k}'}, ε0={epsilon0}, n=10^{round(math.log10(n))}, δ={delta}"
        yield Figure(f"ε by {name}", f"≤ {known}", _like(found.upper, known), found.upper <= Fraction(known))
        times = f"{1000 * seconds:.1f} ms, {quoted / 1000 / seconds:.0f} times"
        yield Figure(
            f"CPU of {name}", f"≤ 100 ms, ≥ 20 times the quoted {quoted} ms", times, seconds <= min(0.1, quoted / 20_000)
        )


def _like(value: Fraction | int, pattern: str) -> str:
    return f"{float(value):.{len(pattern) - 1}f}"


def _times(method: str) -> Figures:
    """Worst and median CPU time over the grid of sizes, ε0 and δ; the inverse at the ε that was found."""
    from dpaudit import amplify, invert
    from dpaudit.accountants.shuffle.clone import CLONE
    from dpaudit.accountants.shuffle.inversion import estimated_epsilon, estimated_epsilon0
    from dpaudit.accountants.shuffle.laplace.blanket import Family

    family = CLONE if method == "clone" else Family()
    spent: dict[str, list[float]] = {"amplify": [], "invert": [], "estimate of ε": [], "estimate of ε0": []}
    widths = []
    for local in LOCAL:
        for n in CROWDS:
            for delta in FAILURES:
                found, seconds = _timed(lambda e=local, n=n, d=delta: amplify(e, n, d, method=method), REPEATED)
                spent["amplify"].append(seconds)
                target, log_delta = max(found.upper, Fraction(1, 1000)), math.log(delta)
                _, seconds = _timed(lambda e=target, n=n, d=delta: invert(e, n, d, method=method), REPEATED)
                spent["invert"].append(seconds)
                widths.append(float((found.upper - found.lower) / found.upper) if found.upper else 0.0)
                _, seconds = _timed(lambda e=local, n=n, d=log_delta: estimated_epsilon(family, float(e), n, d), REPEATED)
                spent["estimate of ε"].append(seconds)
                _, seconds = _timed(lambda e=target, n=n, d=log_delta: estimated_epsilon0(family, float(e), n, d), REPEATED)
                spent["estimate of ε0"].append(seconds)
    for what, times in spent.items():
        limit = 2 if what.startswith("estimate") else 100
        times.sort()
        worst, middle = 1000 * times[-1], 1000 * times[len(times) // 2]
        reached = f"worst {worst:.1f} ms, median {middle:.1f} ms CPU"
        yield Figure(f"{method}: {what}, n ≤ 10^12, {len(times)} cases", f"≤ {limit} ms", reached, worst <= limit)
    widths.sort()
    yield Figure(f"{method}: relative width of ε", "", f"worst {widths[-1]:.1e}, median {widths[len(widths) // 2]:.1e}")


def _timed(call: Callable[[], Any], times: int) -> tuple[Any, float]:
    from dpaudit.accountants.shuffle.laplace import lattice
    from dpaudit.accountants.shuffle.laplace import quadrature as laplace_floats

    best = math.inf
    for _ in range(times):
        lattice.lattice.cache_clear()
        laplace_floats.points.cache_clear()
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return result, best
