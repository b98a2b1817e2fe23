"""The command line: a thin skin over the Python face, with exit codes that a CI job can trust."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from dpaudit import __version__
from dpaudit.claims import OBSERVERS, DpauditError
from dpaudit.commands import UNUSABLE, VIOLATED, Answer, fail
from dpaudit.commands.accounting import account_command, amplify_command, invert_command
from dpaudit.commands.auditing import audit_command
from dpaudit.commands.explaining import explain_command
from dpaudit.commands.ledgers import checkpoint_command, export_command, keygen_command, verify_command
from dpaudit.commands.running import demo_command, run_command


class Parser(argparse.ArgumentParser):
    """One-line errors; every number is read by the code that uses it."""

    def error(self, message: str) -> NoReturn:
        raise DpauditError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    try:
        options = build_parser().parse_args(arguments)
        _check_output(options.output)
        answer: Answer = options.command(options)
        code, text = answer
        _write(text, options.output)
    except DpauditError as error:
        return fail(str(error), VIOLATED if type(error).__name__ == "TamperedLedger" else UNUSABLE)
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


def _check_output(output: str | None) -> None:
    """Refuse before the work is done what could not be written after it."""
    if output is not None and (Path(output).is_dir() or not Path(output).absolute().parent.is_dir()):
        raise DpauditError(f"--output {output}: not a file in an existing folder")


def _write(text: str, output: str | None) -> None:
    if not text:
        return
    if output is None:
        print(text)
        return
    place = Path(output)
    partial = place.with_name(place.name + ".partial")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(place)


def build_parser() -> Parser:
    parser = Parser(prog="dpaudit", description="pytest for privacy claims: certified, refuted or unproven.")
    parser.add_argument("--version", action="version", version=f"dpaudit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    def add(name: str, run: Callable[[argparse.Namespace], Answer], text: str) -> Parser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
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
    _add_algorithm(command)
    command.add_argument("--ledger", metavar="FILE", help="record every release there")
    command.add_argument("--seed", help="simulate from this seed instead")
    command = add(
        "account",
        account_command,
        "certified upper bound for a ledger or a list of releases, per observer and worst client",
    )
    command.add_argument("ledger", metavar="LEDGER|releases.jsonl")
    command.add_argument("--epsilon", help="budget: exit 1 when it is exceeded")
    command.add_argument("--delta", help="δ to account at (default: the ledger's budget, 0 if all is pure, else 1e-6)")
    command = add("audit", audit_command, "prove an upper bound, attack for a lower one, give a verdict")
    command.add_argument("target", metavar="TARGET", help="file.py[:name], module:name, or a registered algorithm")
    _add_algorithm(command)
    command.add_argument("--observer", choices=OBSERVERS, help="who looks (default: the claim's)")
    command.add_argument("--confidence", default=0.95, help="of the shown lower bound (default 0.95); refutation needs 1-1e-6")
    command.add_argument("--samples", help="runs per side of the game (default 100000 with trials, else 10000)")
    command.add_argument("--seed", help="makes the audit repeatable; drawn and printed otherwise")
    for name, run, needs in (("amplify", amplify_command, "epsilon0"), ("invert", invert_command, "epsilon")):
        what = "ε of n shuffled ε0-LDP reports" if name == "amplify" else "the largest ε0 whose n shuffled reports keep (ε,δ)"
        command = add(name, run, what)
        command.add_argument(f"--{needs}", required=True, help="exact: 0.1, 1/2, 1e-6")
        command.add_argument("--n", required=True, help="number of honest reports")
        command.add_argument("--delta", required=True)
        command.add_argument(
            "--method",
            choices=("closed", "clone", "laplace"),
            help=f"default {'clone' if name == 'amplify' else 'closed'}",
        )
        if name == "invert":
            command.add_argument("--digits", default="50", help="digits of the closed form's inverse (default 50)")
    command = add("explain", explain_command, "what a rule says, why it matters, what to do")
    command.add_argument("rule", metavar="RULE", help="DPA001 … DPA008")
    command = add("keygen", keygen_command, "make an Ed25519 key pair for checkpoints and certificates")
    command.add_argument("-o", dest="name", metavar="NAME", required=True, help="writes NAME and NAME.pub")
    command = add("checkpoint", checkpoint_command, "sign how long a ledger is now, to be kept elsewhere")
    command.add_argument("ledger", metavar="LEDGER")
    command.add_argument("--key", required=True, help="private key from dpaudit keygen")
    command = add("verify", verify_command, "check a ledger or its export entry by entry, and against a checkpoint")
    command.add_argument("target", metavar="LEDGER")
    command.add_argument("--checkpoint", metavar="FILE", help="the ledger must continue it")
    command.add_argument("--key", metavar="PUB", help="trusted public key that must have signed the checkpoint")
    command = add("export", export_command, "write a ledger to --output FILE.jsonl (all entries) or FILE.parquet (its releases)")
    command.add_argument("ledger", metavar="LEDGER")
    return parser


def _add_algorithm(command: Parser) -> None:
    command.add_argument("--epsilon", help="ε of the claim, exact: 1, 0.1, 1/2")
    command.add_argument("--delta", help="δ of the claim, exact: 0, 1e-6")
    command.add_argument("--horizon", metavar="T", help="number of rounds")
    command.add_argument("--actions", metavar="K", help="number of actions (default 10)")
    command.add_argument("--dim", metavar="d", help="dimension (default 2; 1: the actions +1 and -1)")
    command.add_argument("--calibration", choices=("printed", "corrected", "tight"), help="noise and widths (default tight)")


if __name__ == "__main__":
    sys.exit(main())
