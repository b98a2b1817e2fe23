"""The command line: a thin skin over the Python face, with exit codes that a CI job can trust."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

from dpaudit import __version__
from dpaudit.claims import DpauditError
from dpaudit.commands import HOLDS, UNUSABLE, Answer, fail, write_file
from dpaudit.commands.registry import MODULES, command, fill_parser
from dpaudit.commands.waiting import waiting


class Parser(argparse.ArgumentParser):
    """One-line errors; every number is read by the code that uses it."""

    def error(self, message: str) -> NoReturn:
        raise DpauditError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal or a name that cannot be encoded is no reason to fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.getLogger("dpaudit").addHandler(logging.NullHandler())  # a command says itself what there is to say
    try:
        words = sys.argv[1:] if arguments is None else arguments
        if not words:
            return _say_what_is_next()
        options = _parse(words)
        _check_output(options)
        with nullcontext() if words[0] == "serve" else waiting(f"dpaudit {words[0]}"):  # serve is at work until it is stopped
            answer: Answer = options.command(options)
        code, text = answer
        _write(text, options.output)
    except DpauditError as error:
        return fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return fail("interrupted; nothing was concluded", UNUSABLE)
    except OSError as error:
        return fail(f"{error.filename or 'file'}: {error.strerror or error}", UNUSABLE)
    except MemoryError:
        return fail("not enough memory for this input", UNUSABLE)
    except Exception as error:  # its message may hold private data, so it is shown on request only
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        return fail(f"internal error ({type(error).__name__}); set DPAUDIT_TRACEBACK=1 to see where, and report it", UNUSABLE)
    return code


def _say_what_is_next() -> int:
    from dpaudit.commands.start.next_steps import next_steps

    _print(next_steps())
    return HOLDS


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Options of the command that is called. What is not known is refused with the nearest that is."""
    names = _named(words)
    if names is None and not words[0].startswith("-"):
        raise DpauditError(f"no command {words[0]!r}{_did_you_mean(words[0], MODULES)} (see dpaudit --help)")
    options, unknown = build_parser(names).parse_known_args(words)
    if unknown:
        parser: Parser = options.parser
        known = [option for action in parser._actions for option in action.option_strings]
        hint = _did_you_mean(unknown[0].partition("=")[0], known) if unknown[0].startswith("-") else ""
        raise DpauditError(f"{parser.prog} does not take {unknown[0]!r}{hint} (see {parser.prog} --help)")
    return options


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _check_output(options: argparse.Namespace) -> None:
    """Refuse before the work is done what could not be written after it, or would overwrite what is read."""
    for option in ("output", "witness", "registry"):
        if getattr(options, option, None) is None:
            continue
        file = Path(getattr(options, option))
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise DpauditError(f"--{option} {file}: not a file in an existing folder")
        for name, value in vars(options).items():
            for part in value if isinstance(value, list) else [value]:
                if name != option and isinstance(part, str) and _same_file(file, part):
                    raise DpauditError(f"--{option} {file} would overwrite {part}, which this command uses; name another file")


def _same_file(output: Path, name: str) -> bool:
    """Is ``name`` this file? A target may be file.py:name."""
    for text in (name, name.rpartition(":")[0]):
        try:
            if (text and Path(text).resolve() == output.resolve()) or (Path(text).exists() and Path(text).samefile(output)):
                return True
        except (OSError, ValueError):  # not a path, or nothing there yet
            continue
    return False


def _write(text: str, output: str | None) -> None:
    if not text:
        return
    if output is None:
        _print(text)
        return
    write_file(text, output)


def _print(text: str) -> None:
    """To a reader who may have had enough, as ``head`` does: that is no failure of the command."""
    try:
        print(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains when it ends


def build_parser(names: Sequence[str] | None = None) -> Parser:
    """The parser of these commands, or of all."""
    parser = Parser(prog="dpaudit", description="pytest for privacy claims: certified, refuted or unproven.")
    parser.add_argument("--version", action="version", version=f"dpaudit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for described in map(command, MODULES if names is None else names):
        options = commands.add_parser(described.name, help=described.help, description=described.help)
        fill_parser(options, described)
    return parser


def _named(arguments: Sequence[str]) -> Sequence[str] | None:
    """The command that is called, so that no other is loaded; None where none is, as for --help."""
    return arguments[:1] if arguments and arguments[0] in MODULES else None


if __name__ == "__main__":
    sys.exit(main())
