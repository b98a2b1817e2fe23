"""Plain text for ``compare``, ``peers`` and ``calibrate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from dpaudit.claims import show
from dpaudit.claims.decimals import number
from dpaudit.noise import MECHANISMS
from dpaudit.report.text import decimal, table, wrapped


def ledgers_text(document: Mapping[str, Any]) -> str:
    """One column per ledger, one row per figure, and what changed from the first to the last."""
    ledgers: Sequence[Mapping[str, Any]] = document["ledgers"]
    observers = list(dict.fromkeys(name for ledger in ledgers for name in ledger["observers"]))
    rows = []
    for observer in observers:
        figures = [ledger["observers"].get(observer) for ledger in ledgers]
        cells = ["none" if each is None else f"ε ≤ {number(Fraction(each['epsilon']))}, δ = {each['delta']}" for each in figures]
        rows.append((observer, *cells, _change(figures[0], figures[-1])))
    counts = [ledger["releases"] for ledger in ledgers]
    rows.append(("releases", *map(str, counts), f"{counts[-1] - counts[0]:+d}" if counts[-1] != counts[0] else "same"))
    rows.append(("worst client", *[_client(ledger["worst_client"]) for ledger in ledgers], ""))
    head = ("", *_short_names([str(ledger["name"]) for ledger in ledgers]), "change" if len(ledgers) == 2 else "first to last")
    lines = [table(head, rows)]
    for ledger in ledgers:
        for finding in ledger["findings"]:
            lines += wrapped(finding["rule"], f"{ledger['name']}: {finding['message']}")
    if len({ledger["delta"] for ledger in ledgers}) > 1:
        lines += wrapped("note", "these figures are at different δ; give --delta to compare them at one")
    return "\n".join(lines)


def _change(first: Mapping[str, str] | None, last: Mapping[str, str] | None) -> str:
    if first is None or last is None:
        return ""
    before, after = float(Fraction(first["epsilon"])), float(Fraction(last["epsilon"]))
    if abs(after - before) <= 1e-6 * max(before, after):
        return "same ε"
    return f"ε {before:.4g} → {after:.4g}" + (f" ({after / before - 1:+.0%})" if before else "")


def _short_names(paths: Sequence[str]) -> list[str]:
    """File names where they tell the files apart, else the paths as given."""
    names = [PurePath(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _client(worst: Mapping[str, Any]) -> str:
    count = worst["releases"]
    who = "everybody" if worst["client"] is None else f"client {worst['client']}"
    return f"{who}, {count} release{'' if count == 1 else 's'}"


def calibrations_text(document: Mapping[str, Any]) -> str:
    rows = []
    for row in document["calibrations"]:
        noise, claim = row["noise"], row["claim"]
        sizes = "none" if noise is None else " to ".join(dict.fromkeys(number(Fraction(noise[end])) for end in ("least", "most")))
        upper = "none" if row["upper"] is None else number(Fraction(row["upper"]))
        claimed = f"ε={claim['epsilon']}" + (f", δ={claim['delta']}" if claim["delta"] != "0" else "")
        rows.append((row["algorithm"], row["calibration"], claimed, sizes, upper, f"{row['regret']:.0f}"))
    title = f"T={document['horizon']:,}; noise and proven ε of one run, regret: mean of {document['instances']} random instances"
    body = table(("algorithm", "calibration", "claimed", "noise", "proven ≤", "mean regret"), rows)
    return f"{title}; seed {document['seed']}\n\n{body}"


def calibration_text(document: Mapping[str, Any]) -> str:
    """The parameter first, then what it gives and why."""
    kind = MECHANISMS[document["mechanism"]]
    claim, count = document["claim"], document["count"]
    asked = f"ε = {claim['epsilon']}" + (f", δ = {claim['delta']}" if claim["delta"] != "0" else "")
    times = f", {count} times" if count > 1 else ""
    crowd = f", {document['n']} shuffled reports" if document["n"] is not None else ""
    lines = [f"{kind.size_words} {document['value']}{times}{crowd}: keeps {asked}"]
    if kind.stronger > 0:
        what = "one report moves by at most" if crowd else "sensitivity"
        lines += wrapped("for", f"{what} {document['sensitivity']} (L{kind.norm})")
    low, high = (Fraction(document["epsilon"][end]) for end in ("lower", "upper"))
    exactly = f"ε = {show(high)}, exactly" if low == high else f"ε in [{decimal(low, 9)}, {decimal(high, 9, up=True)}]"
    lines += wrapped("gives", f"{exactly} at δ = {claim['delta']}")
    lines += wrapped("theorem", document["theorem"])
    if count > 1:
        lines += wrapped("holds", _when(document["adaptive"]))
    lines += wrapped("python", document["python"])
    for other in document["others"]:
        lines += wrapped("instead", f"{other['value']} by {other['theorem']}" + ("; " + _when(True) if other["adaptive"] else ""))
    return "\n".join(lines)


def _when(adaptive: bool) -> str:
    return (
        "also if noise is chosen on the way"
        if adaptive
        else "if all noise is fixed in advance (account --fixed); queries may depend on answers"
    )


def peers_text(document: Mapping[str, Any]) -> str:
    """Our interval, a row per peer and method, findings, and what the peers have no words for."""
    low, high = (Fraction(document["epsilon"][end]) for end in ("lower", "upper"))
    told = f"ε = {show(high)}" if low == high else f"ε in [{decimal(low, 9)}, {decimal(high, 9, up=True)}]"
    summed = document["pure"] is None or document["method"] == "pure sum"
    pure = "" if summed else f"pure sum {number(Fraction(document['pure']))}"
    lines = [f"dpaudit: {told} at δ = {document['delta']}, certified"]
    lines += wrapped("by", "; ".join(part for part in (document["method"], pure) if part))
    lines += wrapped("of", document["releases"])
    rows = [
        (
            figure["peer"], figure["method"], figure["version"] or "none", _figure(figure["epsilon"]), _time(figure["seconds"]),
            {True: "yes", False: "NO", None: "none"}[figure["agrees"]], figure["note"],
        )
        for figure in document["peers"]
    ]  # fmt: skip
    lines += ["", table(("peer", "method", "version", "ε ≤", "time", "agrees", "note"), rows), ""]
    for finding in document["findings"]:
        lines += wrapped(finding["rule"], finding["message"])
    for peer, missing in document["cannot"].items():
        reasons: dict[str, list[str]] = {}
        for what, why in missing.items():
            reasons.setdefault(why, []).append(what)
        if reasons:
            lines += wrapped("cannot", f"{peer}: " + "; ".join(f"{', '.join(what)} ({why})" for why, what in reasons.items()))
    return "\n".join([*lines, *wrapped("note", "peers are given continuous noise of the same size; ours is on a grid")])


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.7g}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "none"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
