"""An account: the figure against the budget, how it grew, who sees what, who pays most, what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.accountants.client_shares import Share
from dpaudit.accountants.curves.ledger_view import Divergence
from dpaudit.accountants.curves.several_records import GroupCost
from dpaudit.accountants.curves.trade_off import HitRate
from dpaudit.accountants.readings.account_lines import Alike, alike
from dpaudit.accountants.spending_history import Spending
from dpaudit.accountants.worst_client import worst_text
from dpaudit.claims import Bound, Finding, Line, show
from dpaudit.claims.decimals import short
from dpaudit.report.charts.clients import clients
from dpaudit.report.charts.hit_rates import trade_off_figure, trade_off_table
from dpaudit.report.charts.interval import interval
from dpaudit.report.charts.timeline import timeline
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.findings import finding_blocks
from dpaudit.report.document import Block, Document, FactList, Figures, Fold, Heading, Paragraph, Section, Table, facts
from dpaudit.report.interface import Report
from dpaudit.report.rounding import at_most

SEES = {
    "server": "sees all that is released to it",
    "actions": "sees who plays what, in public",
    "shuffled": "sees what leaves the shuffler",
    "others-actions": "sees what the others play",
}
HEADER = ("release", "n", "ε0", "holds", "ε", "theorem", "needs")
NOT_SUMS = "These are plain sums of what each client's releases cost; the proven figure composes them more tightly."
ODOMETER = "odometer: whenever one stops, what was released so far costs at most this, but for probability δ in all"
COUNTED = "Doors count them beside the ledger; the counts are not part of its record."
MOST_ROWS = 20

Refused = tuple[str, str, int]  # hour, reason, how many
Reading = tuple[int, str, Fraction, Fraction]  # releases so far, the last one's name, ε, δ


@dataclass(frozen=True)
class Curves:
    """What was asked for beside ε at one δ."""

    delta_at: tuple[Fraction, Fraction] | None = None  # ε, and δ there
    rates: Sequence[HitRate] = ()
    divergences: Sequence[Divergence] = ()
    mu: tuple[Fraction, Fraction] | None = None  # of Gaussian DP, and how often it fails
    group: GroupCost | None = None

    def facts(self) -> dict[str, str]:
        """One line each."""
        told = {}
        if self.delta_at is not None:
            told["δ(ε)"] = f"at ε = {at_most(self.delta_at[0])}: δ ≤ {at_most(self.delta_at[1])}"
        if self.mu is not None:
            fails = f", but for probability {at_most(self.mu[1])}" if self.mu[1] else ""
            told["μ"] = f"≤ {at_most(self.mu[0])} of Gaussian DP{fails}"
        if self.group is not None:
            cost = f"ε ≤ {at_most(self.group.epsilon)}, δ ≤ {at_most(self.group.delta)}"
            told["group"] = f"any {self.group.size} records: {cost} ({self.group.method})"
        return told

    def tables(self) -> list[Block]:
        """For the terminal and for pages alike."""
        blocks: list[Block] = []
        if self.divergences:
            rows = [(show(each.order), at_most(each.epsilon), at_most(each.delta)) for each in self.divergences]
            blocks.append(Table(("order α", "Rényi divergence at most", "but for probability"), rows))
        return blocks

    def to_dict(self) -> dict[str, Any]:
        """The fields that were asked for; others are left out."""
        said: dict[str, Any] = {}
        if self.delta_at is not None:
            said["delta_at_epsilon"] = {"epsilon": show(self.delta_at[0]), "delta": show(self.delta_at[1])}
        if self.rates:
            said["trade_off"] = [each.to_dict() for each in self.rates]
        if self.divergences:
            said["renyi"] = [each.to_dict() for each in self.divergences]
        if self.mu is not None:
            said["gaussian_dp"] = {"mu": show(self.mu[0]), "delta": show(self.mu[1])}
        if self.group is not None:
            said["group"] = self.group.to_dict()
        return said


@dataclass(frozen=True)
class Account:
    """All that is said of one ledger. ``limit``: the budget, if there is one."""

    name: str
    bound: Bound
    limit: tuple[Fraction, Fraction] | None
    findings: Sequence[Finding]
    readings: Sequence[Reading] = ()
    curves: Curves = field(default_factory=lambda: Curves())

    @property
    def over(self) -> bool:
        return self.limit is not None and (self.bound.epsilon > self.limit[0] or self.bound.delta > self.limit[1])

    @property
    def headline(self) -> str:
        return f"ε ≤ {at_most(self.bound.epsilon)}, δ = {show(self.bound.delta)}"

    @property
    def observers(self) -> dict[str, str]:
        return {who: f"ε ≤ {at_most(e)}, δ = {show(d)}: {SEES[who]}" for who, (e, d) in self.bound.per_observer.items()}


def account_report(
    account: Account, data: Callable[[], Any], spending: Callable[[], Spending], refusals: Callable[[], Sequence[Refused]] = tuple
) -> Report:
    """``spending``: how the figure grew; ``refusals``: what doors refused. Only a page shows these."""
    return Report(lambda depth: _brief(account) if depth == "terminal" else _page(account, spending(), refusals()), data)


def refusal_blocks(refusals: Sequence[Refused]) -> list[Block]:
    """The latest hours first."""
    if not refusals:
        return []
    rows = [(hour.replace("T", " ") + ":00", reason, f"{count:,}") for hour, reason, count in refusals[: -MOST_ROWS - 1 : -1]]
    total = sum(count for _, _, count in refusals)
    return [
        Heading("Refusals", 2),
        Paragraph(f"{total:,} releases were refused before any noise was drawn; they cost nothing. {COUNTED}"),
        Table(("hour (UTC)", "reason", "refused"), rows),
    ]


def _page(account: Account, spending: Spending, refusals: Sequence[Refused]) -> Document:
    bound, limit = account.bound, account.limit
    state = () if limit is None else (" ", verdict_badge("over budget" if account.over else "within budget"))
    budget = "" if limit is None else f", budget ε = {at_most(limit[0])}, δ = {show(limit[1])}"
    drawn = [] if limit is None else [interval(None, bound.epsilon, limit[0], "budget")]
    if spending.steps:
        drawn.append(timeline(spending.steps, None if limit is None else limit[0], bound.epsilon))
    blocks: list[Block] = [
        Heading((account.headline, *state)),
        Paragraph(f"{account.name}{budget}", "soft"),
        Figures(drawn),
        facts({"method": bound.method, **account.observers, **account.curves.facts()}),
        *([trade_off_figure(account.curves.rates)] if account.curves.rates else []),
        *account.curves.tables(),
        Heading("Who pays most", 2),
        Paragraph(worst_text(bound.worst_client) if bound.worst_client else "nobody"),
        *share_blocks(spending.shares, spending.summed),
        *refusal_blocks(refusals),
        *finding_blocks(account.findings),
    ]
    if bound.lines:
        rows, left = account_rows(bound.lines)
        more = [Paragraph(f"and {left:,} cheaper releases", "soft")] if left else []
        blocks.append(Fold("Releases", (Table(HEADER, rows, "roomy"), *more)))
    blocks += [Paragraph(note, "soft") for note in bound.notes]
    return Document(f"Account: {account.name}", [Section(blocks)])


def share_blocks(shares: Sequence[Share], summed: bool) -> list[Block]:
    """How many clients pay how much."""
    return [clients(shares), *([Paragraph(NOT_SUMS, "soft")] if summed else [])] if shares else []


def _brief(account: Account) -> Document:
    """The figure, who sees what, who pays most, and a line per release; many equal lines as one."""
    bound, limit = account.bound, account.limit
    budget = "" if limit is None else f"  (budget ε={show(limit[0])}, δ={show(limit[1])})"
    worst = {"worst": worst_text(bound.worst_client)} if bound.worst_client else {}
    first: list[Block] = [
        Heading(f"{account.name}: {account.headline}{budget}"),
        facts({"method": bound.method, **account.observers, **worst, **account.curves.facts()}),
    ]
    last: list[Block] = []
    if bound.lines:
        rows, left = account_rows(bound.lines)
        last = [Table(HEADER, rows)]
        last += [Paragraph(f"… and {left} cheaper releases; --format json lists all")] if left else []
    said = [*((each.rule, each.message) for each in bound.findings), *(("note", note) for note in bound.notes)]
    sections = [Section(first), Section([*last, FactList(said)])] if last else [Section([*first, FactList(said)])]
    sections += [_odometer(account.readings)] if account.readings else []
    sections += [Section([trade_off_table(account.curves.rates)])] if account.curves.rates else []
    sections += [Section([table]) for table in account.curves.tables()]
    if account.over:
        final = sections.pop()
        sections.append(Section([*final.blocks, facts({"DPA001": "over budget"})]))
    return Document(f"Account: {account.name}", sections)


def _odometer(readings: Sequence[Reading]) -> Section:
    """The running figure after 1, 2, 4, … releases and after the last."""
    chosen = [reading for reading in readings if reading[0] & (reading[0] - 1) == 0 or reading[0] == len(readings)]
    rows = [(str(place), name, at_most(epsilon), at_most(delta)) for place, name, epsilon, delta in chosen]
    return Section((Paragraph(ODOMETER), Table(("releases", "last", "ε", "δ"), rows)))


def account_rows(lines: Sequence[Line]) -> tuple[list[tuple[str, ...]], int]:
    """A row per release; when they are many, a row per kind, the costliest first, and how many releases are left out."""
    if len(lines) <= MOST_ROWS:
        return [_account_row(Alike(line, line.batch, 1, line.n, line.n)) for line in lines], 0
    kinds = alike(lines)
    if len(kinds) > MOST_ROWS:
        kinds = sorted(kinds, key=lambda kind: kind.first.epsilon, reverse=True)[:MOST_ROWS]
    return [_account_row(kind) for kind in kinds], len(lines) - sum(kind.count for kind in kinds)


def _account_row(kind: Alike) -> tuple[str, ...]:
    line = kind.first
    more = f" … {short(kind.last)} ({kind.count})" if kind.count > 1 else ""
    return (
        short(line.batch) + more, str(kind.most) if kind.fewest == kind.most else f"{kind.fewest}–{kind.most}",
        at_most(line.epsilon0), "yes" if line.in_domain else "no", at_most(line.epsilon), line.theorem, line.preconditions,
    )  # fmt: skip
