"""How much noise a claim takes, and what shuffled reports cost."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.claims import Enclosure, show
from dpaudit.noise import MECHANISMS
from dpaudit.report.content.start import claim_words
from dpaudit.report.document import Document, FactList, Heading, Section
from dpaudit.report.interface import Report
from dpaudit.report.rounding import decimal, enclosure_words

OUTSIDE = "the theorem does not hold there: ε0 ≤ log(n/(16 log(2/δ))) fails, so this proves nothing"
HOLDS_FOR = {
    "clone": (
        "n honest clients in an order that nobody sees, and an ε0-LDP randomiser for all or for each place, which may depend on "
        "earlier reports; not for randomisers that clients bring along; n public, one record replaced"
    ),
    "same": (
        "n reports of one ε0-LDP randomiser, none chosen by what others reported, or of one for each position where clients are "
        "dealt to positions by a uniform permutation that nobody sees; every value in the randomiser's domain, n public (of "
        "reports with one label, where an observer sees labels), one record replaced, 0 ≤ ε < ε0 (claim shuffle.same-randomiser)"
    ),
    "krr": "n reports by one k-ary randomised response; n public, one record replaced",
    "unary": "n reports by one symmetric unary encoding (RAPPOR) of any length; n public, one record replaced",
    "oue": "n reports by one optimised unary encoding of any length; n public, one record replaced",
    "channel": "n reports by the randomiser in the matrix; n public, one record replaced",
}
COINS = "every record enters each sample by its own secret coin, fresh each time; neighbours add or remove one record"


def calibration_report(data: Mapping[str, Any]) -> Report:
    """The parameter first, then what it gives and why."""
    claim, count, kind = data["claim"], data["count"], MECHANISMS[data["mechanism"]]
    times = f", {count} times" if count > 1 else ""
    crowd = f", {data['n']} shuffled reports" if data["n"] is not None else ""
    sample = f", on Poisson samples of rate {data['sampling']}" if "sampling" in data else ""
    head = f"{kind.size_words} {data['value']}{times}{sample}{crowd}: keeps {claim_words(claim, ' = ')}"
    low, high = (Fraction(data["epsilon"][end]) for end in ("lower", "upper"))
    exactly = f"ε = {show(high)}, exactly" if low == high else f"ε in {enclosure_words(low, high, 9)}"
    pairs = []
    if kind.stronger > 0:
        what = "one report moves by at most" if crowd else "sensitivity"
        pairs.append(("for", f"{what} {data['sensitivity']} (L{kind.norm})"))
    pairs += [("gives", f"{exactly} at δ = {claim['delta']}"), ("theorem", data["theorem"])]
    pairs += [("holds", _when(data["adaptive"]))] if count > 1 else []
    pairs += [("needs", COINS)] if sample else []
    pairs.append(("python", data["python"]))
    for other in data["others"]:
        pairs.append(("instead", f"{other['value']} by {other['theorem']}" + ("; " + _when(True) if other["adaptive"] else "")))
    return Report(lambda depth: Document("Calibration", [Section([Heading(head), FactList(pairs)])]), lambda: data)


def _when(adaptive: bool) -> str:
    if adaptive:
        return "also if noise is chosen on the way"
    return "if all noise is fixed in advance (account --fixed); queries may depend on answers"


def enclosure_report(enclosure: Enclosure, symbol: str, method: str, places: int, data: Mapping[str, Any]) -> Report:
    """An amplified ε, or the ε0 that gives one."""
    width = float(enclosure.upper - enclosure.lower)
    head = f"{symbol} in {enclosure_words(enclosure.lower, enclosure.upper, places)}  ({method}, width {width:.2g})"
    pairs = [] if enclosure.in_domain else [("DPA005", OUTSIDE)]
    if method in HOLDS_FOR:
        pairs.append(("for", HOLDS_FOR[method]))
    if enclosure.method not in (method, ""):
        pairs.append(("upper end", f"by --method {enclosure.method}, which gives the smaller one here"))
    if enclosure.attack is not None:
        generic = method in ("closed", "clone", "same")  # they bound any randomiser; the attack is on one
        whom = "an ε0-LDP randomiser" if generic else "the same reports"
        whom += " at the lower end" if symbol == "ε0" else ""
        pairs.append(("attack", f"ε ≥ {decimal(enclosure.attack, 12)} for {whom}, by the shuffled observer"))
    return Report(lambda depth: Document(symbol, [Section([Heading(head), FactList(pairs)])]), lambda: data)
