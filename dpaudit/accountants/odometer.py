"""A running figure that is valid at every stop at once, also when each release and the stop itself depend on what was seen.

Let L_n be the privacy loss after n releases and let each release, given those before it, be ρ_n-zCDP. For every order α > 1 and
λ = α − 1, e^{λ(L_n − αΣρ)} is a nonnegative supermartingale that starts at 1, so by Ville's inequality, with probability at least
1 − δ, L_n ≤ αΣρ + log(1/δ)/λ at all n together (Whitehouse, Ramdas, Rogers, Wu 2023, build their odometers on this). The order
has to be fixed in advance; here δ is divided among a fixed set of orders, and the least of their lines is taken. Sums of pure ε
bound the loss surely; they may be added to the line of the Gaussian releases alone, which has half of δ for itself. What has no
good ρ (a stated Rényi curve, noise on Poisson samples) enters each order's line by its divergence there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from dpaudit.accountants.composition import DEFAULT_DELTA
from dpaudit.accountants.losses.moments import part_moment
from dpaudit.accountants.losses.parts import AnyPart, Known
from dpaudit.accountants.losses.renyi import zcdp_rho
from dpaudit.accountants.losses.stated_parts import LossPart, RenyiCurve
from dpaudit.accountants.readings.reads import lost, read_release
from dpaudit.accountants.sampling.mixtures import any_sampled
from dpaudit.claims import InvalidValue, Number, exact_delta, show
from dpaudit.claims.balls import ball, decimal, precision, upper
from dpaudit.ledger import Charge, Cohort, Ledger, PureSums, Release, is_ledger, load_releases, open_ledger
from dpaudit.noise import written_forms

_ORDERS = [1 + Fraction(2.0 ** (k / 2)) for k in range(-8, 24)]
_BITS = 128


@dataclass(frozen=True)
class Reading:
    """After ``releases`` releases, the last of which is ``name``: the loss of every record is at most ε, but for δ."""

    releases: int
    name: str
    epsilon: Fraction
    delta: Fraction

    def to_dict(self) -> dict[str, object]:
        return {"releases": self.releases, "name": self.name, "epsilon": show(self.epsilon), "delta": show(self.delta)}


def odometer(ledger: Ledger | str | Path | Iterable[Release], *, delta: Number | None = None) -> list[Reading]:
    """One reading after every release, all valid together but for probability δ (default: the budget's, else 10^-6).

    Shuffled reports count as local ones, charges whose release was never stored from the start. Needs: each release's noise and
    sensitivity are known when it is made, and hold given everything released before. Raises InvalidValue for Gaussian noise at
    δ = 0.
    """
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return odometer(load_releases(ledger, written_forms()), delta=delta)
        with open_ledger(ledger, readonly=True) as opened:
            return odometer(opened, delta=delta)
    budget = ledger.budget if isinstance(ledger, Ledger) else None
    usual = DEFAULT_DELTA if budget is None else budget.delta
    total = _StoppedSums(usual if delta is None else exact_delta(delta))
    for charge in ledger.unused_charges() if isinstance(ledger, Ledger) else ():
        total.add(lost(charge), charge.cohort)
    return list(_readings(ledger.releases() if isinstance(ledger, Ledger) else ledger, total))


def _readings(releases: Iterable[Release], total: _StoppedSums) -> Iterator[Reading]:
    for place, release in enumerate(releases):
        read = read_release(release)
        total.add(read.part(), read.cohort)
        yield Reading(place + 1, release.name, *total.reading())


class _StoppedSums:
    """Sums per record: ε of what has a pure cost, ρ of what has none, ρ of all, and D_α at each order of what has no good ρ."""

    def __init__(self, delta: Fraction) -> None:
        self.delta = delta
        self.pure, self.rest, self.all = PureSums(), PureSums(), PureSums()
        self.divergences: dict[Fraction, PureSums] = {}  # by order, from the first Rényi curve or sample on
        self.surely = True  # is there a ρ of all that has no pure cost?

    def add(self, part: AnyPart, cohort: Cohort) -> None:
        if isinstance(part, RenyiCurve) or any_sampled([part]):
            missed = self._add_divergences(part, cohort)
            self.surely = self.surely and not isinstance(part, RenyiCurve)
            rho = zcdp_rho([part])[0] if self.surely else Fraction(0)
            self.pure.add(Charge(Fraction(0), missed, cohort))
            self.rest.add(Charge(rho, Fraction(0), cohort))
            return
        rho, missed = zcdp_rho([part])
        pure = _largest_loss(part)
        self.pure.add(Charge(pure or Fraction(0), missed, cohort))
        self.rest.add(Charge(rho if pure is None else Fraction(0), Fraction(0), cohort))
        self.all.add(Charge(rho, Fraction(0), cohort))

    def _add_divergences(self, part: AnyPart, cohort: Cohort) -> Fraction:
        """Orders of which a curve says nothing are out from here on. Returns what is left out."""
        if not self.delta:
            raise InvalidValue("delta", "0", "greater than 0: samples and Rényi curves have no finite loss")
        first, left_out = not self.divergences, Fraction(0)
        for order in _ORDERS if first else tuple(self.divergences):
            found = part_moment(part, order - 1, self.delta)
            if found is None:
                self.divergences.pop(order, None)
                continue
            self.divergences.setdefault(order, PureSums()).add(Charge(found[0] / (order - 1), Fraction(0), cohort))
            left_out = max(left_out, found[1])
        if not self.divergences:
            raise InvalidValue(
                "curve", "few orders", f"known up to an order of {float(_ORDERS[0]):.3g} at least, for an odometer"
            )
        return left_out

    def reading(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) now: the least of the sum and of the line for all; each has half of δ for its Gaussian part."""
        surely, missed = self.pure.worst()
        rest = self.rest.worst()[0]
        if not self.delta:
            if rest:
                raise InvalidValue("delta", "0", "greater than 0: Gaussian noise has no finite loss")
            return surely, missed
        lines = tuple((order, sums.worst()[0]) for order, sums in self.divergences.items())
        line = stopping_epsilon(self.all.worst()[0], self.delta / 2, lines)
        if not self.surely:
            return line, missed + self.delta
        summed = surely + (stopping_epsilon(rest, self.delta / 2) if rest else 0)
        if summed <= line and not rest:
            return summed, missed
        return min(summed, line), missed + self.delta


def _largest_loss(part: AnyPart) -> Fraction | None:
    """What bounds the loss surely, but for the δ that a part states."""
    if isinstance(part, Known):
        return part.epsilon * part.count
    return part.top * part.count if isinstance(part, LossPart) else part.pure()


@lru_cache(maxsize=4096)
def stopping_epsilon(total: Fraction, delta: Fraction, lines: tuple[tuple[Fraction, Fraction], ...] = ()) -> Fraction:
    """The line of the best order at Σρ, rounded up; δ is divided equally among the orders.

    ``lines``: the orders that may be used, with ΣD_α of what is known at some orders alone; none: all orders, and nothing.
    """
    added = dict(lines) or dict.fromkeys(_ORDERS, Fraction(0))
    with precision(_BITS):
        size = ball(len(_ORDERS) / delta).log()
        order = min(added, key=lambda a: float(a * total + added[a]) + float(size.mid()) / float(a - 1))
        return decimal(upper(ball(order * total + added[order]) + size / ball(order - 1)), 15, up=True)
