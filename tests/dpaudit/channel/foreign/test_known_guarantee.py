"""Mechanisms of other libraries: charged before they run by what they declare, never certified, attacked as black boxes.

OpenDP itself is used; ``tool`` stands in for ``diffprivlib.tools.mean``, with its signature.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import opendp.prelude as odp
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger

odp.enable_features("contrib")


def tool(array: Any, epsilon: float = 1.0, bounds: tuple[float, float] = (0, 1)) -> float:
    width = (bounds[1] - bounds[0]) / len(array)
    return float(np.mean(array) + np.random.default_rng(0).laplace(0, width / epsilon))


def laplace(scale: float) -> Any:
    space = odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float)
    return odp.m.make_laplace(*space, scale=scale)


def ledger() -> MemoryLedger:
    return MemoryLedger(kind="deployment")


def test_a_measurement_of_opendp_is_charged_as_its_map_says() -> None:
    with ledger() as book, dp.live(book, "1.1") as channel:
        noisy = channel.known("sum", laplace(2.0), 5.0, distance=2.0)
        assert isinstance(noisy, float)
        with pytest.raises(dp.BudgetExceeded):
            channel.known("sum", laplace(2.0), 5.0, distance=2.0)
        (release,) = book.releases()
    assert release.mechanism == "known"
    assert 1 <= release.epsilon < 1 + Fraction(1, 10**9)  # type: ignore[operator]


def test_a_tool_is_charged_as_stated_before_it_runs() -> None:
    ran: list[Any] = []
    with ledger() as book, dp.live(book, ("1", "1e-6")) as channel:
        mean = partial(tool, epsilon=0.5, bounds=(0, 1))
        assert 0 < channel.known("mean", mean, dp.seal(np.full(100, 0.5), 0, 1), epsilon="0.5", delta="1e-7") < 1
        with pytest.raises(dp.BudgetExceeded):
            channel.known("mean", ran.append, np.ones(3), epsilon="0.6")
        assert dp.account(book, delta="1e-6").epsilon == Fraction(1, 2)
    assert ran == []


def test_a_door_for_proven_releases_and_a_simulated_one_refuse_it() -> None:
    with (
        ledger() as book,
        dp.live(book, "1", proven=True) as channel,
        pytest.raises(dp.DpauditError, match="proven releases only"),
    ):
        channel.known("mean", tool, np.ones(3), epsilon="1")
    with dp.simulate(1) as channel, pytest.raises(dp.DpauditError, match="audit it as a black box"):
        channel.known("mean", tool, np.ones(3), epsilon="1")


@pytest.mark.parametrize("stated", [{}, {"distance": 1.0}, {"epsilon": "-1"}, {"epsilon": "1", "delta": "2"}])
def test_a_guarantee_must_be_stated(stated: Any) -> None:
    with ledger() as book, dp.live(book, "1") as channel, pytest.raises(InvalidValue):
        channel.known("mean", tool, np.ones(3), **stated)


def test_it_is_attacked_as_a_black_box() -> None:
    def subject(scale: float) -> Any:
        measure = laplace(scale)

        @dp.subject(claim=dp.Claim("1", arithmetic="ideal"), neighbours=[(np.zeros(1), np.ones(1))])
        def noisy(data: Any, rng: Any) -> Any:
            return measure(float(data.sum()))

        return noisy

    dp.assert_private(subject(1.0), require="not-refuted", samples=500, seed=1)
    with pytest.raises(AssertionError, match="refuted"):
        dp.assert_private(subject(0.1), require="not-refuted", samples=500, seed=1)
