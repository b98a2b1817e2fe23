"""A table of systems, measured: what they claim, what was certified and attacked, and how their regret grows."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.report.charts.regret_curves import regret_curves
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.start import at_most_or_none, claim_words
from dpaudit.report.document import Block, Document, FactList, Figure, Heading, Section, Table
from dpaudit.report.interface import Report
from dpaudit.report.rounding import at_least

HEADER = (
    "", "system", "model", "claimed", "certified ≤", "noise ÷", "attacked ≥", "verdict", "mean regret", "slope", "claimed",
)  # fmt: skip

VERDICT = HEADER.index("verdict")
ON_A_PAGE = (0, 1, VERDICT, *(place for place in range(2, len(HEADER)) if place != VERDICT))


def systems_report(data: Mapping[str, Any]) -> Report:
    rows: Sequence[Mapping[str, Any]] = data["table1"]
    title = (
        f"Table 1, measured: ε={data['epsilon']}, T={data['horizon']:,}, K={data['actions']}, d={data['dim']}; "
        f"mean ± s.e. of {data['instances']} random instances; seed {data['seed']}"
    )
    cells = [_cells(number, row) for number, row in enumerate(rows, 1)]
    notes = FactList(_notes(data), 12)

    def document(depth: str) -> Document:
        blocks: list[Block] = [Table(HEADER, cells)]
        if depth == "page":
            caption = "Mean regret against the horizon, both axes logarithmic. Dotted lines lead to the numbers of the table."
            blocks = [_verdicts_first(cells), Figure(regret_curves(rows), caption)]
        return Document("Table 1", [Section([Heading(title)]), Section(blocks), Section([notes])])

    return Report(document, lambda: data)


def _cells(number: int, row: Mapping[str, Any]) -> tuple[str, ...]:
    last, claim = row["regret"][-1], row["claim"]
    slope = "none" if row["slope"] is None else f"{row['slope']:.2f}"
    lower = "" if claim is None else at_least(row["lower"], Fraction(claim["epsilon"])) if row["lower"] else "none seen"
    return (
        str(number), row["system"] + (" *" if row["unconfirmed"] else ""), row["model"],
        "none" if claim is None else claim_words(claim), "" if claim is None else at_most_or_none(row["certified"]),
        "" if row["shrink"] is None else f"{row['shrink']:.3g}", lower, row["verdict"] or "",
        f"{last['mean']:.0f} ± {last['error']:.0f}", slope, row["exponent"],
    )  # fmt: skip


def _verdicts_first(cells: Sequence[Sequence[str]]) -> Table:
    """What decides stands where a phone shows it."""
    rows = [[*row[:VERDICT], verdict_badge(row[VERDICT]) if row[VERDICT] else "", *row[VERDICT + 1 :]] for row in cells]
    return Table([HEADER[place] for place in ON_A_PAGE], [[row[place] for place in ON_A_PAGE] for row in rows])


def _notes(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = data["table1"]
    notes = [
        ("noise ÷", "by how much added noise could shrink and keep the claim; empty for bits, coins and behind a shuffler"),
        ("audited", f"at T={data['audited']:,}, for one changed reward, contexts public and the same in all rounds"),
        ("slope", "of log regret on log T over the last three horizons, beside the exponent of T that the source claims"),
    ]  # fmt: skip
    if data.get("contexts", 1) > 1:
        notes.append(("contexts", f"regret: one of {data['contexts']} sets of actions is drawn in each round"))
    notes += _unseen(rows)
    marked = [f"{row['system']}: {row['unconfirmed']}" for row in rows if row["unconfirmed"]]
    if marked:
        notes.append(("*", "not confirmed from the original paper: " + "; ".join(marked)))
    notes += [(row["system"], row["why"]) for row in rows if row["verdict"] not in (None, "certified")]
    return notes


def _unseen(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Where no attack shows anything: how much it would have had to be."""
    blind = [row for row in rows if row["claim"] is not None and not row["lower"]]
    if not blind:
        return []
    limits = [f"{row['system']} ({row['detectable']:.2g})" for row in blind if row.get("detectable")]
    words = "where public coins (ties, rounding) come first, no exact event is sought; no game of this size shows any ε"
    return [("none seen", words + (f"; a game would have shown it from about so much on: {', '.join(limits)}" if limits else ""))]


def systems_csv(data: Mapping[str, Any]) -> str:
    """One line per system and horizon."""
    stream = io.StringIO()
    single = ("system", "source", "model", "observer", "neighbours", "certified", "shrink", "lower", "lower_method", "verdict")
    later = ("slope", "slope_error", "exponent", "unconfirmed")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*single[:3], "epsilon", "delta", *single[3:], "horizon", "regret", "error", *later])
    for row in data["table1"]:
        claim = row["claim"] or {"epsilon": None, "delta": None}
        for point in row["regret"]:
            numbers = (point["horizon"], point["mean"], point["error"])
            first, rest = [row[name] for name in single[:3]], [row[name] for name in single[3:]]
            writer.writerow([*first, claim["epsilon"], claim["delta"], *rest, *numbers, *(row[name] for name in later)])
    return stream.getvalue().rstrip("\n")
