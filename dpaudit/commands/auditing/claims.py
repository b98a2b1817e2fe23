"""``dpaudit claims``: a paper's claims, decided."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.commands import HOLDS, NOTHING, PAGES, UNPROVEN, VIOLATED, Answer, Command, fail, progress, worst, write_report
from dpaudit.commands.options import add_claims_options

CODES = {"verified": HOLDS, "refuted": VIOLATED, "conditional": UNPROVEN, "unchecked": UNPROVEN}

TELLING = 5  # claims decided before it is said how long the others will take
LONG = 60  # seconds from which on a run says at its start how long it will take
ENOUGH = 20  # expected seconds after which this machine's own pace counts
FEW = 8  # ids in a command that a person copies; without ids it renews more, never less


def claims_command(options: argparse.Namespace) -> Answer:
    """Decide them, or read stored evidence and say what of it is stale. What cannot be decided stops no other claim."""
    from dpaudit.papers.installed_papers import find_checks, select
    from dpaudit.papers.titles import paper_titles
    from dpaudit.report.content.papers.claims import claims_report
    from dpaudit.report.content.papers.evidence import EvidenceSource

    checks = find_checks(options.paper)
    chosen = select(checks, options.ids)
    _warn(checks, chosen)
    if options.stored is None:
        decided, source = _computed(chosen, bool(options.quick)), EvidenceSource(quick=bool(options.quick))
    else:
        decided, source = _stored(options, checks, chosen)
    source = replace(source, papers=paper_titles(decided))
    codes = (
        [CODES[each.verdict] for each in decided]
        + [UNPROVEN for each in decided if each.stale]
        + [UNPROVEN for _ in source.missing]
    )
    code = worst(codes) if codes else NOTHING
    return code, write_report(options, claims_report(decided, source, full=bool(options.ids)))


def _warn(checks: Mapping[str, Any], chosen: Sequence[Any]) -> None:
    """Name what cannot be used although nobody asked for it."""
    from dpaudit.papers.checks import Unusable

    asked = {check.id for check in chosen}
    for check in checks.values():
        if isinstance(check, Unusable) and check.id not in asked:
            fail(f"warning: {check.id}: {check.reason}", UNPROVEN)


def _computed(chosen: Sequence[Any], quick: bool) -> list[Any]:
    from dpaudit.papers.decisions import attempt

    known = [] if quick else expected_seconds(chosen)
    if sum(known) > LONG:
        told = f"{len(chosen)} claims: {_about(sum(known))} of computing; --quick takes seconds"
        print(f"dpaudit: {told}", file=sys.stderr, flush=True)
    started = time.perf_counter()
    decided: list[Any] = []
    with progress("claims", len(chosen)) as step:
        for place, check in enumerate(chosen):
            passed = time.perf_counter() - started
            rest = paced(passed, known, place) if known else time_left(passed, place, len(chosen))
            step(check.id + rest)
            decided.append(attempt(check, quick))
    return decided


def expected_seconds(chosen: Sequence[Any]) -> list[float]:
    """What full runs of these take, about; nothing where one of them does not say."""
    seconds = [getattr(check, "seconds", None) for check in chosen]
    return [] if None in seconds else [float(each) for each in seconds if each is not None]


def paced(passed: float, known: Sequence[float], done: int) -> str:
    """How long the rest will take: as expected, and once some is done, at the pace of this machine."""
    before, rest = sum(known[:done]), sum(known[done:])
    pace = passed / before if before > ENOUGH else 1.0
    return f", {_about(rest * pace)} left"


def _about(seconds: float) -> str:
    return f"about {math.ceil(seconds / 60)} min" if seconds > 60 else f"about {math.ceil(seconds)} s"


def time_left(seconds: float, done: int, total: int) -> str:
    """How long the rest will take if it is like what is done; nothing before there is enough to tell."""
    if done < TELLING or total <= done:
        return ""
    return f", {_about(seconds / done * (total - done))} left"


def _stored(options: argparse.Namespace, checks: Mapping[str, Any], chosen: Sequence[Any]) -> tuple[list[Any], Any]:
    from dpaudit.ledger import load_file
    from dpaudit.papers.stored_evidence import read_stored
    from dpaudit.report.content.papers.evidence import EvidenceSource

    document, asked = load_file(options.stored), [check.id for check in chosen]
    stored = read_stored(document, checks)
    decided = [each for each in stored if each.id in asked or not (options.ids or options.paper)]
    missing = sorted(set(asked) - {each.id for each in decided})
    wanted = {each.id for each in stored} | set(missing)
    ids = sorted(wanted & set(checks)) if len(wanted) <= FEW else []
    quick = bool(document.get("quick"))
    name = options.stored if options.format == "text" else Path(options.stored).name  # a page is handed on, its folders are not
    paper = ["--paper", options.paper] if options.paper else []
    words = ["dpaudit", "claims", *ids, *paper, *(["--quick"] if quick else []), "--format", "json", "--output", name]
    return decided, EvidenceSource(quick, name, missing, shlex.join(words))


COMMANDS = (
    Command(
        "claims",
        "decide a paper's claims: a table of all, or the full story of some",
        claims_command,
        add_claims_options,
        (*PAGES, "latex"),
    ),
)
