"""Our figures beside those of Opacus and dp-accounting. Both are installed by `make test`; a missing one is a failure."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant, privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant
from opacus.accountants import GaussianAccountant

from dpaudit.accountants import Part, account
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.peers.calls import CannotExpress, dp_accounting, opacus
from dpaudit.accountants.peers.comparison import Figure, judge
from dpaudit.accountants.sampling import SampledGaussian, sampled_epsilon
from dpaudit.channel.release_cost import gaussian_epsilon
from dpaudit.ledger import Release
from dpaudit.noise import GRID, Gaussian, Laplace

DELTA = Fraction(1, 10**6)
STEPS = int(1 / GRID)  # sensitivity 1


def gaussian(name: str, sigma: str) -> Release:
    return Release(name=name, mechanism="gaussian", sensitivity=Fraction(1), parameters={"sigma": sigma})


def laplace(name: str, scale: str) -> Release:
    return Release(name=name, mechanism="laplace", sensitivity=Fraction(1), parameters={"scale": scale})


@pytest.mark.parametrize("sigma", ["1", "4", "10"])
def test_one_gaussian_release_agrees_with_the_privacy_loss_distribution(sigma: str) -> None:
    ours = float(gaussian_epsilon(Gaussian(sigma), STEPS, DELTA))
    peer = privacy_loss_distribution.from_gaussian_mechanism(float(sigma), value_discretization_interval=1e-5)
    assert ours == pytest.approx(peer.get_epsilon_for_delta(float(DELTA)), rel=2e-4)


def test_one_gaussian_release_agrees_with_opacus_within_two_percent() -> None:
    peer = GaussianAccountant()
    peer.step(noise_multiplier=4.0, sample_rate=1.0)
    ours = float(gaussian_epsilon(Gaussian("4"), STEPS, DELTA))
    assert ours == pytest.approx(peer.get_epsilon(delta=float(DELTA)), rel=0.02)


def test_many_gaussian_releases_lie_between_the_exact_figure_and_the_peers_rdp() -> None:
    ours = float(account([gaussian(f"g{k}", "10") for k in range(100)], delta=DELTA).epsilon)
    exact = pld_privacy_accountant.PLDAccountant()
    loose = rdp_privacy_accountant.RdpAccountant()
    for peer in (exact, loose):
        peer.compose(dp_event.GaussianDpEvent(10.0), 100)
    assert exact.get_epsilon(float(DELTA)) <= ours <= loose.get_epsilon(float(DELTA)) * 1.001


def test_pure_sums_are_never_below_the_peers_figure_and_equal_it_at_delta_zero() -> None:
    ours = account([laplace(f"l{k}", "10") for k in range(10)])
    assert ours.epsilon == 1
    peer = pld_privacy_accountant.PLDAccountant()
    peer.compose(dp_event.LaplaceDpEvent(10.0), 10)
    assert float(ours.epsilon) >= peer.get_epsilon(1e-9)
    assert float(Laplace("10").epsilon(STEPS) or 0) == pytest.approx(0.1)


def test_a_figure_below_the_certified_lower_end_is_unsafe_and_the_finding_names_that_end() -> None:
    """10,000 steps at q = 1e-4, σ = .5, δ = 1e-12: a limit theorem says .47, the loss distribution in floats 6.21 to 6.37, where
    6.4508 is certified from below. The twins: a Rényi bound of the same steps, and the same accountant at δ = 1e-5."""
    tiny = Fraction(1, 10**12)
    part = Part(Gaussian("0.5"), STEPS, 10_000, sampling=Fraction(1, 10_000))
    ours = sampled_epsilon([SampledGaussian("0.0001", "0.5", 10_000)], tiny)
    for method, safe in (
        (opacus("GaussianAccountant"), False),
        (dp_accounting("PLDAccountant"), False),
        (opacus("RDPAccountant"), True),
    ):
        figure, finding = judge(Figure("peer", "method", "1", method.compute([part], float(tiny))), ours, None)
        assert figure.agrees == safe
        assert (finding is None) == safe
        if finding is not None:
            assert figure.note == "unsafe: below what an attack attains"
            assert "at least 6.4508" in finding.message
    usual = sampled_epsilon([SampledGaussian("0.01", "1", 1000)], Fraction(1, 10**5))
    step = Part(Gaussian("1"), STEPS, 1000, sampling=Fraction(1, 100))
    assert judge(Figure("peer", "PLD", "1", dp_accounting("PLDAccountant").compute([step], 1e-5)), usual, None)[0].agrees


def test_laplace_noise_on_samples_agrees_with_the_privacy_loss_distribution() -> None:
    """Within its mesh of 1e-4; RDP has no words for it, nor PLD for noise on a coarse grid."""
    parts = [Part(Laplace(2), STEPS, 100, sampling=Fraction(1, 20))]
    pld, rdp = dp_accounting("PLDAccountant"), dp_accounting("RdpAccountant")
    pld.check(parts, float(DELTA))
    ours = compose(parts, DELTA)
    assert float(ours.lower) <= pld.compute(parts, float(DELTA)) <= float(ours.upper) * (1 + 1e-4)
    for method, others in ((rdp, parts), (pld, [Part(Laplace(2, 1), 1, 100, sampling=Fraction(1, 20))])):
        with pytest.raises(CannotExpress, match="on Poisson samples"):
            method.check(others, float(DELTA))
