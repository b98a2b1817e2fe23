"""The command line: a thin skin over the Python face, with exit codes that a CI job can trust."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from dpaudit import __version__
from dpaudit.claims import DpauditError
from dpaudit.commands import UNUSABLE, Answer, fail, write_file
from dpaudit.commands.accounting.account import account_command, amplify_command, invert_command
from dpaudit.commands.accounting.calibrate import calibrate_command
from dpaudit.commands.accounting.compare import compare_command
from dpaudit.commands.accounting.peers import peers_command
from dpaudit.commands.auditing.audit import audit_command
from dpaudit.commands.auditing.claims import claims_command
from dpaudit.commands.gate.certify import certify_command
from dpaudit.commands.gate.check import FORMATS, check_command
from dpaudit.commands.ledgers.ledger_files import checkpoint_command, export_command, keygen_command, verify_command
from dpaudit.commands.options import (
    add_account_options,
    add_algorithm_options,
    add_audit_options,
    add_calibrate_options,
    add_certify_options,
    add_check_options,
    add_claims_options,
    add_compare_options,
    add_peers_options,
    add_shuffle_options,
    add_verify_options,
)
from dpaudit.commands.start.explain import explain_command
from dpaudit.commands.start.run import demo_command, run_command

PAGES = ("html", "markdown")


class Parser(argparse.ArgumentParser):
    """One-line errors; every number is read by the code that uses it."""

    def error(self, message: str) -> NoReturn:
        raise DpauditError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal or a name that cannot be encoded is no reason to fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = build_parser().parse_args(arguments)
        _check_output(options)
        answer: Answer = options.command(options)
        code, text = answer
        _write(text, options.output)
    except DpauditError as error:
        return fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return fail("interrupted; nothing was concluded", UNUSABLE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE
    except OSError as error:
        return fail(f"{error.filename or 'file'}: {error.strerror or error}", UNUSABLE)
    except MemoryError:
        return fail("not enough memory for this input", UNUSABLE)
    except Exception as error:  # its message may hold private data, so it is shown on request only
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        return fail(f"internal error ({type(error).__name__}); set DPAUDIT_TRACEBACK=1 to see where, and report it", UNUSABLE)
    return code


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
        print(text)
        return
    write_file(text, output)


def build_parser() -> Parser:
    parser = Parser(prog="dpaudit", description="pytest for privacy claims: certified, refuted or unproven.")
    parser.add_argument("--version", action="version", version=f"dpaudit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    def add(name: str, run: Callable[[argparse.Namespace], Answer], text: str, *more: str) -> Parser:
        command = commands.add_parser(name, help=text, description=text)
        formats = ("text", "json", *more)
        command.add_argument("--format", choices=formats, default="text", help=f"one of {', '.join(formats)} (default text)")
        command.add_argument("--output", metavar="FILE", help="write there instead of to the terminal")
        command.add_argument("--version", action="version", version=f"dpaudit {__version__}")
        command.set_defaults(command=run)
        return command

    command = add(
        "demo",
        demo_command,
        "the paper's three algorithms as printed, corrected and tight: run, account, attack, one table",
    )
    command.add_argument("--seed", help="seed of the whole demo (default 1)")
    command = add("run", run_command, "play a registered algorithm once; without --seed behind the live door")
    command.add_argument("name", metavar="NAME", help="a registered algorithm: central, local, shuffled, …")
    add_algorithm_options(command)
    command.add_argument("--ledger", metavar="FILE", help="record every release there")
    command.add_argument("--seed", help="simulate from this seed instead")
    what = "certified upper bound for a ledger or a list of releases, per observer and worst client"
    add_account_options(add("account", account_command, what, *PAGES))
    add_audit_options(add("audit", audit_command, "prove an upper bound, attack for a lower one, give a verdict", *PAGES))
    add_shuffle_options(add("amplify", amplify_command, "ε of n shuffled ε0-LDP reports"), "epsilon0", "clone")
    invert = add("invert", invert_command, "the largest ε0 whose n shuffled reports keep (ε,δ)")
    add_shuffle_options(invert, "epsilon", "closed")
    invert.add_argument("--digits", default="50", help="digits of the closed form's inverse (default 50)")
    add_peers_options(
        add(
            "peers",
            peers_command,
            "Opacus and dp-accounting on the same releases: value, time, agreement, what they cannot express",
        )
    )
    add_calibrate_options(
        add("calibrate", calibrate_command, "the least noise that keeps (ε,δ), for one release, several, or a shuffled batch")
    )
    add_compare_options(add("compare", compare_command, "ledgers side by side, or the calibrations of an algorithm"))
    add_claims_options(
        add("claims", claims_command, "decide a paper's claims: a table of all, or the full story of some", *PAGES)
    )
    add_check_options(
        add("check", check_command, "the gate: hold every budget of [tool.dpaudit] in pyproject.toml; fails closed", *FORMATS)
    )
    command = add("explain", explain_command, "what a rule says, why it matters, what to do")
    command.add_argument("rule", metavar="RULE", help="DPA001 … DPA008")
    command = add("keygen", keygen_command, "make an Ed25519 key pair for checkpoints and certificates")
    command.add_argument("-o", dest="name", metavar="NAME", required=True, help="writes NAME and NAME.pub")
    command = add("checkpoint", checkpoint_command, "sign how long a ledger is now, to be kept elsewhere")
    command.add_argument("ledger", metavar="LEDGER")
    command.add_argument("--key", required=True, help="private key from dpaudit keygen")
    add_certify_options(add("certify", certify_command, "prove, attack, and sign the verdict; or say what stands in the way"))
    add_verify_options(add("verify", verify_command, "check a certificate, or a ledger entry by entry and against a checkpoint"))
    command = add("export", export_command, "write a ledger to --output FILE.jsonl (all entries) or FILE.parquet (its releases)")
    command.add_argument("ledger", metavar="LEDGER")
    return parser


if __name__ == "__main__":
    sys.exit(main())
