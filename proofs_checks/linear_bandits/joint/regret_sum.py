"""The regret of the repaired algorithms in closed form, for every T ≥ 3, with every constant written out.

On the good event batch i + 1 plays gaps of at most 4γ_i, and the rest of the rounds, fewer than a batch N + 1 has, too. With
n_i ≤ q^i + S, S ≥ |C_i|, gaps of at most 2, ℓ = log T, q = e·2^{1/ℓ}, q^N ≤ T:

    R_T ≤ 2q + 2S(1 + N) + 4q·Σ_{j≤N} q^jγ_j,      Σ_{j≤N} q^{j/2} ≤ √T·√q/(√q − 1),      m = rank, L = log(4KT²)

Central, σ = 2/ε: q^jγ_j ≤ √(4mLq^j) + (4m/ε)(L + 2√(SL)). Local, σ = 2/ε0: q^jγ_j ≤ (2 + 4√2/ε0)√(mLq^j) + 4mL/ε0.
Shuffled: 1/ε0 ≤ 1 + κ√(Λ/q^j)/ε once q^j ≥ Q = 16e·log(2/δ), Λ = log(4/δ); the batches up to the one after cost 2 a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from proofs_checks.shared.proof_steps import Step, at_most_for_every_horizon, number

KAPPA = Fraction("8.3")


def growth(x: Any) -> Any:
    """q = e·2^x at x = 1/log T, as a ball."""
    return flint.arb(1).exp() * (x * flint.arb(2).log()).exp()


@dataclass(frozen=True)
class Constants:
    """What multiplies the terms of the closed forms; each is proven to be large enough for every T ≥ 3."""

    start: Fraction = Fraction(11)  # 2q
    root: Fraction = Fraction(74)  # 8q^{3/2}/(√q − 1)
    batch: Fraction = Fraction(82)  # 16q
    early: Fraction = Fraction(13)  # 2q²/(q − 1)
    late: Fraction = Fraction("67.2")  # 16q/(√q − 1)
    kappa: Fraction = KAPPA  # 4(√e + √e/(4√(log 2·log 4)))

    def steps(self) -> list[Step]:
        """Over x = 1/log T in (0, 1/log 3], in balls that leave nothing out."""
        terms: list[tuple[str, Callable[[Any], Any], Fraction]] = [
            ("2q", lambda x: 2 * growth(x), self.start),
            ("8q^(3/2)/(√q − 1)", lambda x: _rising(growth(x).sqrt()), self.root),
            ("16q", lambda x: 16 * growth(x), self.batch),
            ("2q²/(q − 1)", lambda x: 2 * growth(x) ** 2 / (growth(x) - 1), self.early),
            ("16q/(√q − 1)", lambda x: 16 * growth(x) / (growth(x).sqrt() - 1), self.late),
        ]
        why = "interval arithmetic over all of 1/log T ∈ (0, 1/log 3]"
        found = [Step(f"{name} ≤ {float(bound):g}", why, at_most_for_every_horizon(term, bound)) for name, term, bound in terms]
        return [*found, self._amplification()]

    def _amplification(self) -> Step:
        e, two, four = flint.arb(1).exp(), flint.arb(2).log(), flint.arb(4).log()
        least = 4 * (e.sqrt() + e.sqrt() / (4 * (two * four).sqrt()))
        says = f"f_{{n,δ}}(x) ≤ {float(self.kappa):g}·x·√(log(4/δ)/n) for x ≤ 1, n ≥ 16e·log(2/δ)"
        why = "log(1 + y) ≤ y, tanh(x/2) ≤ x/2, e^x ≤ e and n·log(4/δ) ≥ 16e·log 2·log 4: 4(√e + √e/(4√(log 2·log 4))) ≤ 8.28"
        return Step(says, why, bool(least <= number(self.kappa)))


PROVEN = Constants()


def _rising(root: Any) -> Any:
    return 8 * root**3 / (root - 1)


@dataclass(frozen=True)
class Size:
    """What a run is about: T, K actions of rank m, core sets of at most S actions."""

    horizon: float
    actions: float
    rank: int
    support: int

    @property
    def log(self) -> float:
        return math.log(self.horizon)

    @property
    def level(self) -> float:
        return math.log(4 * self.actions) + 2 * self.log


def common(at: Size, constants: Constants) -> float:
    return float(constants.start) + 2 * at.support * (1 + at.log)


def central_bound(at: Size, epsilon: float, constants: Constants = PROVEN) -> float:
    """11 + 2S(1 + ℓ) + 74√(mLT) + (82mℓ/ε)(L + 2√(SL))."""
    first = float(constants.root) * math.sqrt(at.rank * at.level * at.horizon)
    noise = float(constants.batch) * at.rank * at.log / epsilon * (at.level + 2 * math.sqrt(at.support * at.level))
    return common(at, constants) + first + noise


def local_bound(at: Size, epsilon0: float, constants: Constants = PROVEN) -> float:
    """11 + 2S(1 + ℓ) + 74(1 + 2√2/ε0)√(mLT) + 82mLℓ/ε0."""
    first = float(constants.root) * (1 + math.sqrt(8) / epsilon0) * math.sqrt(at.rank * at.level * at.horizon)
    return common(at, constants) + first + float(constants.batch) * at.rank * at.level * at.log / epsilon0


def shuffled_bound(at: Size, epsilon: float, delta: float, constants: Constants = PROVEN) -> float:
    """11 + 2S(1 + ℓ) + 13Q + 74(1 + 2√2)√(mLT) + 82mLℓ + (κ√Λ/ε)(82√2·√(mL)·ℓ + 67.2mL)."""
    small, deep = 16 * math.e * math.log(2 / delta), math.log(4 / delta)
    both = at.rank * at.level
    first = float(constants.root) * (1 + math.sqrt(8)) * math.sqrt(both * at.horizon)
    noise = float(constants.batch) * math.sqrt(2 * both) * at.log + float(constants.late) * both
    amplified = float(constants.kappa) * math.sqrt(deep) / epsilon * noise
    rest = float(constants.early) * small + float(constants.batch) * both * at.log
    return common(at, constants) + rest + first + amplified


def played_sum(at: Size, gamma: Callable[[float], float]) -> float:
    """Σ n_i·min(2, 4γ_{i−1}) batch by batch, n_i = q^i + S, the most batches that fit and the rest: the second route."""
    q = (2 * at.horizon) ** (1 / at.log)
    used, power, gap, total = 0.0, q, 2.0, 0.0
    while used + power <= at.horizon:  # Σ q^i ≤ T: ceilings only make fewer batches
        total, used = total + (power + at.support) * gap, used + power
        gap, power = min(2.0, 4 * gamma(power)), power * q
    return total + (power + at.support) * gap


def central_gamma(at: Size, epsilon: float) -> Callable[[float], float]:
    noise = 4 * at.rank / epsilon * (at.level + 2 * math.sqrt(at.support * at.level))
    return lambda power: math.sqrt(4 * at.rank * at.level / power) + noise / power


def reports_gamma(at: Size, epsilon0: Callable[[float], float]) -> Callable[[float], float]:
    def gamma(power: float) -> float:
        share = at.rank * at.level / power
        return math.sqrt(4 * share) + 2 / epsilon0(power) * (2 * math.sqrt(2 * share) + 2 * share)

    return gamma


def level_slope(dim: int) -> float:
    """λ with L ≤ λ·log T for a 1/T-net, K ≤ (3T)^d + d."""
    return 2.1 * dim + 3.5


def level_steps() -> list[Step]:
    """L = log 4 + log((3T)^d + d) + 2ℓ; over ℓ: d(1 + x·log 3) + 2 + x·log 4 + x·log(1 + d(3T)^−d)."""
    slope = at_most_for_every_horizon(lambda x: 1 + x * flint.arb(3).log(), "2.1")
    rest = at_most_for_every_horizon(lambda x: 2 + x * (flint.arb(4).log() + flint.arb(1) / 9), "3.5")
    return [
        Step("L ≤ (2.1d + 3.5)·log T for a 1/T-net", "d(3T)^−d ≤ 1/9; the coefficients of 1 and d in balls", slope and rest),
        Step("1 + ℓ ≤ 1.22√(Tℓ), ℓ² ≤ 1.16√(Tℓ)", "log T/T ≤ 1/e and log³T/T ≤ (3/e)³, at T = e and T = e³", _orders()),
    ]


def _orders() -> bool:
    e = flint.arb(1).exp()
    return bool(2 / e.sqrt() <= number("1.22")) and bool((3 / e) ** 3 <= number("1.16") ** 2)


def order_constants(dim: int, support: int, delta: float) -> dict[str, float]:
    """C(d) of the order each theorem claims: √(Tℓ) + ℓ²/ε; (1 + 1/ε0)√(Tℓ); √(Tℓ) + √log(4/δ)·ℓ^{3/2}/ε."""
    start, root, batch, early, late = (
        float(each) for each in (PROVEN.start, PROVEN.root, PROVEN.batch, PROVEN.early, PROVEN.late)
    )
    slope, one = level_slope(dim), start + 1 + 2.44 * support  # 1 for the net
    both = dim * slope
    central = max(one + root * math.sqrt(both), batch * dim * (slope + 2 * math.sqrt(support * slope)))
    local = one + root * math.sqrt(8 * both) + batch * 1.16 * both
    free = one + early * 16 * math.e * math.log(2 / delta) + root * (1 + math.sqrt(8)) * math.sqrt(both) + batch * 1.16 * both
    shuffled = max(free, float(PROVEN.kappa) * (batch * math.sqrt(2 * both) + late * both))
    return {"central": central, "local": local, "shuffled": shuffled}
