"""Releases that are known by a stated guarantee instead of their noise: what another library proved, as a ledger holds it.

Every guarantee is about one record, and holds with neighbours in either order. A guarantee is a fact; what it costs beside
others is for accountants to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.claims import InvalidValue, exact, exact_delta, exact_epsilon, positive, show
from dpaudit.claims.balls import ball, lower, precision

INFINITE = "infinity"  # as the loss of outputs that the neighbour never gives
MOST_POINTS = 4096  # orders of a curve, or losses
LARGEST = 10**6  # of a loss, an order, a Rényi divergence, ρ
SLACK = Fraction(1, 10**9)  # probabilities written as floats add up to 1 this closely; what is missing counts as infinite loss


@dataclass(frozen=True)
class KnownGuarantee:
    """(ε, δ)-DP."""

    epsilon: Fraction
    delta: Fraction

    name: ClassVar[str] = "known"
    fields: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    needed: ClassVar[tuple[str, ...]] = ("epsilon",)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> KnownGuarantee:
        epsilon = exact_epsilon(data["epsilon"])
        if epsilon > LARGEST:
            raise InvalidValue("epsilon", show(epsilon), f"at most {LARGEST:,}")
        return cls(epsilon, exact_delta(data.get("delta", 0)))

    def parameters(self) -> dict[str, str]:
        return {"epsilon": show(self.epsilon), "delta": show(self.delta)}

    @property
    def pure(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ) that holds by itself; None where every δ has another ε."""
        return self.epsilon, self.delta


@dataclass(frozen=True)
class ZcdpGuarantee:
    """ρ-zCDP (Bun & Steinke 2016): the Rényi divergence of every order α > 1 is at most αρ."""

    rho: Fraction

    name: ClassVar[str] = "zcdp"
    fields: ClassVar[tuple[str, ...]] = ("rho",)
    needed: ClassVar[tuple[str, ...]] = ("rho",)
    pure: ClassVar[None] = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ZcdpGuarantee:
        rho = positive(data["rho"], "rho")
        if rho > LARGEST:
            raise InvalidValue("rho", show(rho), f"at most {LARGEST:,}")
        return cls(rho)

    def parameters(self) -> dict[str, str]:
        return {"rho": show(self.rho)}


@dataclass(frozen=True)
class RenyiGuarantee:
    """Rényi divergences at most ``epsilon`` at some orders above 1, in rising order (Mironov 2017)."""

    curve: tuple[tuple[Fraction, Fraction], ...]

    name: ClassVar[str] = "rdp"
    fields: ClassVar[tuple[str, ...]] = ("curve",)
    needed: ClassVar[tuple[str, ...]] = ("curve",)
    pure: ClassVar[None] = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> RenyiGuarantee:
        points: dict[Fraction, Fraction] = {}
        for order, epsilon in _pairs(data["curve"], "curve", "[order, epsilon]"):
            alpha, bound = exact(order, "order in curve"), exact_epsilon(epsilon, "epsilon in curve")
            if not 1 < alpha <= LARGEST:
                raise InvalidValue("curve", show(alpha), f"made of orders above 1 and at most {LARGEST:,}")
            if bound > LARGEST:
                raise InvalidValue("curve", show(bound), f"made of divergences of at most {LARGEST:,}")
            if alpha in points:
                raise InvalidValue("curve", show(alpha), f"without repeated orders: {show(alpha)} stands there twice")
            points[alpha] = bound
        return cls(tuple(sorted(points.items())))

    def parameters(self) -> dict[str, str]:
        return {"curve": _text(self.curve)}


@dataclass(frozen=True)
class LossGuarantee:
    """The privacy loss ln P(o)/Q(o), o drawn from P, of a pair that dominates the release in both orders of the neighbours.

    ``losses`` are finite, from the largest down, with their probabilities under P; ``infinite`` is the rest, where Q is 0.
    """

    losses: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction

    name: ClassVar[str] = "discrete-loss"
    fields: ClassVar[tuple[str, ...]] = ("losses",)
    needed: ClassVar[tuple[str, ...]] = ("losses",)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> LossGuarantee:
        points, total = dict[Fraction, Fraction](), Fraction(0)
        for loss, share in _pairs(data["losses"], "losses", "[loss, probability]"):
            probability = exact(share, "probability in losses")
            if not 0 <= probability <= 1:
                raise InvalidValue("losses", show(probability), "made of probabilities, from 0 to 1")
            total += probability
            if loss == INFINITE or not probability:
                continue
            if isinstance(loss, str) and "inf" in loss.lower():
                raise InvalidValue("losses", loss[:40], f'made of finite losses, or "{INFINITE}", written like this')
            value = exact(loss, "loss in losses")
            if abs(value) > LARGEST:
                raise InvalidValue("losses", show(value), f'made of losses of at most {LARGEST:,}, or "{INFINITE}"')
            points[value] = points.get(value, Fraction(0)) + probability
        if abs(total - 1) > SLACK:
            raise InvalidValue("losses", show(total), f"made of probabilities that add up to 1; these give {float(total):.12g}")
        if not points:
            raise InvalidValue(
                "losses", INFINITE, "made of some finite loss too: what surely reveals all has no (ε, δ) below δ = 1"
            )
        _refuse_more_than_all(points)
        infinite = max(1 - sum(points.values(), Fraction(0)), Fraction(0))
        return cls(tuple(sorted(points.items(), reverse=True)), infinite)

    def parameters(self) -> dict[str, str]:
        rest = [[INFINITE, show(self.infinite)]] if self.infinite else []
        return {"losses": json.dumps([*rest, *([show(a), show(b)] for a, b in self.losses)], separators=(",", ":"))}

    @property
    def pure(self) -> tuple[Fraction, Fraction]:
        """At the largest finite loss only the infinite one is left."""
        return max(self.losses[0][0] if self.losses else Fraction(0), Fraction(0)), self.infinite


Guarantee = KnownGuarantee | ZcdpGuarantee | RenyiGuarantee | LossGuarantee
GUARANTEES: Mapping[str, type[Guarantee]] = {
    each.name: each for each in (KnownGuarantee, ZcdpGuarantee, RenyiGuarantee, LossGuarantee)
}


def guarantee_from(mechanism: str, parameters: Mapping[str, str]) -> Guarantee | None:
    """What a release of this ``mechanism`` states; None if it is one with noise. Raises InvalidValue."""
    kind = GUARANTEES.get(mechanism)
    if kind is None:
        return None
    return read_guarantee(kind, {name: _parsed(text) for name, text in parameters.items()})


def read_guarantee(kind: type[Guarantee], data: Mapping[str, Any]) -> Guarantee:
    """From fields as people write them. Raises InvalidValue."""
    for name in kind.needed:
        if name not in data:
            raise InvalidValue(name, None, "given")
    return kind.read(data)


def _parsed(text: str) -> Any:
    if not text.startswith("["):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidValue("parameters", "a text that is no list", "as a release states its guarantee") from None


def _pairs(value: Any, name: str, shape: str) -> list[tuple[Any, Any]]:
    """A list of pairs, not empty."""
    if not isinstance(value, list) or not value:
        raise InvalidValue(name, type(value).__name__, f"a list of pairs {shape}, and not empty")
    if len(value) > MOST_POINTS:
        raise InvalidValue(name, len(value), f"a list of at most {MOST_POINTS:,} pairs")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        raise InvalidValue(name, "another entry", f"a list of pairs {shape}")
    return [(pair[0], pair[1]) for pair in value]


def _text(pairs: tuple[tuple[Fraction, Fraction], ...]) -> str:
    return json.dumps([[show(a), show(b)] for a, b in pairs], separators=(",", ":"))


def _refuse_more_than_all(points: Mapping[Fraction, Fraction]) -> None:
    """Q has the probabilities p·e^(−loss), which add up to at most 1. Raises InvalidValue where they surely do not."""
    with precision(128):
        other = sum((ball(share) * ball(-loss).exp() for loss, share in points.items()), start=ball(0))
        if other > ball(1 + SLACK):
            shown = f"{float(lower(other)):.6g}" if other < 10**300 else "more than 1e300"
            raise InvalidValue(
                "losses", shown, f"those of a pair of laws: Σ probability·e^(−loss) is at most 1, here it is {shown}"
            )
