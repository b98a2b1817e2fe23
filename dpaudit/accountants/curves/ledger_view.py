"""All releases of a ledger as the server sees them, ready for every curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.accountants.composition import as_release, target_delta
from dpaudit.accountants.curves.least_delta import least_delta
from dpaudit.accountants.curves.several_records import GroupCost, group_cost
from dpaudit.accountants.curves.trade_off import HitRate, trade_off
from dpaudit.accountants.interface import Group
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss
from dpaudit.accountants.losses.parts import AnyPart, Part, upper_losses
from dpaudit.accountants.losses.renyi import approximate_renyi
from dpaudit.accountants.readings.reads import AnyRead, Read, read_release, touched
from dpaudit.accountants.record_groups import groups
from dpaudit.accountants.sampling.constant_steps import join_steps
from dpaudit.claims import InvalidValue, Number, show
from dpaudit.claims.balls import ball, decimal, precision, upper
from dpaudit.ledger import Ledger, Release, is_ledger, load_releases, open_ledger
from dpaudit.noise import written_forms

ORDERS = tuple(Fraction(text) for text in ("1.5", "2", "3", "4", "6", "8", "16", "32", "64", "128", "256"))
_DIGITS = 12
_RARE = Fraction(1, 10**6)
MANY = 2**40  # answers in one release; none has more


@dataclass(frozen=True)
class Divergence:
    """The Rényi divergence of an order is at most ``epsilon``, but for probability ``delta``."""

    order: Fraction
    epsilon: Fraction
    delta: Fraction

    def to_dict(self) -> dict[str, str]:
        return {"order": show(self.order), "epsilon": show(self.epsilon), "delta": show(self.delta)}


@dataclass(frozen=True)
class LedgerView:
    """What touches each record, all releases together, and the δ that they are accounted at."""

    groups: Sequence[Group]
    everything: Group
    delta: Fraction
    fixed: bool

    def delta_at(self, epsilon: Number) -> Fraction:
        """δ(ε), rounded up."""
        return least_delta(self.groups, epsilon, fixed=self.fixed)

    def trade_off(self) -> list[HitRate]:
        """The largest true positive rates of any test."""
        return trade_off(self.groups, self.delta, fixed=self.fixed)

    def group(self, size: object) -> GroupCost:
        """What any ``size`` records cost together."""
        return group_cost(self.groups, self.everything, size, self.delta, fixed=self.fixed)

    def divergences(self) -> list[Divergence]:
        """Rényi divergences, rounded up, at the orders of which something is known, but for what may fail."""
        found = []
        for order in ORDERS:
            try:
                each = [approximate_renyi(tuple(_times(group)), order, self.delta or _RARE) for group in self.groups]
            except InvalidValue:
                continue
            worst = max((one for one, _ in each), default=Fraction(0))
            missed = max((failure for _, failure in each), default=Fraction(0))
            found.append(Divergence(order, decimal(worst, _DIGITS, up=True), decimal(missed, _DIGITS, up=True)))
        return found

    def gaussian_mu(self) -> tuple[Fraction, Fraction] | None:
        """(μ, δ): all is a post-processing of a μ-Gaussian-DP release (Dong, Roth, Su 2022), but for probability δ.

        None unless every release is Gaussian noise on all records: only then is the trade-off that of one Gaussian.
        """
        found = [_mu_squared(_times(group), self.delta or _RARE) for group in self.groups]
        if not found or None in found:
            return None
        squared, missed = max(each for each in found if each is not None)
        with precision(128):
            return decimal(upper(ball(squared).sqrt()), _DIGITS, up=True), decimal(missed, _DIGITS, up=True)


def ledger_view(
    ledger: Ledger | str | Path | Iterable[Release | Mapping[str, Any]], *, delta: Number | None = None, fixed: bool = False
) -> LedgerView:
    """Of a ledger, its file or a list of releases; ``delta`` and ``fixed`` as in ``account``."""
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return ledger_view(load_releases(ledger, written_forms()), delta=delta, fixed=fixed)
        with open_ledger(ledger, readonly=True) as opened:
            return ledger_view(opened, delta=delta, fixed=fixed)
    releases = list(ledger.releases() if isinstance(ledger, Ledger) else map(as_release, ledger))
    unused = list(ledger.unused_charges()) if isinstance(ledger, Ledger) else []
    releases, unused = join_steps(releases, unused)
    target = target_delta(releases, ledger.budget if isinstance(ledger, Ledger) else None, delta)
    reads = [read_release(release) for release in releases]
    seen = list(touched(reads, unused, "server", target))
    all_parts = [_spread(part, read) for (part, _), read in zip(seen, [*reads, *[None] * len(unused)], strict=True)]
    return LedgerView(groups(seen), Counter(all_parts), target, fixed)


def _spread(part: AnyPart, read: AnyRead | None) -> AnyPart:
    """Records of a group move as many reports of a batch, each its own. How many answers there are to change is known of what
    passed a door; by hand nobody says it."""
    if not isinstance(part, Part) or not isinstance(read, Read):
        return part
    unknown = read.release.coordinates is None and not part.noise.norm
    answers = MANY if unknown else read.release.n if read.release.kind == "reports" else 1
    return replace(part, coordinates=max(part.coordinates, answers))


def _times(group: Group) -> list[AnyPart]:
    return [replace(part, count=part.count * count) for part, count in group.items()]


def _mu_squared(parts: Sequence[AnyPart], delta: Fraction) -> tuple[Fraction, Fraction] | None:
    if any(not isinstance(part, Part) or part.noise.spread is None or part.sampling is not None for part in parts):
        return None
    try:
        losses = upper_losses(parts, delta / 1000)
    except (InvalidValue, ArithmeticError):
        return None
    if any(not isinstance(law, GaussianLoss) for law, _ in losses.laws):
        return None  # noise of a few steps of its grid
    return sum((law.mu_squared for law, _ in losses.laws if isinstance(law, GaussianLoss)), Fraction(0)), losses.added
