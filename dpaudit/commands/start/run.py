"""``dpaudit run`` and ``demo``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from dpaudit.claims import DpauditError, show, whole
from dpaudit.commands import HOLDS, Answer, Command, algorithm_parameters, progress, write_report
from dpaudit.commands.options import add_demo_options, add_run_options

if TYPE_CHECKING:
    from dpaudit.auditors.runs.scheduler import Scheduled
    from dpaudit.ledger import Ledger
    from dpaudit.subjects.subject import Subject


def run_command(options: argparse.Namespace) -> Answer:
    from dpaudit.auditors.runs.scheduler import connected
    from dpaudit.report.content.start import run_report
    from dpaudit.subjects.targets import make_algorithm

    subject = make_algorithm(options.name, algorithm_parameters(options))
    seed = None if options.seed is None else whole(options.seed, "seed", 0)
    if options.scheduler is not None and seed is None:
        raise DpauditError(
            "--scheduler needs --seed: a live door draws its noise here, and private values do not leave for others"
        )
    with connected(options.scheduler) if options.scheduler is not None else nullcontext() as elsewhere:
        result, findings, spent = _play(subject, options, seed, elsewhere)
    document = {
        "schema": "dpaudit.run/1", "algorithm": options.name,
        "calibration": subject.notes.get("calibration", options.calibration),
        "epsilon": show(subject.claim.epsilon), "delta": show(subject.claim.delta), "horizon": whole(options.horizon, "horizon"),
        **result, "door": "live" if seed is None else f"simulated, seed {seed}", "ledger": options.ledger,
        "spent": None if subject.notes.get("privacy") else dict(zip(("epsilon", "delta"), map(show, spent), strict=True)),
        "findings": findings, "choices": dict(subject.notes),
    }  # fmt: skip
    return HOLDS, write_report(options, run_report(document, subject.notes))


def _play(
    subject: Subject, options: argparse.Namespace, seed: int | None, elsewhere: Scheduled | None
) -> tuple[Mapping[str, Any], list[Any], Any]:
    """One run behind a door, live without a seed: its result, the first finding of each rule, and what it spent."""
    import secrets

    import numpy as np

    from dpaudit.deployment import live, simulate

    if subject.evaluate is None:
        raise DpauditError(f"{options.name} brings no environment to run in")
    ledger = _new_ledger(subject, options.ledger, "deployment" if seed is None else "simulated")
    # A calibration as printed under-declares: it is charged at what its trace proves, without a budget, and the finding shown.
    # So is an algorithm whose notes say that no theorem here carries its claim.
    printed = options.calibration == "printed" or "unproven" in subject.notes
    budget = None if printed else subject.claim
    try:
        door = (
            live(ledger, budget, strict=not printed, proven=not printed)
            if seed is None
            else simulate(seed, ledger=ledger, budget=budget, elsewhere=elsewhere)
        )
        with progress(f"running {subject.name}"), door as channel:
            result = subject.evaluate(channel, np.random.default_rng(secrets.randbits(128) if seed is None else [seed, 6]))
        findings = [finding.to_dict() for finding in {one.rule: one for one in reversed(channel.findings)}.values()]
        return result, findings, _spent(ledger, subject) if "unproven" in subject.notes else ledger.spent()
    finally:
        ledger.close()


def _spent(ledger: Ledger, subject: Subject) -> tuple[Any, Any]:
    """What the worst client has spent by the accountants, where no budget has kept count."""
    from dpaudit.accountants import account

    bound = account(ledger, delta=subject.claim.delta)
    return bound.epsilon, bound.delta


def _new_ledger(subject: Subject, path: str | None, kind: str) -> Ledger:
    """In memory without a path. Raises DpauditError for a ledger that holds a run already."""
    from dpaudit.ledger import MemoryLedger, open_ledger
    from dpaudit.subjects.targets import code_of

    if path is None:
        return MemoryLedger(kind)
    ledger = open_ledger(path, kind=kind, code=code_of(subject))
    if next(iter(ledger.releases()), None) is not None:
        ledger.close()
        raise DpauditError(f"{path} holds a run already; a new run needs a new ledger")
    return ledger


def demo_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.start import demo_report
    from dpaudit.subjects.targets import demo_rows
    from dpaudit.verdict.demo import HORIZON, INSTANCES, demo

    seed = 1 if options.seed is None else whole(options.seed, "seed", 0)
    with progress("demo", total=len(demo_rows())) as step:
        document = demo(seed=seed, progress=step)
    title = f"Private bandits, ε=1, δ=1e-6, T={HORIZON:,}, K=10, d=2; regret: mean of {INSTANCES} random instances; seed {seed}"
    return HOLDS, write_report(options, demo_report(document, title))


COMMANDS = (
    Command(
        "demo",
        "the paper's three algorithms as printed, corrected and tight, and the optimistic one: run, account, attack, one table",
        demo_command,
        add_demo_options,
    ),
    Command("run", "play a registered algorithm once; without --seed behind the live door", run_command, add_run_options),
)
