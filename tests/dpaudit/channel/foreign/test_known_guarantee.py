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


def test_the_rho_of_a_gaussian_is_no_epsilon_and_is_refused_until_it_is_converted() -> None:
    gaussian = odp.m.make_gaussian(odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float), scale=4.0)
    profile = odp.c.make_zCDP_to_approxDP(gaussian)
    with ledger() as book, dp.live(book, ("3", "1e-6")) as channel:
        for measure in (gaussian, odp.c.make_approximate(gaussian), odp.c.make_pureDP_to_zCDP(laplace(2.0)), profile):
            with pytest.raises(InvalidValue, match="make_fix_delta"):
                channel.known("sum", measure, 5.0, distance=1.0)
        assert not list(book.releases())
        assert isinstance(channel.known("sum", odp.c.make_fix_delta(profile, 1e-7), 5.0, distance=1.0), float)
        (release,) = book.releases()
    assert release.epsilon > 1  # type: ignore[operator]  # where ρ = 1/32
    assert release.delta == Fraction(1, 10**7)


def test_sealed_data_that_moves_further_than_the_distance_is_refused_and_not_charged() -> None:
    numbers, atoms = dp.seal(np.ones((10, 2)), 0, 3), odp.atom_domain(T=float, nan=False)
    euclidean = odp.c.make_zCDP_to_approxDP(odp.m.make_gaussian(odp.vector_domain(atoms), odp.l2_distance(T=float), scale=9.0))
    vector = odp.c.make_fix_delta(euclidean, 1e-7)
    with ledger() as book, dp.live(book, ("9", "1e-6")) as channel:
        for measure, data, distance in ((laplace(2.0), numbers[:, 0].sum(), 2.9), (vector, numbers.sum(axis=0), 4.2)):
            with pytest.raises(dp.SensitivityError, match="declares sensitivity"):
                channel.known("sum", measure, data, distance=distance)
        assert not list(book.releases())
        channel.known("sum", laplace(2.0), numbers[:, 0].sum(), distance=3.0)
        channel.known("sums", vector, numbers.sum(axis=0), distance=4.25)  # 3√2
        channel.known("lost", laplace(2.0), np.tan(numbers[:, 0]).sum(), distance=0.1)  # nothing is known of it: as declared
        assert [release.name for release in book.releases()] == ["sum", "sums", "lost"]


def test_a_sealed_vector_is_handed_over_as_an_array_of_its_own() -> None:
    vector = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.l1_distance(T=float)
    values = np.ones(3)
    with ledger() as book, dp.live(book, "5") as channel:
        assert len(channel.known("three", odp.m.make_laplace(*vector, scale=1.0), dp.seal(values, 0, 1), distance=1.0)) == 3
        channel.known("zeroed", lambda given: given.fill(0), dp.seal(values, 0, 1), epsilon="1")
    assert values.tolist() == [1, 1, 1]


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
