"""The command line: a thin skin over the Python face, with exit codes that a CI job can trust."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from dpaudit import __version__
from dpaudit.claims import (
    OBSERVERS,
    DpauditError,
    Finding,
    InvalidValue,
    Outcome,
    exact_delta,
    exact_epsilon,
    show,
    whole,
)

HOLDS, VIOLATED, UNUSABLE, UNPROVEN, NOTHING = 0, 1, 2, 3, 5
WORST_FIRST = (UNUSABLE, VIOLATED, UNPROVEN, NOTHING, HOLDS)
Answer = tuple[int, str]


class Parser(argparse.ArgumentParser):
    """One-line errors; every number is read by the code that uses it."""

    def error(self, message: str) -> NoReturn:
        raise DpauditError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    try:
        options = build_parser().parse_args(arguments)
        answer: Answer = options.command(options)
        code, text = answer
        _write(text, options.output)
    except DpauditError as error:
        return _fail(str(error), VIOLATED if type(error).__name__ == "TamperedLedger" else UNUSABLE)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was concluded", UNUSABLE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE
    except OSError as error:
        return _fail(f"{error.filename or 'file'}: {error.strerror or error}", UNUSABLE)
    except MemoryError:
        return _fail("not enough memory for this input", UNUSABLE)
    except Exception as error:  # its message may hold private data, so it is shown on request only
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        return _fail(f"internal error ({type(error).__name__}); set DPAUDIT_TRACEBACK=1 to see where, and report it", UNUSABLE)
    return code


def _fail(message: str, code: int) -> int:
    print("dpaudit: " + " ".join(message.split()), file=sys.stderr)
    return code


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


def worst(codes: Sequence[int]) -> int:
    """Several results: the worst, in the order 2, 1, 3, 5, 0."""
    return next(code for code in WORST_FIRST if code in codes)


def _json(document: Any) -> str:
    return json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2)


# --- audit ---


def _audit(options: argparse.Namespace) -> Answer:
    from dpaudit.report.text import audit_text
    from dpaudit.targets import NothingToCheck, make_algorithm, registered, subjects_of
    from dpaudit.verdict import audit

    try:
        if options.target in registered():
            subjects = [make_algorithm(options.target, _algorithm_parameters(options))]
        else:
            subjects = subjects_of(options.target)
    except NothingToCheck as nothing:
        print(f"dpaudit: {nothing}", file=sys.stderr)
        return NOTHING, _json([]) if options.format == "json" else "nothing to check"
    codes, verdicts = [], []
    for subject in subjects:
        with progress(f"auditing {subject.name}"):
            try:
                verdict = audit(
                    subject, epsilon=options.epsilon, delta=options.delta, observer=options.observer,
                    confidence=options.confidence, samples=options.samples, seed=options.seed,
                )  # fmt: skip
            except DpauditError as error:
                codes.append(_fail(f"{subject.name}: {error}" if len(subjects) > 1 else str(error), UNUSABLE))
                continue
            except Exception as error:  # the subject's own code: its message may hold its data, so only the type is shown
                codes.append(_fail(f"{subject.name} raised {type(error).__name__} when it was run", UNUSABLE))
                continue
        verdicts.append(verdict)
        codes.append({Outcome.CERTIFIED: HOLDS, Outcome.REFUTED: VIOLATED, Outcome.UNPROVEN: UNPROVEN}[verdict.verdict])
    if options.format == "json":
        documents = [verdict.to_dict() for verdict in verdicts]
        if not documents:
            return worst(codes), ""
        return worst(codes), _json(documents[0] if len(subjects) == 1 and documents else documents)
    return worst(codes), "\n\n".join(audit_text(verdict) for verdict in verdicts)


def _algorithm_parameters(options: argparse.Namespace) -> dict[str, Any]:
    if options.horizon is None:
        raise InvalidValue("horizon", None, "given for a registered algorithm (--horizon T)")
    return {
        "epsilon": _epsilon(options.epsilon, needed=True),
        "delta": None if options.delta is None else exact_delta(options.delta),
        "horizon": whole(options.horizon, "horizon", 3),
        "actions": _actions(options),
        "calibration": options.calibration,
    }


def _epsilon(value: str | None, *, needed: bool) -> Any:
    if value is None and needed:
        raise InvalidValue("epsilon", None, "given (--epsilon E)")
    return None if value is None else exact_epsilon(value)


def _actions(options: argparse.Namespace) -> tuple[int, int] | None:
    if options.actions is None and options.dim is None:
        return None
    dim = 2 if options.dim is None else whole(options.dim, "dim")
    return (10 if options.actions is None else whole(options.actions, "actions")), dim


# --- account, amplify, invert ---


def _account(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import account
    from dpaudit.ledger import load_releases
    from dpaudit.report.text import account_text

    epsilon, delta = _epsilon(options.epsilon, needed=False), options.delta
    source = load_releases(options.ledger)
    try:
        bound = account(source, delta=delta)
        limit = (epsilon, exact_delta(delta or 0)) if epsilon is not None else _own_budget(source)
    finally:
        if hasattr(source, "close"):
            source.close()
    over = limit is not None and (bound.epsilon > limit[0] or bound.delta > limit[1])
    findings = [finding.to_dict() for finding in bound.findings]
    if over and limit is not None:
        findings.insert(
            0,
            {
                "rule": "DPA001",
                "message": f"ε = {show(bound.epsilon)} exceeds the budget {show(limit[0])}",
                "where": options.ledger,
            },
        )
    if options.format == "json":
        document = {
            "schema": "dpaudit.account/1", "epsilon": show(bound.epsilon), "delta": show(bound.delta), "method": bound.method,
            "observers": {name: {"epsilon": show(e), "delta": show(d)} for name, (e, d) in bound.per_observer.items()},
            "worst_client": dict(bound.worst_client), "releases": [line.to_dict() for line in bound.lines], "findings": findings,
        }  # fmt: skip
        return (VIOLATED if over else HOLDS), _json(document)
    text = account_text(bound, options.ledger, None if limit is None else f"ε={show(limit[0])}, δ={show(limit[1])}")
    return (VIOLATED if over else HOLDS), text + ("\n  DPA001   over budget" if over else "")


def _own_budget(source: Any) -> tuple[Any, Any] | None:
    budget = getattr(source, "budget", None)
    return None if budget is None else (budget.epsilon, budget.delta)


def _amplify(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import amplify

    method = options.method or "clone"
    found = amplify(options.epsilon0, options.n, options.delta, method=method)
    return _enclosure(found, "epsilon", "ε", method, options, 12)


def _invert(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import invert

    method = options.method or "closed"
    digits = whole(options.digits, "digits")
    found = invert(options.epsilon, options.n, options.delta, method=method, digits=digits)
    return _enclosure(found, "epsilon0", "ε0", method, options, digits if method == "closed" else 12)


def _enclosure(found: Any, name: str, symbol: str, method: str, options: argparse.Namespace, digits: int) -> Answer:
    from dpaudit.report.text import enclosure_text

    code = HOLDS if found.in_domain else UNPROVEN
    if options.format != "json":
        return code, enclosure_text(found, symbol, method, digits)
    document = {
        "schema": f"dpaudit.{'amplify' if name == 'epsilon' else 'invert'}/1",
        name: {"lower": show(found.lower), "upper": show(found.upper)},
        "attack": None if found.attack is None else show(found.attack), "in_domain": found.in_domain, "method": method,
        "findings": [] if found.in_domain else [Finding("DPA005", "ε0 is outside the theorem's domain", method).to_dict()],
    }  # fmt: skip
    return code, _json(document)


# --- run, demo ---


def _run(options: argparse.Namespace) -> Answer:
    import secrets

    import numpy as np

    from dpaudit import live
    from dpaudit.channel import simulate
    from dpaudit.ledger import MemoryLedger, open_ledger
    from dpaudit.report.text import run_text
    from dpaudit.targets import make_algorithm

    subject = make_algorithm(options.name, _algorithm_parameters(options))
    seed = None if options.seed is None else whole(options.seed, "seed", 0)
    if subject.evaluate is None:
        raise DpauditError(f"{options.name} brings no environment to run in")
    kind = "deployment" if seed is None else "simulated"
    ledger = MemoryLedger(kind=kind) if options.ledger is None else open_ledger(options.ledger, kind=kind)
    if options.ledger is not None and next(iter(ledger.releases()), None) is not None:
        ledger.close()
        raise DpauditError(f"{options.ledger} holds a run already; a new run needs a new ledger")
    # A calibration as printed under-declares: it is charged at what its trace proves, without a budget, and the finding shown.
    printed = options.calibration == "printed"
    budget = None if printed else subject.claim
    door = live(ledger, budget, strict=not printed) if seed is None else simulate(seed, ledger=ledger, budget=budget)
    try:
        with progress(f"running {subject.name}"), door as channel:
            result = subject.evaluate(channel, np.random.default_rng(secrets.randbits(128) if seed is None else [seed, 6]))
        findings = [f.to_dict() for f in {f.rule: f for f in reversed(channel.findings)}.values()]  # the first of each rule
        spent = ledger.spent()
    finally:
        ledger.close()
    document = {
        "schema": "dpaudit.run/1", "algorithm": options.name,
        "calibration": subject.notes.get("calibration", options.calibration),
        "epsilon": show(subject.claim.epsilon), "delta": show(subject.claim.delta), "horizon": whole(options.horizon, "horizon"),
        **result, "door": "live" if seed is None else f"simulated, seed {seed}", "ledger": options.ledger,
        "spent": {"epsilon": show(spent[0]), "delta": show(spent[1])}, "findings": findings, "choices": dict(subject.notes),
    }  # fmt: skip
    return HOLDS, _json(document) if options.format == "json" else run_text(document, subject.notes)


def _demo(options: argparse.Namespace) -> Answer:
    from dpaudit.demo import HORIZON, INSTANCES, demo
    from dpaudit.report.text import demo_text

    seed = 1 if options.seed is None else whole(options.seed, "seed", 0)
    with progress("demo", total=9) as step:
        document = demo(seed=seed, progress=step)
    if options.format == "json":
        return HOLDS, _json(document)
    title = (
        f"Three private bandits, ε=1, δ=1e-6, T={HORIZON:,}, K=10, d=2; regret: mean of {INSTANCES} random instances; seed {seed}"
    )
    return HOLDS, demo_text(document["rows"], title)


# --- the skin ---


class progress:
    """A bar on stderr for what takes longer than a moment; nothing when stderr is not a terminal."""

    def __init__(self, title: str, total: int | None = None) -> None:
        self.title, self.total = title, total
        self._bar: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if not sys.stderr.isatty():
            return lambda _: None
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._bar.start()
        task = self._bar.add_task(self.title, total=self.total)
        return lambda what: self._bar.update(task, description=f"{self.title}: {what}", advance=1)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


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
        _demo,
        "the paper's three algorithms as printed, corrected and tight: run, account, attack, one table",
    )
    command.add_argument("--seed", help="seed of the whole demo (default 1)")
    command = add("run", _run, "play a registered algorithm once; without --seed behind the live door")
    command.add_argument("name", metavar="NAME", help="a registered algorithm: central, local, shuffled, …")
    _add_algorithm(command)
    command.add_argument("--ledger", metavar="FILE", help="record every release there")
    command.add_argument("--seed", help="simulate from this seed instead")
    command = add(
        "account",
        _account,
        "certified upper bound for a ledger or a list of releases, per observer and worst client",
    )
    command.add_argument("ledger", metavar="LEDGER|releases.jsonl")
    command.add_argument("--epsilon", help="budget: exit 1 when it is exceeded")
    command.add_argument("--delta", help="δ to account at (default: the ledger's budget, 0 if all is pure, else 1e-6)")
    command = add("audit", _audit, "prove an upper bound, attack for a lower one, give a verdict")
    command.add_argument("target", metavar="TARGET", help="file.py[:name], module:name, or a registered algorithm")
    _add_algorithm(command)
    command.add_argument("--observer", choices=OBSERVERS, help="who looks (default: the claim's)")
    command.add_argument("--confidence", default=0.95, help="of the shown lower bound (default 0.95); refutation needs 1-1e-6")
    command.add_argument("--samples", help="runs per side of the game (default 100000 with trials, else 10000)")
    command.add_argument("--seed", help="makes the audit repeatable; drawn and printed otherwise")
    for name, run, needs in (("amplify", _amplify, "epsilon0"), ("invert", _invert, "epsilon")):
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
