"""How the peers are called, in their own words (opacus 1.5 and later, dp-accounting 0.6 and later).

A method checks first what it cannot express, without the library, and computes then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.shuffle.amplifier import KARY

MOST_POINTS = 3 * 10**7  # of a discretised privacy loss: some seconds and about a gigabyte
FINE = 2**10  # steps of the grid from which on a continuous law stands for the one on the grid


class CannotExpress(Exception):
    """The peer has no words for such a release. The message names it."""


Parts = Sequence[Part]


def multiplier(part: Part) -> float:
    """Noise over sensitivity, as the peers want it."""
    return float(part.noise.width_units / part.steps)


@dataclass(frozen=True)
class Method:
    """One accountant of a peer: ``check`` raises CannotExpress, ``compute`` gives ε at δ."""

    check: Callable[[Parts, float], None]
    compute: Callable[[Parts, float], float]


def opacus(name: str) -> Method:
    """RDPAccountant, GaussianAccountant (GDP) or PRVAccountant. Its one mechanism is the Gaussian, Poisson-sampled."""

    def check(parts: Parts, delta: float) -> None:
        _check_kinds(parts, gaussian_only=True)
        if name == "GaussianAccountant" and len({multiplier(part) for part in parts}) > 1:
            raise CannotExpress("noise of several sizes")
        # PRV: its mesh is 0.01/√(k log(12/δ')/2), δ' = δ/1000, on about twice the largest loss
        count = sum(part.count for part in parts)
        points = 2 * _reach(parts) * math.sqrt(count * math.log(12_000 / delta) / 2) / 0.01 if delta else math.inf
        if name == "PRVAccountant" and points > MOST_POINTS:
            raise CannotExpress("so many releases: its mesh would not fit into memory" if delta else "δ = 0")

    def compute(parts: Parts, delta: float) -> float:
        import opacus.accountants

        accountant = getattr(opacus.accountants, name)()
        accountant.history = [(multiplier(part), float(part.sampling or 1), part.count) for part in parts]
        return float(accountant.get_epsilon(delta))

    return Method(check, compute)


def dp_accounting(name: str) -> Method:
    """PLDAccountant or RdpAccountant."""
    exact = name == "PLDAccountant"

    def check(parts: Parts, delta: float) -> None:
        _check_kinds(parts, sampled_laplace=exact)
        if exact and len({part.noise.alphabet is None for part in parts}) > 1:
            raise CannotExpress("randomised response beside other noise")
        if exact and _reach(parts) > MOST_POINTS * 1e-4:
            raise CannotExpress("so large an ε: its mesh of 1e-4 would not fit into memory")
        if any(part.noise.alphabet and (part.noise.epsilon(1) or 0) > 700 for part in parts):
            raise CannotExpress("so large an ε: its probability to lie is 0 in floats")
        if not exact and any(part.noise.rate is not None and part.steps < FINE for part in parts):
            raise CannotExpress("Laplace noise on a coarse grid")

    def compute(parts: Parts, delta: float) -> float:
        from dp_accounting import dp_event
        from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
        from dp_accounting.privacy_accountant import NeighboringRelation
        from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

        # Our sensitivity is that of the neighbours at hand. Under replace-one its PLD doubles a Gaussian's and refuses
        # Laplace noise; add-or-remove takes both as they are. Randomised response it takes under replace-one only.
        response = any(part.noise.alphabet for part in parts)
        relation = NeighboringRelation.REPLACE_ONE if response else NeighboringRelation.ADD_OR_REMOVE_ONE
        accountant = (PLDAccountant if exact else RdpAccountant)(neighboring_relation=relation)
        for part in parts:
            accountant.compose(*_event(part, dp_event))
        return float(accountant.get_epsilon(delta))

    return Method(check, compute)


def _event(part: Part, dp_event: Any) -> tuple[Any, int]:
    """The release as an event of dp-accounting, and how often."""
    if (answers := part.noise.alphabet) is not None:
        # It answers at random with probability p, where (k − (k − 1)p)/p = e^ε; ``steps`` answers differ.
        rest = math.exp(-float(part.noise.epsilon(1) or 0))
        chance = answers * rest / (1 + (answers - 1) * rest)
        return dp_event.RandomizedResponseDpEvent(chance, answers), part.count * part.steps
    if part.noise.spread is not None or part.steps >= FINE:
        kind = dp_event.LaplaceDpEvent if part.noise.spread is None else dp_event.GaussianDpEvent
        event = kind(multiplier(part))
        return event if part.sampling is None else dp_event.PoissonSampledDpEvent(float(part.sampling), event), part.count
    return dp_event.DiscreteLaplaceDpEvent(float(part.noise.epsilon(1) or 0), part.steps), part.count


def _check_kinds(parts: Parts, *, gaussian_only: bool = False, sampled_laplace: bool = False) -> None:
    for part in parts:
        if part.shuffled is not None:
            raise CannotExpress("shuffled batches")
        if not part.noise.entrywise or (part.noise.alphabet and part.noise.blanket != KARY):
            raise CannotExpress(part.noise.words)
        if gaussian_only and part.noise.spread is None:
            raise CannotExpress(part.noise.words)
        laplace = sampled_laplace and part.noise.rate is not None and part.steps >= FINE
        if part.sampling is not None and part.noise.spread is None and not laplace:
            raise CannotExpress(f"{part.noise.words} on Poisson samples")
        if part.noise.spread is not None and multiplier(part) * part.steps < FINE:
            raise CannotExpress("Gaussian noise on a coarse grid")


def _mu_squared(part: Part) -> float:
    """Of one release; on samples q²(e^{1/σ²} − 1), as the central limit has it (Bu et al. 2020), and one jump beside it."""
    whole = multiplier(part) ** -2
    if part.sampling is None:
        return whole
    return min(whole, float(part.sampling) ** 2 * math.expm1(min(whole, 300.0)) + whole / part.count)


def _reach(parts: Parts) -> float:
    """About the largest privacy loss that matters: the pure sum, and μ²/2 + 10μ for Gaussians."""
    mu = math.sqrt(sum(part.count * _mu_squared(part) for part in parts if part.noise.spread is not None))
    pure = sum(float(part.pure() or 0) for part in parts)
    return pure + mu * mu / 2 + 10 * mu
