"""Every format by its name: a new one is one file with a function ``write``, and one row here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Final

from dpaudit.report.interface import Format, Report


@dataclass(frozen=True)
class Module:
    """A format that is loaded when it is first written: the command line names all of them and uses one."""

    name: str

    def __call__(self, report: Report, room: int | None = None) -> str:
        written: str = import_module(f"{__name__}.{self.name}").write(report, room)
        return written


renderers: Final[dict[str, Format]] = {
    "text": Module("text"),
    "json": Module("json"),
    "sarif": Module("sarif"),
    "junit": Module("junit"),
    "github": Module("github"),
    "html": Module("html"),
    "markdown": Module("markdown"),
    "latex": Module("latex"),
}


def write(form: str, report: Report, room: int | None = None) -> str:
    """A report in a format of ``renderers``."""
    return renderers[form](report, room)
