"""The gate: whether it holds first, then every budget with what failed, why, what it rests on, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.accountants.client_shares import Share
from dpaudit.accountants.spending_history import Step
from dpaudit.claims import Losses
from dpaudit.claims.exit_codes import HOLDS, NOTHING
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Checked, Judged, Noted
from dpaudit.report import document as doc
from dpaudit.report.charts.histogram import histogram
from dpaudit.report.charts.interval import interval
from dpaudit.report.charts.timeline import timeline
from dpaudit.report.content.account import share_blocks
from dpaudit.report.content.audit import power, verdict_badge
from dpaudit.report.content.findings import MOST, finding_blocks
from dpaudit.report.content.findings import what_to_do as remedy_paragraph
from dpaudit.report.document import Block, Document, Line, Section, Styled, Tone, facts
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import at_least, at_most

MARKS = {"holds": "✓", "fails": "✗", "waived": "~", "not checked": "!"}
TONES: dict[str, Tone] = {"holds": "good", "fails": "bad", "waived": "open", "not checked": "bad"}
TITLES = {0: "all budgets hold", 1: "a budget is violated", 2: "not everything could be checked", 3: "not everything is proven"}
NONE = "nothing to check: pyproject.toml has no [tool.dpaudit.budgets.NAME]"
HEADER = ("budget", "about", "claim", "proven ≤", "attacked ≥", "verdict", "gate")
PAGE_HEADER = ("budget", "gate", "verdict", "claim", "proven ≤", "attacked ≥", "about")  # what decides first: a phone is narrow


def check_report(checked: Checked) -> Report:
    def document(depth: Depth) -> Document:
        if checked.exit == NOTHING:
            heading = () if depth == "terminal" else (doc.Heading("Privacy budgets"),)
            return Document("Privacy budgets", [Section((*heading, doc.Paragraph(NONE)))])
        return (_brief if depth == "terminal" else _page)(checked)

    return Report(document, checked.to_dict, checked)


def _page(checked: Checked) -> Document:
    title, changes = _title(checked), any(budget.change for budget in checked.budgets)

    def changed(budget: Judged) -> list[Line]:
        return [budget.change or ""] if changes else []

    rows: list[tuple[Line, ...]] = [
        (doc.Link(b.name, _anchor(b)), _state(b), verdict_badge(b.verdict), *_cells(b)[1:], b.target, *changed(b))
        for b in checked.budgets
    ]
    first: list[Block] = [
        doc.Heading(title),
        doc.Paragraph(summary(checked), "soft"),
        doc.Table((*PAGE_HEADER, *(["change"] if changes else [])), rows),
        *finding_blocks(checked.findings, title="Waivers and policy"),
    ]
    if checked.removed:
        first.append(doc.Paragraph(Styled(_removal_note(checked), "bad")))
    return Document(title, [Section(first), *(_section(budget) for budget in checked.budgets)])


def _title(checked: Checked) -> str:
    """The whole gate in a few words; what holds by a waiver does not hold by itself."""
    waived = sum(budget.waived for budget in checked.budgets)
    outcome = f"none fails, {waived} by waiver" if waived and checked.exit == 0 else TITLES[checked.exit]
    return f"Privacy budgets: {outcome}"


def _removal_note(checked: Checked) -> str:
    return f"In the baseline, no longer configured: {', '.join(checked.removed)}"


def _anchor(budget: Judged) -> str:
    return f"budget-{budget.name}"


def _state(budget: Judged) -> doc.Badge:
    return doc.Badge(budget.state, TONES[budget.state])


def _section(budget: Judged) -> Section:
    """What fails or was found is seen at once; the rest unfolds."""
    blocks: list[Block] = [
        doc.Heading((budget.name, " ", verdict_badge(budget.verdict), " ", _state(budget)), 2),
        doc.Paragraph(Styled(budget.reason, "strong")),
        *finding_blocks(budget.findings, 3, more=lambda one: f"[{one.fingerprint}] {accepted(one)}".rstrip()),
    ]
    if budget.state == "fails" and not _failing_rules(budget):
        blocks.append(remedy_paragraph(what_to_do(budget)))
    return Section([*blocks, doc.Fold("What it rests on", _details(budget), 3)], _anchor(budget))


def _details(budget: Judged) -> list[Block]:
    picture = budget.picture or {}
    blocks: list[Block] = [doc.Figures(_figures(budget)), facts(_check_facts(budget))]
    if "worst" in picture:
        blocks.append(doc.Paragraph((Styled("Who pays most: ", "strong"), picture["worst"])))
    spending = picture.get("spending", {})
    return blocks + share_blocks([Share(**share) for share in spending.get("shares", ())], bool(spending.get("summed")))


def _figures(budget: Judged) -> list[doc.Figure]:
    """The interval against the claim, and the audit's losses or the ledger's timeline."""
    claim, picture, drawn = budget.claim.epsilon, budget.picture or {}, []
    if budget.lower is not None or budget.upper is not None:
        drawn.append(interval(None if budget.lower is None else float(budget.lower["epsilon"]), budget.upper, claim))
    if "losses" in picture:
        drawn.append(histogram(Losses(**picture["losses"]), claim))
    steps = [Step(**step) for step in picture.get("spending", {}).get("steps", ())]
    return [*drawn, timeline(steps, claim, budget.upper)] if steps else drawn


def _check_facts(budget: Judged) -> dict[str, str]:
    words = {"about": budget.target, "claim": f"{budget.claim}, observer {budget.claim.observer}", "required": budget.require}
    words |= {} if budget.change is None else {"change": budget.change}
    words |= dict(budget.stated or {})
    words |= {} if budget.lower is None else {"attacked": f"{budget.lower['method']}, {budget.lower['samples']} runs"}
    return {**words, **_power(budget), "took": f"{budget.seconds:.2f} s of at most {budget.timeout} s"}


def _power(budget: Judged) -> dict[str, str]:
    return {} if budget.lower is None else power(budget.detectable, budget.verdict, float(budget.lower["confidence"]))


def summary(checked: Checked) -> str:
    """How many hold, in one line."""
    states = [budget.state for budget in checked.budgets]
    counts = ", ".join(_several(states.count(state), state) for state in MARKS if state in states)
    waivers = [finding for finding in checked.findings if finding.rule == "DPA008"]
    stale = f", {_count(waivers, 'waiver')} expired, unused or too long" if waivers else ""
    loosened = [one for one in _all_findings(checked) if one.rule == "DPA009" and one.waiver is None]
    stale += f", policy loosened in {_count(loosened, 'place')} against {checked.against}" if loosened else ""
    most = sum(budget.timeout for budget in checked.budgets)
    took = f"seed {checked.seed}, {checked.seconds:.1f} s of at most {most} s"
    return f"{_count(states, 'budget')}: {counts}{stale}; {took}; exit {checked.exit}"


def _all_findings(checked: Checked) -> list[Noted]:
    return [*checked.findings, *(finding for budget in checked.budgets for finding in budget.findings)]


def _several(number: int, state: str) -> str:
    return f"{number} {state.removesuffix('s') if number > 1 else state}"


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def claimed(budget: Judged) -> str:
    """The claim, with its observer where that is not the server."""
    observer = budget.claim.observer
    return str(budget.claim) + (f", {observer}" if observer != "server" else "")


def proven(budget: Judged) -> str:
    return "none" if budget.upper is None else at_most(budget.upper)


def _cells(budget: Judged) -> tuple[str, str, str, str]:
    attacked = "" if budget.lower is None else at_least(budget.lower["epsilon"], budget.claim.epsilon)
    return budget.target, claimed(budget), proven(budget), attacked


def accepted(finding: Noted) -> str:
    """Who decided to live with it, until when and why; empty where nobody did."""
    waiver = finding.waiver
    return "" if waiver is None else f"waived until {waiver.expires.isoformat()} by {waiver.owner}: {waiver.reason}"


def _failing_rules(budget: Judged) -> list[str]:
    return list(dict.fromkeys(finding.rule for finding in budget.findings if finding.fails and not finding.waiver))


def what_to_do(budget: Judged) -> str:
    """The remedies of the rules by which it fails."""
    complete = 'make the proof complete (dpaudit audit says more), or ask for less: require = "not-refuted"'
    return " ".join(RULES[rule].remedy for rule in _failing_rules(budget)) or complete


def _brief(checked: Checked) -> Document:
    """One table, then what failed, why, and what to do; nothing of a budget where all is well."""
    rows = [(f"{MARKS[b.state]} {b.name}", *_cells(b), b.verdict, b.state) for b in checked.budgets]
    sections = [Section([doc.Table(("  budget", *HEADER[1:]), rows)])] if rows else []
    sections += [Section(_brief_budget(budget)) for budget in checked.budgets]
    sections += [Section([doc.FactList(_finding_pairs(finding))]) for finding in checked.findings]
    if checked.removed:
        sections.append(Section([facts({"removed": _removal_note(checked).replace("In", "in", 1)})]))
    return Document("Privacy budgets", [*sections, Section([doc.Paragraph(summary(checked))])])


def _brief_budget(budget: Judged) -> list[Block]:
    quiet = budget.code == HOLDS and not budget.findings and budget.verdict == "certified"
    if quiet and budget.change is None:
        return []
    state = "" if budget.state == budget.verdict else f"  ({budget.state})"
    pairs = [] if quiet else [("why", budget.reason)]
    pairs += _power(budget).items() if budget.verdict == "unproven" else []
    pairs += [] if budget.change is None else [("change", budget.change)]
    pairs += [pair for finding in budget.findings[:MOST] for pair in _finding_pairs(finding)]
    left = len(budget.findings) - MOST
    pairs += [("", f"and {left} more findings; --format json lists all")] if left > 0 else []
    pairs += [("do", what_to_do(budget))] if budget.state == "fails" else []
    return [doc.Heading(f"{MARKS[budget.state]} {budget.name}: {budget.verdict.upper()}{state}"), doc.FactList(pairs)]


def _finding_pairs(finding: Noted) -> list[tuple[str, str]]:
    where = f" ({finding.where})" if finding.where else ""
    first = (finding.rule, f"{finding.message}{where} [{finding.fingerprint}]")
    return [first, ("", accepted(finding))] if finding.waiver else [first]
