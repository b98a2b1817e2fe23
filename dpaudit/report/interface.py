"""The seam between what is said and how it is written: a report, and the formats that take one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dpaudit.claims import DpauditError
from dpaudit.gate.results import Checked
from dpaudit.report.document import Document

Depth = Literal["terminal", "comment", "page", "letter"]  # how much a reader has room for


@dataclass(frozen=True)
class Report:
    """What a command found. ``data``: for programs, as JSON can hold it; ``gate``: for formats of gates alone."""

    document: Callable[[Depth], Document]
    data: Callable[[], Any]
    gate: Checked | None = None


class Format(Protocol):
    """Writes a report down. ``room``: columns of the reader's terminal, None for a file or a pipe."""

    def __call__(self, report: Report, room: int | None = None) -> str: ...


def gate_of(report: Report) -> Checked:
    """For formats that hold nothing but a gate's findings. Raises DpauditError."""
    if report.gate is None:
        raise DpauditError("this format is for dpaudit check alone")
    return report.gate
