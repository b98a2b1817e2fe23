"""One module per group of commands. Each command takes the parsed options and answers with an exit code and a text."""

from __future__ import annotations

import argparse
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.claims import DpauditError, InvalidValue, exact_delta, exact_epsilon, whole
from dpaudit.claims.exit_codes import HOLDS, NOTHING, UNPROVEN, UNUSABLE, VIOLATED, worst
from dpaudit.claims.json_text import as_json
from dpaudit.commands.waiting import end_waiting

if TYPE_CHECKING:
    from dpaudit.report.interface import Report

Answer = tuple[int, str]
PAGES = ("html", "markdown")
LEAST_COLUMNS = 40  # of a terminal: in fewer a table cannot be read, and some terminals say 0


@dataclass(frozen=True)
class Command:
    """What the command line needs to know of a command. ``formats``: those that it writes besides text and json."""

    name: str
    help: str
    run: Callable[[argparse.Namespace], Answer]
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _: None
    formats: tuple[str, ...] = ()


__all__ = [
    "HOLDS", "NOTHING", "PAGES", "UNPROVEN", "UNUSABLE", "VIOLATED", "Answer", "Command", "algorithm_parameters", "as_json",
    "fail", "given_epsilon", "progress", "refuse_algorithm_options", "worst", "write_file", "write_report",
]  # fmt: skip


def fail(message: str, code: int) -> int:
    """Say it in one line on stderr."""
    print("dpaudit: " + " ".join(message.split()), file=sys.stderr)
    return code


def write_file(text: str, path: str) -> None:
    """All of it, or nothing. What is no regular file, such as a pipe or a device, is written to, not replaced."""
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        with place.open("w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        return
    handle, partial = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        mode = place.stat().st_mode if place.exists() else 0o666 & ~_umask()
        os.chmod(partial, stat.S_IMODE(mode))
        os.replace(partial, place)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def write_report(options: argparse.Namespace, report: Report, form: str | None = None) -> str:
    """A report in the format that was asked for, in as many columns as the terminal has that it is printed on."""
    from dpaudit.report.formats import write

    printed = options.output is None and sys.stdout.isatty()
    return write(form or options.format, report, max(shutil.get_terminal_size().columns, LEAST_COLUMNS) if printed else None)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def algorithm_parameters(options: argparse.Namespace) -> dict[str, Any]:
    if options.horizon is None:
        raise InvalidValue("horizon", None, "given for a registered algorithm (--horizon T)")
    return {
        "epsilon": given_epsilon(options.epsilon, needed=True),
        "delta": None if options.delta is None else exact_delta(options.delta),
        "horizon": whole(options.horizon, "horizon", 3),
        "actions": _actions(options),
        "calibration": options.calibration,
    }


def given_epsilon(value: str | None, *, needed: bool) -> Any:
    if value is None and needed:
        raise InvalidValue("epsilon", None, "given (--epsilon E)")
    return None if value is None else exact_epsilon(value)


def _actions(options: argparse.Namespace) -> tuple[int, int] | None:
    if options.actions is None and options.dim is None:
        return None
    dim = 2 if options.dim is None else whole(options.dim, "dim")
    return (10 if options.actions is None else whole(options.actions, "actions")), dim


def refuse_algorithm_options(options: argparse.Namespace, more: Sequence[str] = ()) -> None:
    """For a target that takes none of them."""
    foreign = [name for name in ("horizon", "actions", "dim", "calibration", *more) if getattr(options, name) is not None]
    if foreign:
        raise DpauditError(f"--{foreign[0]} is for registered algorithms; {options.target} is none")


class progress:
    """A bar on stderr for what takes longer than a moment; nothing when stderr is not a terminal."""

    def __init__(self, title: str, total: int | None = None) -> None:
        self.title, self.total = title, total
        self._bar: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if not sys.stderr.isatty():
            return lambda _: None
        end_waiting()
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._bar.start()
        task = self._bar.add_task(self.title, total=self.total)
        done = count()  # what is told of has begun, so one less is done

        def tell(what: str) -> None:
            if type(what).__name__ == "Milestone":  # what is known stays to be read, above the bar
                self._bar.console.print(f"{self.title}: {what}", highlight=False, markup=False)
            else:
                self._bar.update(task, description=f"{self.title}: {what}", completed=next(done), refresh=True)

        return tell

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
