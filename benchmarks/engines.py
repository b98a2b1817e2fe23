"""What each engine beside the contour buys: the same certified question with and without it, where it is the one that answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchmarks.figures import Figure, Figures

LOCAL = ("0.1", "0.5", "1", "2", "4", "8")
CROWDS = (2, 5, 10, 20, 100, 10**3, 10**4, 10**5, 10**6, 10**8)
FAILURES = (Fraction(1, 10**4), Fraction(1, 10**8), Fraction(1, 10**12))
# rate, σ and number of releases from Poisson samples
SAMPLES = (
    ("0.01", "1", 2),
    ("0.01", "1", 10),
    ("0.1", "2", 5),
    ("0.2", "1", 3),
    ("0.001", "0.8", 12),
    ("0.001", "0.5", 30),
    ("0.01", "0.5", 20),
)
BITS = 320
LEAST_TIMES, LEAST_DIGITS = 1.5, 1.0  # what an engine buys at least: so many times the time, or so many digits
_CUT = 10**10  # the second contour leaves out what is so many times less likely than δ
WORTHLESS = 1.0  # the relative width of no answer


@dataclass(frozen=True)
class Answer:
    """CPU time and relative width of one enclosure."""

    seconds: float
    width: float


Ask = Callable[[], tuple[Any, Any]]  # (lower, upper), as fractions or floats


def engines() -> Figures:
    """One figure for each engine: in how many cases it is asked, and what these take with it and by the contour alone."""
    asked: dict[str, list[tuple[Answer, Answer]]] = {}
    for name, ask, by_contour in _questions():
        asked.setdefault(name, []).append((_answer(ask), _answer(by_contour)))
    for name, pairs in asked.items():
        times = [contour.seconds / own.seconds for own, contour in pairs]
        digits = [math.log10(max(contour.width, 1e-30) / max(own.width, 1e-30)) for own, contour in pairs]
        none = sum(contour.width >= WORTHLESS for _, contour in pairs)
        own, contour = ([pair[side] for pair in pairs] for side in (0, 1))
        yield Figure(
            f"{name}: {len(pairs)} questions",
            f"≥ {LEAST_TIMES} times quicker or ≥ {LEAST_DIGITS:.0f} digit",
            f"{_median(times):.1f} times ({_spent(own)} for {_spent(contour)}), {_median(digits):.1f} digits "
            f"({_median([each.width for each in own]):.0e} for {_median([each.width for each in contour]):.0e}), "
            f"{none} have no answer by the contour",
            _median(times) >= LEAST_TIMES or _median(digits) >= LEAST_DIGITS,
        )


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _spent(answers: list[Answer]) -> str:
    return f"{1000 * _median([each.seconds for each in answers]):.2g} ms"


def _answer(ask: Ask) -> Answer:
    best, width = math.inf, WORTHLESS
    for _ in range(2):
        start = time.process_time()
        try:
            low, high = ask()
            width = min(WORTHLESS, float((high - low) / high)) if high and low <= high else WORTHLESS
        except (ArithmeticError, ValueError):
            width = WORTHLESS
        best = min(best, time.process_time() - start)
    return Answer(max(best, 1e-7), width)


def _questions() -> Iterator[tuple[str, Ask, Ask]]:
    """The name of the engine that answers, its answer, and that of the contour."""
    yield from _finite_questions()
    yield from _laplace_questions()
    yield from _sampled_questions()


def _cases(family: Any) -> Iterator[tuple[Fraction, int, Fraction]]:
    """ε0, n, and the ε at which δ(ε) is about δ."""
    from dpaudit.accountants.shuffle.inversion import estimated_epsilon

    for local in LOCAL:
        for n in CROWDS:
            for delta in FAILURES:
                epsilon = estimated_epsilon(family, float(local), n, math.log(delta))
                if 0 < epsilon < float(local) * (1 - 1e-6):
                    yield Fraction(local), n, Fraction(epsilon)


def _finite_questions() -> Iterator[tuple[str, Ask, Ask]]:
    """Clones, one randomiser for all, responses, encodings and a coarse lattice."""
    from dpaudit.accountants.numerics.contour import enclose
    from dpaudit.accountants.shuffle.blankets import OPTIMISED, UNARY, response_blanket
    from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE, SAME
    from dpaudit.accountants.shuffle.finite_family import engines as chosen
    from dpaudit.claims.balls import precision

    families = CLONE, SAME, RESPONSE, response_blanket(3), response_blanket(100), UNARY, OPTIMISED
    names = {
        "exact_sum": "exact sum of a pair of values (paired_sum.py)",
        "enumerated": "all counts (enumeration.py)",
        "enclose_atoms": "contour in doubles (array_contour.py)",
    }
    for family in families:
        for epsilon0, n, epsilon in _cases(family):
            with precision(BITS):
                (law,) = family.enclosures(epsilon0, n, epsilon)
                engine = chosen(law)[0]
            if engine is not enclose:
                yield names[engine.__name__], _enclosing(engine, law), _enclosing(enclose, law)


def _enclosing(engine: Callable[[Any], tuple[Any, Any]], law: Any) -> Ask:
    from dpaudit.accountants.shuffle.finite_family import outward
    from dpaudit.claims.balls import precision

    def ask() -> tuple[Fraction, Fraction]:
        with precision(BITS):
            return outward(*engine(law))

    return ask


def _laplace_questions() -> Iterator[tuple[str, Ask, Ask]]:
    """The blanket on the deployed lattice."""
    from dpaudit.accountants.numerics.contour import enclose
    from dpaudit.accountants.shuffle.laplace import blanket, blanket_on_grid
    from dpaudit.accountants.shuffle.laplace.contour_law import BlanketLaw
    from dpaudit.accountants.shuffle.laplace.lattice import lattice
    from dpaudit.accountants.shuffle.laplace.quadrature import LaplaceFloats
    from dpaudit.claims.balls import precision

    for epsilon0, n, epsilon in _cases(blanket.Family()):
        if blanket.is_smooth(LaplaceFloats(float(epsilon0), blanket.GRID_STEPS, n, float(epsilon))):
            continue

        def on_grid(e0: Fraction = epsilon0, n: int = n, e: Fraction = epsilon) -> tuple[float, float]:
            low, high = blanket_on_grid.enclosed(e0, n, e, blanket.GRID_STEPS)
            return math.exp(low), math.exp(high)

        with precision(BITS):
            law = BlanketLaw(lattice(epsilon0, blanket.GRID_STEPS, BITS), n, epsilon)
        yield "Laplace blanket on a grid (blanket_on_grid.py)", on_grid, _enclosing(enclose, law)


def _sampled_questions() -> Iterator[tuple[str, Ask, Ask]]:
    """ε of few releases from Poisson samples, for removing a record."""
    import numpy as np

    from dpaudit.accountants.sampling.contours.contour import MOST_PRODUCTS, Composition
    from dpaudit.accountants.sampling.contours.search import contour_epsilon, moment_bound
    from dpaudit.accountants.sampling.groups import SampledGaussian
    from dpaudit.accountants.sampling.lattice.grid_search import grid_epsilon

    for rate, sigma, count in SAMPLES:
        groups = (SampledGaussian(Fraction(rate), Fraction(sigma), count),)
        composed = Composition(groups, Fraction(0), "remove", ())
        for delta in FAILURES:
            most = float(moment_bound(composed, delta))

            def on_grid(groups: Any = groups, delta: Fraction = delta, most: float = most) -> tuple[Fraction, Fraction]:
                ends = grid_epsilon(groups, delta, most)
                return ends.lower, ends.upper

            def by_contour(composed: Composition = composed, delta: Fraction = delta) -> tuple[Fraction, Fraction]:
                with np.errstate(all="ignore"):
                    try:
                        ends = contour_epsilon(composed, delta, MOST_PRODUCTS)
                    except (ArithmeticError, ValueError):
                        ends = contour_epsilon(composed.with_cuts(delta / _CUT), delta, MOST_PRODUCTS)
                return ends.lower, ends.upper

            yield "ε of few sampled Gaussians (sampling/lattice)", on_grid, by_contour
