"""Where in the user's code each release is made: one more run of the subject, on data that an audit makes up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dpaudit.auditors.pairs.pair_names import pair_generator
from dpaudit.channel import simulate
from dpaudit.claims import Finding
from dpaudit.claims.leak_watch import watching
from dpaudit.sealed.callers import caller
from dpaudit.subjects.output_watch import counting_output
from dpaudit.subjects.subject import Subject, fresh


def at_their_lines(subject: Subject, findings: Sequence[Finding], seed: int) -> list[Finding]:
    """The same findings; those that stand at the name of a release, at the line that makes it."""
    if all(finding.release is None or finding.where != finding.release for finding in findings):
        return list(findings)
    lines = _release_lines(subject, seed)
    return [
        replace(finding, where=lines[finding.where]) if finding.release == finding.where and finding.where in lines else finding
        for finding in findings
    ]


def _release_lines(subject: Subject, seed: int) -> dict[str, str]:
    """file:line of the first release of each name; of those that one run makes, even where it fails later."""
    lines: dict[str, str] = {}

    def note(value: Any) -> Any:
        if channel.events:
            lines.setdefault(channel.events[-1].name, caller())
        return value

    data = subject.neighbours.pairs(pair_generator(seed))[0][0]
    door = simulate(seed, 2 if subject.vectorised else None, observe=note)
    with suppress(Exception), counting_output(), watching(), door as channel:
        subject.run(fresh(data), channel)
    return lines
