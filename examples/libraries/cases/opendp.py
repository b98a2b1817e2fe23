"""OpenDP: measurements with the ε that their own maps state at the distance of the pair, rounded up; Gaussians at δ = 0.01."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from case import Case, replaced

BITS = [1, 0, 1, 1, 0, 0, 1, 0]
VALUES = [0.5, 0.2, 0.4, 0.6, 0.8, 0.3, 0.7, 0.1]
RECORDS = (replaced(BITS, 0), replaced(BITS, 1))
REALS = (replaced(VALUES, 0.0), replaced(VALUES, 1.0))
ONE_APART = "queries at distance 1, as the measurement's map has it"
LOCAL = "one value, in the local model"
ROUNDED = "1.0000001"  # what the maps of sums of floats state, a little above 1


def prelude() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point", "honest-but-curious")
    return dp


def made(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A measurement that is made once."""

    @lru_cache(maxsize=1)
    def measurement() -> Any:
        return build(prelude())

    return lambda value: measurement()(value)


def integers(dp: Any) -> tuple[Any, Any]:
    return dp.atom_domain(T="i32"), dp.absolute_distance(T="i32")


def reals(dp: Any) -> tuple[Any, Any]:
    return dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")


def vectors(dp: Any, kind: str = "i32") -> tuple[Any, Any]:
    atoms = dp.atom_domain(T=kind, nan=False) if kind == "f64" else dp.atom_domain(T=kind)
    return dp.vector_domain(atoms), dp.l1_distance(T=kind)


def scores(dp: Any) -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.linf_distance(T="f64", monotonic=False)


def rows(dp: Any, kind: str) -> tuple[Any, Any]:
    atoms = dp.atom_domain(bounds=(0, 1), T="i32") if kind == "i32" else dp.atom_domain(bounds=(0.0, 1.0), nan=False)
    return dp.vector_domain(atoms, size=len(BITS)), dp.symmetric_distance()


CASES = [
    Case("make_laplace, integers", made(lambda dp: dp.m.make_laplace(*integers(dp), scale=1.0)), (0, 1), neighbours=ONE_APART),
    Case("make_laplace, reals", made(lambda dp: dp.m.make_laplace(*reals(dp), scale=1.0)), (0.0, 1.0), neighbours=ONE_APART),
    Case(
        "make_laplace, vectors", made(lambda dp: dp.m.make_laplace(*vectors(dp), scale=1.0)), ([0, 5], [1, 5]),
        neighbours=ONE_APART,
    ),
    Case(
        "make_laplace, vectors of reals", made(lambda dp: dp.m.make_laplace(*vectors(dp, "f64"), scale=1.0)),
        ([0.0, 0.5], [0.5, 1.0]), neighbours=ONE_APART,
    ),
    Case("make_geometric", made(lambda dp: dp.m.make_geometric(*integers(dp), scale=1.0)), (0, 1), neighbours=ONE_APART),
    Case(
        "make_geometric, bounded", made(lambda dp: dp.m.make_geometric(*integers(dp), scale=1.0, bounds=(0, 3))), (0, 1),
        neighbours=ONE_APART,
    ),
    Case(
        "make_gaussian, reals", made(lambda dp: dp.m.make_gaussian(*reals(dp), scale=4.0)), (0.0, 1.0), "0.463", "0.01",
        ONE_APART,
    ),
    Case(
        "make_gaussian, integers", made(lambda dp: dp.m.make_gaussian(*integers(dp), scale=4.0)), (0, 1), "0.463", "0.01",
        ONE_APART,
    ),
    Case(
        "make_randomized_response_bool", made(lambda dp: dp.m.make_randomized_response_bool(prob=0.731)), (False, True),
        "0.99971", neighbours=LOCAL,
    ),
    Case(
        "make_randomized_response", made(lambda dp: dp.m.make_randomized_response(categories=[0, 1, 2], prob=0.576)), (0, 1),
        "0.99953", neighbours=LOCAL,
    ),
    Case(
        "make_noisy_max", made(lambda dp: dp.m.make_noisy_max(*scores(dp), dp.max_divergence(), scale=2.0)),
        ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]), neighbours="every score moves by at most 1",
    ),
    Case(
        "make_noisy_top_k", made(lambda dp: dp.m.make_noisy_top_k(*scores(dp), dp.max_divergence(), k=2, scale=4.0)),
        ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]), neighbours="every score moves by at most 1",
    ),
    Case(
        "then_sum, then_laplace, integers",
        made(lambda dp: rows(dp, "i32") >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0)), RECORDS,
    ),
    Case(
        "then_sum, then_laplace, reals",
        made(lambda dp: rows(dp, "f64") >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0)), REALS, ROUNDED,
    ),
    Case(
        "then_mean, then_laplace",
        made(lambda dp: rows(dp, "f64") >> dp.t.then_mean() >> dp.m.then_laplace(scale=0.125)), REALS, ROUNDED,
    ),
    Case(
        "then_count_by_categories, then_laplace",
        made(
            lambda dp: rows(dp, "i32") >> dp.t.then_count_by_categories(categories=[0, 1], null_category=False)
            >> dp.m.then_laplace(scale=2.0)
        ),
        RECORDS,
    ),
    Case(
        "then_variance, then_laplace",
        made(lambda dp: rows(dp, "f64") >> dp.t.then_variance() >> dp.m.then_laplace(scale=0.125)), REALS, ROUNDED,
    ),
]  # fmt: skip
