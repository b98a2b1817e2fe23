"""What may be said of a subject that raises: the type, the user's own line, and its message where the audit made up the data.

A message may quote the data. Data that an audit makes up is nobody's; pairs and strategies of the user may hold real records.
"""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.neighbours.relations import Drawn, Listed
from dpaudit.subjects.subject import Subject

LONGEST = 200  # letters of a message that are shown
UNSHOWN = "its message may quote your data, and is not shown"
OWN_DATA = "--traceback is for data that the audit makes up; these neighbours are your own, and a traceback may quote them"


def makes_up_data(subject: Subject) -> bool:
    """Do the runs of an audit see made-up data only?"""
    return not isinstance(subject.neighbours, Listed | Drawn)


def explain_failure(subject: Subject, error: BaseException) -> str:
    """One sentence: what the subject raised, and where. Its message only where it cannot quote anybody's data; what dpaudit
    itself refuses never does."""
    if isinstance(error, DpauditError):
        return _explain_refusal(subject, error)
    place, message = line_of(error, subject), " ".join(str(error).split())
    sentence = f"{subject.name} raised {type(error).__name__} " + (f"at {place}" if place else "when it was run")
    if not message:
        return sentence
    return f"{sentence}: {_shortened(message)}" if makes_up_data(subject) else f"{sentence}; {UNSHOWN}"


def _explain_refusal(subject: Subject, error: DpauditError) -> str:
    """What dpaudit itself refused, and the line of the subject that asked for it."""
    place, message = line_of(error, subject), str(error)
    return message if place is None or place in message else f"{message} ({place})"


def full_traceback(subject: Subject, error: BaseException) -> str:
    """All of it, or why it is not shown."""
    return "".join(traceback.format_exception(error)).rstrip() if makes_up_data(subject) else OWN_DATA


def line_of(error: BaseException, subject: Subject) -> str | None:
    """``file:line`` of the innermost frame in the user's code; None where the error did not pass through any."""
    own = getattr(getattr(subject.function, "__code__", None), "co_filename", None)
    places = list(_frames(error))
    mine = [place for place in places if place[0] == own or not _foreign(place[0])]
    return f"{_shown(mine[-1][0])}:{mine[-1][1]}" if mine else None


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    """Files and lines that the error passed through, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        yield frame.f_code.co_filename, line


def _foreign(file: str) -> bool:
    """Is this file dpaudit's, the standard library's or an installed package's, or no file at all?"""
    return file.startswith("<") or any(Path(file).is_relative_to(root) for root in _foreign_roots())


@cache
def _foreign_roots() -> tuple[str, ...]:
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return (str(Path(__file__).resolve().parents[1]), *sorted(installed))


def _shown(file: str) -> str:
    """Relative to where the user stands, if that is shorter."""
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return near if len(near) < len(file) else file


def _shortened(message: str) -> str:
    return message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
