"""One page on what was found: refuted first, with the event; then what was not refuted, with what was tried."""

from __future__ import annotations

from collections.abc import Sequence

from attack import Result

from dpaudit.report import document as doc
from dpaudit.report.document import Document, Section
from dpaudit.report.rounding import at_least

TONES: dict[str, doc.Tone] = {"refuted": "bad", "not refuted": "open", "not run": "open"}
NOTE = (
    "Functions of other libraries are black boxes: dpaudit certifies none of them. Refuted means that an event was found which "
    "the documented claim does not allow, at confidence 1 − 10⁻⁶. Not refuted means that what was tried found none; it proves "
    "nothing. "
    "Tell the maintainers of a library first, as its security page asks for; SECURITY.md of dpaudit says how."
)


def page(results: Sequence[Result]) -> Document:
    counts = {word: sum(result.verdict == word for result in results) for word in TONES}
    title = f"Functions of other libraries: {counts['refuted']} of {len(results)} refuted"
    ordered = sorted(results, key=lambda result: list(TONES).index(result.verdict))
    rows = [
        (
            f"{one.library} {one.version}: {one.case.name}", doc.Badge(one.verdict, TONES[one.verdict]), _claim(one),
            at_least(one.lower), one.case.neighbours, one.detail,
        )
        for one in ordered
    ]  # fmt: skip
    header = ("function", "result", "documented claim", "attacked ≥", "neighbours", "event, or what was tried")
    words = f"Certified by nothing: {', '.join(f'{count} {word}' for word, count in counts.items())}."
    blocks = [doc.Heading(title), doc.Paragraph(words, "soft"), doc.Paragraph(NOTE, "note"), doc.Table(header, rows, "roomy")]
    return Document(title, [Section(blocks)])


def _claim(result: Result) -> str:
    delta = f", δ = {result.case.delta}" if result.case.delta != "0" else ""
    return f"ε = {result.case.epsilon}{delta}"
