"""Reads releases and proves what they cost together: per record, per observer, per batch.

For every record, the least ε that provably holds for what touches it (least.py): sums of pure ε (Dwork & Roth 2014, Thm 3.16) and
of ρ (Bun & Steinke 2016, Lemma 1.7) always, and the exact composition where parameters were fixed in advance. Disjoint cohorts
compose in parallel. A shuffled batch costs what the amplification theorem named in its line gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.accountants.least_epsilon import ZCDP, Group, least
from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.accountants.readings.account_lines import AccountLines
from dpaudit.accountants.readings.read_table import ReadTable
from dpaudit.accountants.readings.reads import is_pure
from dpaudit.accountants.readings.release_line import line_of
from dpaudit.accountants.sampling import constant_steps
from dpaudit.accountants.stated_releases import LARGER, StatedRead, stated_failures
from dpaudit.accountants.worst_client import worst_of_table
from dpaudit.claims import Bound, DpauditError, Finding, InvalidValue, Number, exact_delta, show
from dpaudit.ledger import Budget, Charge, Ledger, Release, is_ledger, load_releases
from dpaudit.ledger.books.contents import LedgerContents, read_contents
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.noise import written_forms

DEFAULT_DELTA = Fraction(1, 10**6)
_MOST_DELTA = 1 - Fraction(1, 2**64)
REFUSED = (
    "numerical composition refused: parameters may have been chosen adaptively, after looking at released values; "
    "give --fixed (fixed=True) if every noise scale and sensitivity was fixed in advance. Queries may be adaptive. Where "
    'parameters do depend on outputs, open the door with dp.Budget(ε, δ, filter="renyi"), which adds up moments at one order'
)


IN_ADVANCE = (
    "a sum of ρ holds where its limit was set in advance, as a door with a budget does; if what was released decided when to "
    "stop, --odometer gives the figure that holds"
)
VACUOUS = (
    "the δ that these releases state add up to {}: a bound with δ of 1 or more says nothing. If all was fixed in advance, "
    "--fixed (fixed=True) composes them"
)


def as_release(written: Release | Mapping[str, Any]) -> Release:
    """A release, also from the fields that people write by hand. Raises InvalidRecord."""
    return written if isinstance(written, Release) else Release.from_json(written, forms=written_forms())


def account(
    ledger: Ledger | LedgerContents | str | Path | Iterable[Release | Mapping[str, Any]], *, delta: Number | None = None,
    fixed: bool = False, limit: Fraction | None = None,
) -> Bound:  # fmt: skip
    """A proven (ε, δ) for a ledger, its file or a list of releases (also as people write them), per observer and worst client.

    ``fixed``: every noise scale, sensitivity and cohort was fixed in advance, only the queries may have looked at what was
    released before; then losses are composed exactly. Else only what holds for adaptively chosen parameters is used.
    ``limit``: the ε that it will be held to. A plain sum with δ = 0 is shown where anything better gains less than a thousandth,
    but not where that thousandth decides.
    Without ``delta``: the budget's, else 0 where every release is pure and 10^-6 where not. Charges whose release was
    never stored (a crash) count as spent.
    """
    if not isinstance(ledger, Ledger | LedgerContents | str | Path | Iterable):
        raise InvalidValue("ledger", type(ledger).__name__, "a ledger, its file, or a list of releases")
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return account(load_releases(ledger, written_forms()), delta=delta, fixed=fixed, limit=limit)
        return account(read_contents(ledger), delta=delta, fixed=fixed, limit=limit)
    if isinstance(ledger, Ledger):
        return account(ledger.contents(), delta=delta, fixed=fixed, limit=limit)
    contents = ledger if isinstance(ledger, LedgerContents) else LedgerContents(ReleaseTable.of(map(as_release, ledger)))
    reads, said = _read_all(contents)
    bound = account_table(reads, _target(reads, contents.budget, delta), fixed=fixed, limit=limit)
    return replace(bound, notes=[*bound.notes, *said])


def _read_all(contents: LedgerContents) -> tuple[ReadTable, list[str]]:
    """The releases of a ledger, steps of a training as one, and what is said of these."""
    table, unused = contents.releases, contents.unused
    if not any(constant_steps.is_constant(kind.release) for kind in table.kinds):
        return ReadTable(table, unused), []
    releases = list(table.releases())
    said = [constant_steps.statement(releases), constant_steps.IN_ADVANCE]
    joined, left = constant_steps.join_steps(releases, unused)
    return ReadTable(ReleaseTable.of(joined), left), said


def target_delta(releases: Iterable[Release], budget: Budget | None, delta: Number | None) -> Fraction:
    """The δ at which a ledger is accounted for: the one asked for, else the budget's, else one that its noise needs."""
    return _target(ReadTable(ReleaseTable.of(releases)), budget, delta)


def _target(reads: ReadTable, budget: Budget | None, delta: Number | None) -> Fraction:
    if delta is not None:
        return exact_delta(delta)
    if budget is not None:
        return budget.delta
    pure, failures, stated = True, Fraction(0), []
    for read, count in zip(reads.reads, reads.counts, strict=True):
        pure = pure and is_pure(read.release.mechanism) and read.release.kind != "shuffled"
        if isinstance(read, StatedRead):
            part = read.part()
            pure = pure and read.guarantee.pure is not None
            stated.append(replace(part, count=count * part.count))
        else:
            failures += read.failure * read.count * count
    least_delta = min(stated_failures(stated) + failures, _MOST_DELTA)
    return least_delta if pure else min(least_delta + DEFAULT_DELTA, _MOST_DELTA)


def account_releases(
    releases: Iterable[Release], delta: Fraction, unused: Sequence[Charge] = (), *, fixed: bool = False,
    limit: Fraction | None = None,
) -> Bound:  # fmt: skip
    """The bound at ``delta`` for these releases; ``fixed`` and ``limit`` as in ``account``."""
    return account_table(ReadTable(ReleaseTable.of(releases), unused), delta, fixed=fixed, limit=limit)


def account_table(reads: ReadTable, delta: Fraction, *, fixed: bool = False, limit: Fraction | None = None) -> Bound:
    """The same for releases that were read."""
    lines = AccountLines(reads, [line_of(read, delta) for read in reads.reads])
    findings = [*_understated(reads), *_out_of_domain(lines)]
    observers = ("server", "actions", *(["shuffled"] if any(r.release.kind == "shuffled" for r in reads.reads) else []))
    parts = {observer: reads.parts(observer, delta) for observer in observers}
    seen = _groups(reads, parts)
    bounds = {who: least(groups, delta, fixed=fixed, limit=limit) for who, groups in seen.items()}
    server = bounds["server"]
    if any(read.release.failure for read in reads.reads) and server.delta > delta:
        raise InvalidValue("delta", delta, f"at least {show(server.delta)}: counts of unknown keys need that much")
    views = {observer: (bound.epsilon, bound.delta) for observer, bound in bounds.items()}
    epsilon, spent = views["server"]
    if spent >= 1:
        raise DpauditError(VACUOUS.format(show(spent)))
    costs = [Charge(line.epsilon, line.delta) for line in lines.of_sorts]
    worst = worst_of_table(reads, costs, parts["server"], server.group)
    several = any(group.total() > 1 for group in seen["server"])
    notes = [REFUSED] if delta and several and not fixed else []
    notes += [IN_ADVANCE] if several and not fixed and ZCDP in server.method else []
    notes += [LARGER.format(show(delta), show(spent))] if spent > delta else []
    return Bound(epsilon, spent, server.method, views, worst.to_dict(epsilon, spent), lines, findings, notes)


def _groups(reads: ReadTable, parts: Mapping[str, Sequence[AnyPart]]) -> dict[str, list[Group]]:
    """What touches the same record, as each observer sees it; those who see the same have the same."""
    found: dict[str, list[Group]] = {}
    for observer, seen in parts.items():
        same = next((found[before] for before in found if parts[before] == seen), None)
        found[observer] = reads.touched(seen).groups() if same is None else same
    return found


def _understated(reads: ReadTable) -> list[Finding]:
    """Releases whose proven sensitivity exceeds the declared one: one finding for all of them."""
    found = [
        (read.release, count) for read, count in zip(reads.reads, reads.counts, strict=True)
        if read.release.derived is not None and read.release.derived > read.release.sensitivity * (1 + Fraction(1, 10**12))
    ]  # fmt: skip
    if not found:
        return []
    first, total = found[0][0], sum(count for _, count in found)
    more = f" (and {total - 1} more)" if total > 1 else ""
    proven = show(first.derived or Fraction(0))
    message = f"release {first.name!r}{more} declares sensitivity {show(first.sensitivity)}, proven is {proven}"
    return [Finding("DPA003", message, first.name, first.name)]


def _out_of_domain(lines: AccountLines) -> list[Finding]:
    if all(line.in_domain for line in lines.of_sorts):
        return []
    return [Finding("DPA005", f"{line.batch}: {line.preconditions}", line.batch) for line in lines if not line.in_domain]
