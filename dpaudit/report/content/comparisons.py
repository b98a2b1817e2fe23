"""Accounts, calibrations and peers side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from dpaudit.claims import show
from dpaudit.report.content.start import at_most_or_none, claim_words
from dpaudit.report.document import Document, FactList, Heading, Paragraph, Section, Table
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import at_most, enclosure_words


def ledgers_report(data: Mapping[str, Any]) -> Report:
    """One column per ledger, one row per figure, and what changed from the first to the last."""
    ledgers: Sequence[Mapping[str, Any]] = data["ledgers"]
    observers = list(dict.fromkeys(name for ledger in ledgers for name in ledger["observers"]))
    rows = []
    for observer in observers:
        figures = [ledger["observers"].get(observer) for ledger in ledgers]
        cells = ["none" if each is None else f"ε ≤ {_epsilon(each)}, δ = {each['delta']}" for each in figures]
        rows.append((observer, *cells, _change(figures[0], figures[-1])))
    counts = [ledger["releases"] for ledger in ledgers]
    rows.append(("releases", *map(str, counts), f"{counts[-1] - counts[0]:+d}" if counts[-1] != counts[0] else "same"))
    rows.append(("worst client", *[_client(ledger["worst_client"]) for ledger in ledgers], ""))
    head = ("", *_short_names([str(ledger["name"]) for ledger in ledgers]), "change" if len(ledgers) == 2 else "first to last")
    said = [(each["rule"], f"{ledger['name']}: {each['message']}") for ledger in ledgers for each in ledger["findings"]]
    if len({ledger["delta"] for ledger in ledgers}) > 1:
        said.append(("note", "these figures are at different δ; give --delta to compare them at one"))

    def document(depth: Depth) -> Document:
        if depth == "terminal":
            return Document("Ledgers", [Section([Table(head, rows), FactList(said)])])
        title = f"{head[1]} and {head[2]}" if len(ledgers) == 2 else f"{len(ledgers)} ledgers"
        warned = [Paragraph(f"{label}: {text}", "note") for label, text in said]
        return Document("Ledgers", [Section([Heading(f"What {title} cost"), *warned, Table(head, rows)])])

    return Report(document, lambda: data)


def _epsilon(figures: Mapping[str, str]) -> str:
    return at_most(Fraction(figures["epsilon"]))


def _change(first: Mapping[str, str] | None, last: Mapping[str, str] | None) -> str:
    """With the figures as they stand in the columns."""
    if first is None or last is None:
        return ""
    before, after = Fraction(first["epsilon"]), Fraction(last["epsilon"])
    if abs(after - before) <= Fraction(1, 10**6) * max(before, after):
        return "same ε"
    return f"ε {_epsilon(first)} → {_epsilon(last)}" + (f" ({float(after / before - 1):+.0%})" if before else "")


def _short_names(paths: Sequence[str]) -> list[str]:
    """File names where they tell the files apart, else the paths as given."""
    names = [PurePath(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _client(worst: Mapping[str, Any]) -> str:
    count = worst["releases"]
    who = "everybody" if worst["client"] is None else f"client {worst['client']}"
    return f"{who}, {count} release{'' if count == 1 else 's'}"


def calibrations_report(data: Mapping[str, Any]) -> Report:
    rows = []
    for row in data["calibrations"]:
        noise = row["noise"]
        ends = [] if noise is None else [at_most(Fraction(noise[end])) for end in ("least", "most")]
        sizes, regret = " to ".join(dict.fromkeys(ends)) or "none", f"{row['regret']:.0f}"
        rows.append(
            (row["algorithm"], row["calibration"], claim_words(row["claim"]), sizes, at_most_or_none(row["upper"]), regret)
        )
    how = f"T={data['horizon']:,}; noise and proven ε of one run, regret: mean of {data['instances']} random instances"
    how += f"; seed {data['seed']}"
    header = ("algorithm", "calibration", "claimed", "noise", "proven ≤", "mean regret")

    def document(depth: Depth) -> Document:
        if depth == "terminal":
            return Document("Calibrations", [Section([Heading(how)]), Section([Table(header, rows)])])
        order = (0, 1, 4, 2, 3, 5)  # what decides stands where a phone shows it
        table = Table([header[place] for place in order], [[row[place] for place in order] for row in rows])
        return Document("Calibrations", [Section([Heading("Calibrations, side by side"), Paragraph(how, "soft"), table])])

    return Report(document, lambda: data)


def peers_report(data: Mapping[str, Any]) -> Report:
    """Our interval, a row per peer and method, findings, and what the peers have no words for."""
    low, high = (Fraction(data["epsilon"][end]) for end in ("lower", "upper"))
    figure = f"ε = {show(high)}" if low == high else f"ε in {enclosure_words(low, high, 9)}"
    summed = data["pure"] is None or data["method"] == "pure sum"
    by = data["method"] if summed else f"{data['method']}; pure sum {at_most(Fraction(data['pure']))}"
    first = Section(
        [Heading(f"dpaudit: {figure} at δ = {data['delta']}, certified"), FactList([("by", by), ("of", data["releases"])])]
    )
    rows = [
        (
            peer["peer"], peer["method"], peer["version"] or "none", _figure(peer["epsilon"]), _time(peer["seconds"]),
            {True: "yes", False: "NO", None: "none"}[peer["agrees"]], peer["note"],
        )
        for peer in data["peers"]
    ]  # fmt: skip
    said = [(finding["rule"], finding["message"]) for finding in data["findings"]]
    said += [("cannot", f"{peer}: {_missing(missing)}") for peer, missing in data["cannot"].items() if missing]
    said.append(("note", "peers are given continuous noise of the same size; ours is on a grid"))
    table = Table(("peer", "method", "version", "ε ≤", "time", "agrees", "note"), rows)
    return Report(lambda depth: Document("Peers", [first, Section([table]), Section([FactList(said)])]), lambda: data)


def _missing(missing: Mapping[str, str]) -> str:
    """What a peer has no words for, by the reason."""
    reasons: dict[str, list[str]] = {}
    for what, why in missing.items():
        reasons.setdefault(why, []).append(what)
    return "; ".join(f"{', '.join(what)} ({why})" for why, what in reasons.items())


def _figure(value: float | None) -> str:
    """A peer's own figure, as it gives it."""
    return "none" if value is None else f"{value:.7g}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "none"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
