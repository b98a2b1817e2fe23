"""Verdicts: the verdict first, then the ε interval against the claim, then what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.auditors.wording import power_words
from dpaudit.claims import Lower, Outcome, Verdict
from dpaudit.report.charts.histogram import histogram
from dpaudit.report.charts.interval import interval
from dpaudit.report.content.findings import finding_blocks
from dpaudit.report.document import (
    Badge,
    Block,
    Document,
    FactList,
    Figures,
    Fold,
    Heading,
    Link,
    Paragraph,
    Section,
    Styled,
    Table,
    Tone,
    facts,
)
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import about_at_most, at_least, at_most

MARKS = {Outcome.CERTIFIED: "✓", Outcome.REFUTED: "✗", Outcome.UNPROVEN: "?"}
TONES: dict[str, Tone] = {
    "certified": "good", "verified": "good", "within budget": "good", "refuted": "bad", "over budget": "bad",
}  # fmt: skip
WITNESS = {
    "batch": "batch", "event": "event", "probability": "probability on D", "neighbour_probability": "probability on D'",
    "other_probability": "probability on D'", "loss": "loss",
}  # fmt: skip
_LONG = 300  # letters of one fact of a witness; --witness FILE writes all of it


def audit_report(verdicts: Sequence[Verdict], alone: bool = True) -> Report:
    """``alone``: one subject was asked for, so that its data are an object and no list."""

    def document(depth: Depth) -> Document:
        title = f"Audit: {', '.join(verdict.subject for verdict in verdicts)}"
        if depth == "terminal":
            return Document(title, [Section(_brief(verdict)) for verdict in verdicts])
        if len(verdicts) == 1:
            return Document(title, [_section(verdicts[0], 1)])
        return Document(title, [_overview(verdicts), *(_section(verdict, 2) for verdict in verdicts)])

    data = [verdict.to_dict() for verdict in verdicts]
    return Report(document, lambda: data[0] if alone else data)


def verdict_badge(verdict: str) -> Badge:
    return Badge(verdict, TONES.get(verdict, "open"))


def _overview(verdicts: Sequence[Verdict]) -> Section:
    rows = [
        (Link(v.subject, _anchor(v)), str(v.claim), verdict_badge(str(v.verdict)), Styled(v.reason, "formula")) for v in verdicts
    ]
    counts = {word: sum(str(v.verdict) == word for v in verdicts) for word in ("refuted", "unproven", "certified")}
    title = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return Section((Heading(f"Audit: {title}"), Table(("subject", "claim", "verdict", "why"), rows, "cards")))


def _anchor(verdict: Verdict) -> str:
    return f"audit-{verdict.subject}"


def _section(verdict: Verdict, level: int) -> Section:
    claim = verdict.claim.epsilon
    drawn = [interval(verdict.lower.epsilon, None if verdict.upper is None else verdict.upper.epsilon, claim)]
    drawn += [] if verdict.losses is None else [histogram(verdict.losses, claim)]
    blocks: list[Block] = [
        Heading((verdict.subject, " ", verdict_badge(str(verdict.verdict))), level),
        Paragraph(Styled(verdict.reason, "strong formula")),
        Figures(drawn),
        facts(_audit_facts(verdict)),
        *finding_blocks(verdict.findings, level + 1),
    ]
    if verdict.witness is not None:
        blocks.append(Fold("Witness", (facts(_witness_facts(verdict.witness)),), level + 1))
    return Section(blocks, _anchor(verdict))


def _upper(verdict: Verdict) -> str | None:
    upper = verdict.upper
    if upper is None:
        return None
    return f"ε ≤ {at_most(upper.epsilon)}: {upper.method}; sensitivity {upper.sensitivity}, path {upper.path}"


def _lower(lower: Lower, verdict: Verdict) -> str:
    sure = "exact" if lower.confidence == 1 else f"confidence {lower.confidence:.10g}"
    return f"ε ≥ {at_least(lower.epsilon, verdict.claim.epsilon)}: {lower.method}, {sure}, {lower.samples} runs"


def power(detectable: float | None, verdict: str, confidence: float) -> dict[str, str]:
    """What an attack that did not refute could have refuted, as a fact; nothing where there is nothing to say."""
    words = power_words(None if detectable is None else about_at_most(detectable), verdict, exact=confidence == 1)
    return {} if words is None else {"power": words}


def _audit_facts(verdict: Verdict) -> dict[str, str]:
    """What the verdict rests on."""
    return {
        "claim": f"{verdict.claim}, observer {verdict.claim.observer}, neighbours {verdict.neighbours}",
        "proven": _upper(verdict) or "none",
        "attacked": _lower(verdict.lower, verdict),
        **power(verdict.detectable, verdict.verdict, verdict.lower.confidence),
        "seed": str(verdict.seed),
        "took": f"{verdict.seconds:.2f} s",
    }


def _witness_facts(witness: Mapping[str, Any]) -> dict[str, str]:
    """The pair of data that the audit made, and what tells them apart; what only a replay needs is left out."""
    words = {"D": witness["data"], "D'": witness["neighbour"]}
    words |= {name: witness[key] for key, name in WITNESS.items() if key in witness}
    for place, moved in enumerate(witness.get("moved", ())):
        asked = f"D asks {moved['query']:.6g}, D' asks {moved['neighbour']:.6g}, released was {moved['output']:.6g}"
        words[f"release {place + 1}"] = f"{moved['release']}: {asked}"
    if "right" in witness:
        words["guesses"] = f"{witness['right']:,} right, {witness['wrong']:,} wrong in {witness['runs']:,} runs"
    if "log10_evidence" in witness:
        words["evidence"] = f"10^{witness['log10_evidence']:g} to 1 after {witness['draws']:,} draws"
    return {key: _shorten(str(value)) for key, value in words.items()}


def _shorten(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _brief(verdict: Verdict) -> list[Block]:
    claim, outcome = f"claim {verdict.claim}, observer {verdict.claim.observer}", str(verdict.verdict).upper()
    pairs = [("why", verdict.reason), ("upper", _upper(verdict) or "none proven"), ("lower", _lower(verdict.lower, verdict))]
    pairs += power(verdict.detectable, verdict.verdict, verdict.lower.confidence).items()
    pairs += [(each.rule, each.message + (f" ({each.where})" if each.where else "")) for each in verdict.findings]
    pairs += [] if verdict.witness is None else _brief_witness(verdict.witness)
    pairs.append(("seed", f"{verdict.seed}; neighbours {verdict.neighbours}; {verdict.seconds:.2f} s"))
    return [Heading(f"{MARKS[verdict.verdict]} {verdict.subject}: {outcome}  ({claim})"), FactList(pairs)]


def _brief_witness(witness: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [f"D' = {witness['neighbour']}"]
    for moved in witness.get("moved", []):
        asked = f"D asks {moved['query']:.6g}, D' asks {moved['neighbour']:.6g}"
        lines.append(f"{moved['release']}: output {moved['output']:.6g}; {asked}")
    if "event" in witness:
        other = witness.get("neighbour_probability", witness.get("other_probability"))
        lines.append(f"event: {witness['event']}; probability {witness['probability']} against {other}")
    if "loss" in witness:
        exactly = f"at least {witness['loss']}" if "rounded" in witness else f"{witness['loss']}, exactly"
        lines.append(f"privacy loss of this transcript: {exactly}")
    lines.append("save it with --witness FILE, check it again with --replay FILE")
    return [("witness", f"D  = {witness['data']}"), *(("", line) for line in lines)]
