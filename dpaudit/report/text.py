"""Plain text for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.accountants.worst_client import worst_text
from dpaudit.claims import Bound, Enclosure, Line, Outcome, Verdict, show
from dpaudit.claims.decimals import number, short

WIDTH = 110
MOST_ROWS = 20
SEES = {
    "server": "sees all that is released to it",
    "actions": "sees who plays what, in public",
    "shuffled": "sees what leaves the shuffler",
    "others-actions": "sees what the others play",
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns aligned by their widest entry."""
    every = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[c]) for row in every) for c in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])


def audit_text(verdict: Verdict) -> str:
    """The verdict first, then what it rests on."""
    mark = {Outcome.CERTIFIED: "✓", Outcome.REFUTED: "✗", Outcome.UNPROVEN: "?"}[verdict.verdict]
    lines = [
        f"{mark} {verdict.subject}: {str(verdict.verdict).upper()}  (claim {verdict.claim}, observer {verdict.claim.observer})"
    ]
    lines += wrapped("why", verdict.reason)
    if verdict.upper is not None:
        upper = verdict.upper
        lines += wrapped(
            "upper",
            f"ε ≤ {number(upper.epsilon)}: {upper.method}; sensitivity {upper.sensitivity}, path {upper.path}",
        )
    else:
        lines += wrapped("upper", "none proven")
    lower = verdict.lower
    sure = "exact" if lower.confidence == 1 else f"confidence {lower.confidence:.10g}"
    lines += wrapped("lower", f"ε ≥ {floored(lower.epsilon)}: {lower.method}, {sure}, {lower.samples} runs")
    if verdict.detectable is not None:
        lines += wrapped("power", f"on the pairs tried, a true ε above {verdict.detectable:.4g} would have been found")
    for finding in verdict.findings:
        lines += wrapped(finding.rule, finding.message + (f" ({finding.where})" if finding.where else ""))
    if verdict.witness is not None:
        lines += _witness(verdict.witness)
    lines.append(f"  seed     {verdict.seed}; neighbours {verdict.neighbours}; {verdict.seconds:.2f} s")
    return "\n".join(lines)


def _witness(witness: Mapping[str, Any]) -> list[str]:
    lines = wrapped("witness", f"D  = {witness['data']}") + wrapped("", f"D' = {witness['neighbour']}")
    for moved in witness.get("moved", []):
        lines += wrapped(
            "",
            f"{moved['release']}: output {moved['output']:.6g}; D asks {moved['query']:.6g}, D' asks {moved['neighbour']:.6g}",
        )
    if "event" in witness:
        other = witness.get("neighbour_probability", witness.get("other_probability"))
        lines += wrapped("", f"event: {witness['event']}; probability {witness['probability']} against {other}")
    if "loss" in witness:
        lines += wrapped("", f"privacy loss of this transcript: {witness['loss']}, exactly")
    return lines + wrapped("", "save it with --witness FILE, check it again with --replay FILE")


def wrapped(label: str, text: str, column: int = 9) -> list[str]:
    body = textwrap.wrap(text, WIDTH - column - 2) or [""]
    return [f"  {label:<{column}}{body[0]}", *[" " * (column + 2) + more for more in body[1:]]]


def account_text(bound: Bound, name: str, budget: str | None = None) -> str:
    """The figure, who sees what, who pays most, and a line per release; many equal lines as one."""
    lines = [f"{name}: ε ≤ {number(bound.epsilon)}, δ = {show(bound.delta)}" + (f"  (budget {budget})" if budget else "")]
    lines += wrapped("method", bound.method)
    for observer, (epsilon, delta) in bound.per_observer.items():
        lines += wrapped(observer, f"ε ≤ {number(epsilon)}, δ = {show(delta)}: {SEES[observer]}")
    if bound.worst_client:
        lines += wrapped("worst", worst_text(bound.worst_client))
    if bound.lines:
        rows, left = account_rows(bound.lines)
        lines += ["", table(("release", "n", "ε0", "holds", "ε", "theorem", "needs"), rows)]
        lines += [f"… and {left} cheaper releases; --format json lists all"] if left else []
    lines += [line for finding in bound.findings for line in wrapped(finding.rule, finding.message)]
    lines += [line for note in bound.notes for line in wrapped("note", note)]
    return "\n".join(lines)


def odometer_text(readings: Sequence[tuple[int, str, Fraction, Fraction]]) -> str:
    """The running figure after 1, 2, 4, … releases and after the last; nothing for no readings."""
    if not readings:
        return ""
    chosen = [reading for reading in readings if reading[0] & (reading[0] - 1) == 0 or reading[0] == len(readings)]
    rows = [(str(place), name, number(epsilon), show(delta)) for place, name, epsilon, delta in chosen]
    told = "odometer: whenever one stops, what was released so far costs at most this, but for probability δ in all"
    return "\n\n" + told + "\n" + table(("releases", "last", "ε", "δ"), rows)


def account_rows(lines: Sequence[Line]) -> tuple[list[tuple[str, ...]], int]:
    """A row per release; when they are many, a row per kind, the costliest first, and how many releases are left out."""
    groups: dict[tuple[Any, ...], list[Line]] = {}
    for position, line in enumerate(lines):
        kind = (line.epsilon0, line.in_domain, line.epsilon, line.theorem, line.preconditions)
        groups.setdefault((*kind, position) if len(lines) <= MOST_ROWS else kind, []).append(line)
    kinds = list(groups.values())
    if len(kinds) > MOST_ROWS:
        kinds = sorted(kinds, key=lambda kind: kind[0].epsilon, reverse=True)[:MOST_ROWS]
    return [_account_row(kind) for kind in kinds], len(lines) - sum(map(len, kinds))


def _account_row(alike: Sequence[Line]) -> tuple[str, ...]:
    line, sizes = alike[0], sorted({each.n for each in alike})
    more = f" … {short(alike[-1].batch)} ({len(alike)})" if len(alike) > 1 else ""
    return (
        short(line.batch) + more, str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}", number(line.epsilon0),
        "yes" if line.in_domain else "no", number(line.epsilon), line.theorem, line.preconditions,
    )  # fmt: skip


def enclosure_text(enclosure: Enclosure, symbol: str, method: str, digits: int) -> str:
    low, high = decimal(enclosure.lower, digits), decimal(enclosure.upper, digits, up=True)
    width = float(enclosure.upper - enclosure.lower)
    lines = [f"{symbol} in [{low}, {high}]  ({method}, width {width:.2g})"]
    if not enclosure.in_domain:
        lines.append("  DPA005   the theorem does not hold there: ε0 ≤ log(n/(16 log(2/δ))) fails, so this proves nothing")
    if enclosure.attack is not None:
        whom = "the same reports" if method == "laplace" else "an ε0-LDP randomiser"  # clones bound any; the attack is on one
        whom += " at the lower end" if symbol == "ε0" else ""
        lines.append(f"  attack   ε ≥ {decimal(enclosure.attack, 12)} for {whom}, by the shuffled observer")
    return "\n".join(lines)


def decimal(value: Fraction, digits: int, *, up: bool = False) -> str:
    """A decimal of so many places, rounded down or up."""
    scaled = value * 10**digits
    whole = -((-scaled) // 1) if up else scaled // 1
    text = str(abs(int(whole))).rjust(digits + 1, "0")
    return f"{'-' if whole < 0 else ''}{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")


def run_text(document: Mapping[str, Any], notes: Mapping[str, str]) -> str:
    lines = [
        f"{document['algorithm']} ({document['calibration']}): regret {document['regret']:.6g} in {document['horizon']} rounds, "
        f"ε = {document['epsilon']}" + (f", δ = {document['delta']}" if document["delta"] != "0" else "")
    ]
    spent = document["spent"]
    told = {"door": document["door"]}
    if spent is not None:
        told["spent"] = f"ε = {number(Fraction(spent['epsilon']))}, δ = {spent['delta']} for the worst client"
    told |= {finding["rule"]: finding["message"] for finding in document["findings"]}
    told |= {key: value for key, value in notes.items() if key != "witness trials"}
    return "\n".join(lines + [line for key, value in told.items() for line in wrapped(key, value, 13)])


def floored(value: float) -> str:
    """A lower bound with four decimals, rounded down."""
    return f"{math.floor(value * 10_000) / 10_000:g}"


def _claim(claim: Mapping[str, str]) -> str:
    return f"ε={claim['epsilon']}" + (f", δ={claim['delta']}" if claim["delta"] != "0" else "")


def demo_text(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    header = ("model", "calibration", "claimed", "proven ≤", "attacked ≥", "verdict", "mean regret")
    body = [
        (
            row["model"], row["calibration"], _claim(row["claim"]),
            "none" if row["upper"] is None else number(Fraction(row["upper"])),
            floored(row["lower"]), row["verdict"], f"{row['regret']:.0f}",
        )
        for row in rows
    ]  # fmt: skip
    why = [
        line
        for row in rows
        for line in textwrap.wrap(f"{row['model']}, {row['calibration']}: {row['why']}", WIDTH, subsequent_indent="    ")
    ]
    return "\n".join([title, "", table(header, body), "", *why])
