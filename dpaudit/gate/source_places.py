"""Where a budget and its findings stand: lines of files, relative to the repository's root."""

from __future__ import annotations

import re
from pathlib import Path

from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.policy import Config
from dpaudit.gate.results import SourcePlace

_LINE = re.compile(r"(?P<file>.+\.py):(?P<line>\d+)\Z")


def repository(folder: Path) -> Path:
    """The folder that holds ``.git``, this one or above; else this one. Annotations are read from there."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def configured_at(config: Config, header: str) -> SourcePlace:
    """The line of a table in the configuration: its header, else the first line."""
    if config.file is None:
        return SourcePlace("pyproject.toml", 1)
    lines = config.file.read_text(encoding="utf-8", errors="replace").splitlines()
    facts = (number for number, line in enumerate(lines, 1) if line.replace(" ", "").replace('"', "").startswith(f"[{header}]"))
    return SourcePlace(_relative(config.file, config.folder) or config.file.name, next(facts, 1))


def defined_at(facts: BudgetFacts, config: Config, fallback: SourcePlace) -> SourcePlace:
    """The subject's own line, where its file is part of the repository; else the budget's in the configuration."""
    if facts.file is None:
        return fallback
    name = _relative(Path(facts.file), config.folder)
    return fallback if name is None else SourcePlace(name, facts.line)


def finding_place(where: str, facts: BudgetFacts, subject: SourcePlace) -> SourcePlace:
    """The line that a finding names, in the subject's file or beside it; else the subject."""
    named, file = _LINE.match(where), _named_file(where, facts)
    if named is None or facts.file is None or file is None:
        return subject
    if file == Path(facts.file):
        return SourcePlace(subject.file, int(named["line"])) if subject.file.endswith(file.name) else subject
    return SourcePlace((Path(subject.file).parent / file.name).as_posix(), int(named["line"]))


def source_line(where: str, facts: BudgetFacts) -> str:
    """The text of the line that a finding names: it stays the same when lines above it come and go.

    Where that cannot be read, its number: another line is another finding.
    """
    named, file = _LINE.match(where), _named_file(where, facts)
    if named is None:
        return ""
    try:
        lines = [] if file is None else file.read_text(encoding="utf-8", errors="replace").splitlines()
        return " ".join(lines[int(named["line"]) - 1].split())
    except (OSError, IndexError):
        return named["line"]


def _named_file(where: str, facts: BudgetFacts) -> Path | None:
    """The file that a finding names by its last part: the subject's own, or one beside it."""
    named = _LINE.match(where)
    if named is None or facts.file is None:
        return None
    own, name = Path(facts.file), Path(named["file"]).name
    beside = own.with_name(name)
    return own if own.name == name else beside if beside.is_file() else None


def without_line(where: str) -> str:
    named = _LINE.match(where)
    return where if named is None else Path(named["file"]).name


def _relative(file: Path, folder: Path) -> str | None:
    try:
        return file.resolve().relative_to(repository(folder).resolve()).as_posix()
    except ValueError:
        return None
