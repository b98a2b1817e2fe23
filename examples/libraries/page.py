"""One page on what was found: refuted first, with the event; then what was not refuted, with what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attack import Result
from case import Case

from dpaudit.report import document as doc
from dpaudit.report.document import Document, Section
from dpaudit.report.rounding import at_least

TONES: dict[str, doc.Tone] = {"refuted": "bad", "not refuted": "open", "not run": "open"}
MEANINGS = (
    ("certified", "nothing: functions of other libraries are black boxes, and a black box is never certified"),
    (
        "refuted",
        "an event was found which the documented claim does not allow, at confidence 1 − 10⁻⁶; the event stands beside it",
    ),
    ("not refuted", "what was tried, which stands beside it, found no such event; that proves nothing"),
    ("not run", "the library could not be installed, or the function refused its data; the reason stands beside it"),
)
NOTE = (
    "Tell the maintainers of a library first, as its security page asks for; SECURITY.md of dpaudit says how. Check a refutation "
    "by hand before: a claim or a pair of neighbours that was read wrongly refutes nothing."
)


@dataclass(frozen=True)
class Row:
    """``library`` with its version."""

    library: str
    case: Case
    result: Result


def page(rows: Sequence[Row]) -> Document:
    refuted = _count(rows, "refuted")
    title = f"Functions of other libraries: {refuted} of {len(rows)} refuted"
    words = ["certified", *_words(rows)]
    meanings = doc.FactList([(doc.Badge(word, TONES.get(word, "good")), text) for word, text in MEANINGS if word in words])
    blocks: list[doc.Block] = [doc.Heading(title), doc.Paragraph(NOTE, "note"), meanings, _summary(rows)]
    return Document(title, [Section(blocks), Section([doc.Heading("Every function", 2), _functions(rows)])])


def _summary(rows: Sequence[Row]) -> doc.Table:
    names = list(dict.fromkeys(row.library for row in rows))
    mine = [[row for row in rows if row.library == name] for name in names]
    words = _words(rows)
    lines = [(name, str(len(some)), *(str(_count(some, word)) for word in words)) for name, some in zip(names, mine, strict=True)]
    return doc.Table(("library", "functions", *words), lines)


def _words(rows: Sequence[Row]) -> list[str]:
    """What there is to say: a column of zeros is none."""
    return [word for word in TONES if word != "not run" or _count(rows, word)]


def _functions(rows: Sequence[Row]) -> doc.Table:
    ordered = sorted(rows, key=lambda row: list(TONES).index(row.result.verdict))
    lines = [
        (
            f"{row.library.split()[0]}: {row.case.name}", f"claims {claim(row.case)}; {row.case.neighbours}",
            doc.Badge(row.result.verdict, TONES[row.result.verdict]), _found(row.result),
        )
        for row in ordered
    ]  # fmt: skip
    header = ("function", "documented claim, neighbours", "result", "event, or what was tried")
    return doc.Table(header, lines, "cards", [word for word in TONES if _count(rows, word)])


def _found(result: Result) -> doc.Styled:
    """A refutation stands at its own confidence, which is higher than that of the bound."""
    seen = f"ε ≥ {at_least(result.lower)} at confidence 0.95: " if result.verdict == "not refuted" else ""
    return doc.Styled(seen + result.detail, "formula")


def _count(rows: Sequence[Row], word: str) -> int:
    return sum(row.result.verdict == word for row in rows)


def claim(case: Case) -> str:
    delta = f", δ = {case.delta}" if case.delta != "0" else ""
    return f"ε = {case.epsilon}{delta}"
