"""Numerical composition, certified: (ε, δ) of many releases together from the exact laws of their privacy losses.

Valid for mechanisms whose noise and sensitivity were fixed in advance: each has a dominating pair that does not depend on what
was released before, and those compose, also when the queries themselves are chosen adaptively (Zhu, Dong, Wang 2022, Thm 10).
Where parameters may depend on released values it is not valid; sums of ε or ρ are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from dpaudit.accountants.losses.equal_laplace import equal_laplace_delta, equal_laplace_epsilon
from dpaudit.accountants.losses.gaussian_sum import gaussian_sum_delta, gaussian_sum_epsilon
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, LatticeLoss
from dpaudit.accountants.losses.loss_contour import Contour
from dpaudit.accountants.losses.loss_lattice import LatticeSum, lattice_sum, moved, spacing_for
from dpaudit.accountants.losses.loss_plans import LossSaddle, plan, saddle_at, top
from dpaudit.accountants.losses.many_laplace import many_laplace_epsilon
from dpaudit.accountants.losses.parts import AnyPart, ComposedLosses, Known, Part, lower_losses, upper_losses
from dpaudit.accountants.losses.stated_parts import LossPart
from dpaudit.accountants.numerics.roots import Root, enclosed_root, float_root, log, newton
from dpaudit.accountants.sampling.mixtures import (
    any_sampled,
    laplace_mixture_delta,
    laplace_mixture_epsilon,
    mixture_delta,
    mixture_epsilon,
)
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, exact_epsilon
from dpaudit.claims.balls import decimal, lower, precision, upper
from dpaudit.noise.loss_facts import LaplaceFact

__all__ = ["Known", "Part", "compose", "composed_delta"]

LAPLACE_SAMPLES = "Poisson-subsampled Laplace, certified grid of losses"
_DIGITS = 15
_GOOD = 1e-8  # relative error of δ at which no other way is tried
_SMALL, _STRIDE, _NEAR, _LARGEST = 1e-2, 8.0, 1e-11, 700.0  # nats: ε that may be 0, longest step, last step, no δ left
_LEAST_DELTA = Fraction(1, 2**200)  # where no δ is given, δ(ε) is accurate down to here


def compose(parts: Sequence[AnyPart], delta: Number) -> Enclosure:
    """Enclose the least ε with δ(ε) ≤ δ for all parts together: proven to meet δ at ``upper``, and not to below ``lower``.

    At δ = 0 the sum of pure costs; never above it. Raises ``InvalidValue`` where no finite ε can be given.
    """
    failure = exact_delta(delta)
    if failure and len(parts) == 1 and (quick := _plain_laplace(parts[0], failure)) is not None:
        return quick
    pure = pure_sum(parts)
    if not failure or pure == 0:
        if pure is None:
            raise InvalidValue("delta", delta, "larger: these releases have no finite ε at it")
        return Enclosure(pure, pure, True, "pure sum")
    if any_sampled(parts):
        return mixture_epsilon(parts, failure)
    with suppress(ArithmeticError, ValueError):
        if (found := laplace_mixture_epsilon(parts, failure)) is not None:
            low, high = _rounded(*found, pure)
            return Enclosure(min(low, high), high, True, LAPLACE_SAMPLES)
    above, below = upper_losses(parts, failure), lower_losses(parts, failure)
    most = None if above.added else _largest_loss(parts)  # where only what fails as stated is left
    if above.least_delta >= failure:
        if above.least_delta == failure and most is not None:
            return Enclosure(Fraction(0), most, True, "all stated failures, and the sum of the largest losses")
        raise InvalidValue("delta", failure, "larger: these releases have no finite ε at it")
    low, high = _least_epsilon(above, failure, pure)
    high = high if most is None else min(high, most)
    if below != above:
        low = Fraction(0) if below is None else _least_epsilon(below, failure, pure)[0]
    return Enclosure(min(low, high), high, True, "numerical")


def _plain_laplace(part: AnyPart, delta: Fraction) -> Enclosure | None:
    """Equal releases of Laplace noise alone, without the detour over laws: that takes as long as the finite sum itself."""
    if not isinstance(part, Part) or part.sampling is not None or part.shuffled is not None or part.coordinates > 1:
        return None
    fact = part.noise.loss(part.steps) if part.steps else None
    if not isinstance(fact, LaplaceFact):
        return None
    cost = fact.rate * fact.steps
    with suppress(ArithmeticError):
        ends = _rounded(*equal_laplace_epsilon(LaplaceLoss(cost, fact.steps), part.count, delta), cost * part.count)
        return Enclosure(min(ends), ends[1], True, "numerical")
    return None


def composed_delta(parts: Sequence[AnyPart], epsilon: Number) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε) of all parts together."""
    level, pure = exact_epsilon(epsilon), pure_sum(parts)
    if pure is not None and level >= pure:
        return Fraction(0), Fraction(0)
    if any_sampled(parts):
        return mixture_delta(parts, level, _LEAST_DELTA)
    with suppress(ArithmeticError, ValueError):
        if (found := laplace_mixture_delta(parts, level, _LEAST_DELTA)) is not None:
            return found
    least = _least_delta(parts, level)
    above, below = upper_losses(parts, least), lower_losses(parts, least)
    low, high = _delta(above, level)
    if below != above:
        low = Fraction(0) if below is None else _delta(below, level)[0]
    return min(low, high, Fraction(1)), min(high, Fraction(1))


def _least_delta(parts: Sequence[AnyPart], epsilon: Fraction) -> Fraction:
    """The δ down to which laws need be accurate: far below an estimate of δ(ε) where less accurate ones have fewer values."""
    laws = upper_losses(parts, _LEAST_DELTA).laws
    if not any(isinstance(law, LatticeLoss) for law, _ in laws):
        return _LEAST_DELTA
    found = saddle_at(laws, float(top(laws) - epsilon), "slack")
    return max(_LEAST_DELTA, Fraction(math.exp(min(found.log_delta, 0.0))) / 2**20)


def pure_sum(parts: Sequence[AnyPart]) -> Fraction | None:
    """The sum of pure costs; None if one has none."""
    total = Fraction(0)
    for part in parts:
        cost = part.pure()
        if cost is None:
            return None
        total += cost
    return total


def _largest_loss(parts: Sequence[AnyPart]) -> Fraction | None:
    """The sum of the largest finite losses; None if one has none."""
    total = Fraction(0)
    for part in parts:
        if isinstance(part, Known):
            cost: Fraction | None = part.epsilon * part.count
        else:
            cost = part.top * part.count if isinstance(part, LossPart) else part.pure()
        if cost is None:
            return None
        total += cost
    return total


class Curve(Protocol):
    """δ of a composition around some slack = top − ε."""

    def delta(self, slack: Fraction) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class Apart:
    """The law where all losses are atoms, on a lattice, and the rest by the contour."""

    rest: Contour
    atoms: LatticeSum

    def delta(self, slack: Fraction) -> tuple[Any, Any]:
        low, high = self.atoms.delta(slack)
        below, above = self.rest.delta(slack)
        return low + (below if below > 0 else 0), high + above


def _curve(composed: ComposedLosses, at: LossSaddle, slack: Fraction) -> Curve:
    """The more accurate way to evaluate δ around ``slack``: all of the law by the contour, or its atoms apart."""
    laws = composed.laws
    whole = plan(laws, at, inner=False)
    if whole.error <= _GOOD or not any(law.gap for law, _ in laws):
        return Contour(laws, at, whole)
    reach = slack * Fraction(51, 50) + Fraction(1, 10**6)
    apart = plan(laws, at, inner=True)
    if apart.error + moved(laws, spacing_for(laws, reach), at.c) >= whole.error:
        return Contour(laws, at, whole)
    return Apart(Contour(laws, at, apart), lattice_sum(laws, reach, at.log_delta))


def _delta(composed: ComposedLosses, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    equal = _equal_laplace(composed)
    if equal is not None:
        with suppress(ArithmeticError):
            return equal_laplace_delta(*equal, epsilon)
    if (mu_squared := _only_gaussian(composed)) is not None:
        return _around(composed, gaussian_sum_delta(mu_squared, epsilon))
    slack = top(composed.laws) - epsilon
    at = saddle_at(composed.laws, float(slack), "slack")
    with precision(composed.bits):
        return _ends(composed, _curve(composed, at, slack), slack)


def _ends(composed: ComposedLosses, curve: Curve, slack: Fraction) -> tuple[Fraction, Fraction]:
    """δ is between 0 and 1, whatever the enclosure says far from where the curve was made for."""
    low, high = curve.delta(slack)
    return _around(composed, (lower(low) if low > 0 else Fraction(0), upper(high) if high < 1 else Fraction(1)))


def _around(composed: ComposedLosses, of_laws: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """δ of the composition from that of its laws."""
    return max(Fraction(0), composed.delta(of_laws[0])), composed.delta(of_laws[1])


def _least_epsilon(composed: ComposedLosses, delta: Fraction, pure: Fraction | None) -> tuple[Fraction, Fraction]:
    """Where the lower and the upper end of δ(ε) pass δ."""
    equal = _equal_laplace(composed)
    if equal is not None:
        with suppress(ArithmeticError):
            return _rounded(*equal_laplace_epsilon(*equal, delta), pure)
    if (mu_squared := _only_gaussian(composed)) is not None:
        with suppress(ArithmeticError):
            return _rounded(*gaussian_sum_epsilon(mu_squared, composed.of_laws(delta)), pure)
    with suppress(ArithmeticError, ValueError):  # the latter: a logarithm of nothing, far from where floats are of use
        return _rounded(*many_laplace_epsilon(composed.laws, delta - composed.added), pure)
    return _rounded(*_contour_epsilon(composed, composed.of_laws(delta), pure), pure)


def _contour_epsilon(composed: ComposedLosses, delta: Fraction, pure: Fraction | None) -> tuple[Fraction, Fraction]:
    """The same by a contour, for the δ that is left to the laws."""
    reference, target = top(composed.laws), log(delta)
    at = saddle_at(composed.laws, target, "log_delta")
    with precision(composed.bits):
        curve = _curve(composed, at, Fraction(at.slack))

        @lru_cache(maxsize=64)
        def around(epsilon: float) -> tuple[Fraction, Fraction]:
            if pure is not None and epsilon >= pure:
                return Fraction(0), Fraction(0)
            low, high = curve.delta(reference - Fraction(epsilon))
            return lower(low) if low > 0 else Fraction(0), upper(high) if high < 1 else Fraction(1)

        root = _root(curve, around, target, at, float(reference))
        if root.at * at.c < _SMALL and around(0.0)[1] <= delta:
            return Fraction(0), Fraction(0)
        ends = enclosed_root(around, replace(root, at=max(root.at, 0.0)), delta)
    return ends.lower, ends.upper


def _root(
    curve: Curve, around: Callable[[float], tuple[Fraction, Fraction]], target: float, at: LossSaddle, reference: float
) -> Root:
    """The ε at which ln δ is about ``target``, and the slope there: from floats where there are any, else from enclosures."""
    start, found = reference - at.slack, Root(0.0, math.nan)
    if isinstance(curve, Contour):
        found = newton(lambda epsilon: curve.float_delta(reference - epsilon), start, target, at.c)
    if found.slope < 0:
        return found

    def fallen(nats: float) -> float:
        low, high = around(max(0.0, start + nats / at.c))
        return target - log((low + high) / 2) if high else _LARGEST

    nearly = float_root(fallen, 0.0, _STRIDE, slope=1.0, small=_NEAR)
    return Root(start + nearly.at / at.c, -nearly.slope * at.c)


def _equal_laplace(composed: ComposedLosses) -> tuple[LaplaceLoss, int] | None:
    """The only law and how many there are of it, if that is Laplace noise: then there is a finite sum."""
    if len(composed.laws) != 1 or composed.added or composed.succeeds != 1:
        return None
    law, count = composed.laws[0]
    return (law, count) if isinstance(law, LaplaceLoss) else None


def _only_gaussian(composed: ComposedLosses) -> Fraction | None:
    """μ² where the only law is that of Gaussian releases: then δ(ε) is a closed form."""
    laws = composed.laws
    return laws[0][0].mu_squared * laws[0][1] if len(laws) == 1 and isinstance(laws[0][0], GaussianLoss) else None


def _rounded(low: Fraction, high: Fraction, pure: Fraction | None) -> tuple[Fraction, Fraction]:
    """Fewer digits, outward; never above the pure sum."""
    found = decimal(high, _DIGITS, up=True)
    return decimal(low, _DIGITS, up=False), found if pure is None else min(found, pure)
