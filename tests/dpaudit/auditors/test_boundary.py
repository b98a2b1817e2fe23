"""Mechanisms with exactly the claimed ε: audits flag them no more often than they say, and see it when there is more."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

BenchmarkModule = Callable[[str], ModuleType]


def test_500_audits_on_the_boundary_flag_within_the_binomial_limit(benchmark_module: BenchmarkModule) -> None:
    """Five mechanisms, one of them with a δ. At α = .05 and .01; more than the limit has probability 10^-6. The twin decides by
    the plain estimate, and flags about half of them."""
    boundary = benchmark_module("boundary")
    over, plain = boundary.flags(500, (0.05, 0.01), tested=1000)
    assert over[0] <= boundary.limit(500, 0.05) < plain
    assert over[1] <= boundary.limit(500, 0.01)


def test_a_little_more_than_the_claim_is_seen(benchmark_module: BenchmarkModule) -> None:
    """ε = 1.2 with 2,000 guesses and 1.1 with 10,000, against 1: in 95 % of 100 audits, less three standard errors."""
    boundary = benchmark_module("boundary")
    assert boundary.power(100, 1.2, 2000) >= 89
    assert boundary.power(100, 1.1, 10_000) >= 89
    assert boundary.power(100, 1.0, 2000) <= 19  # the twin: nothing to see
