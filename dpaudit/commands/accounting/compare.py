"""``dpaudit compare``: accounts of several ledgers side by side, or the calibrations of registered algorithms."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Bound, DpauditError, exact_delta, show, whole
from dpaudit.commands import HOLDS, Answer, Command, algorithm_parameters, progress, write_report
from dpaudit.commands.options import add_compare_options

if TYPE_CHECKING:
    from dpaudit.ledger import Release

PICTURES = ("csv", "png")  # of the table of systems
SETTING = ("epsilon", "horizon", "actions", "dim", "instances", "seed")


def compare_command(options: argparse.Namespace) -> Answer:
    if options.table1:
        if options.ledgers or options.calibrations is not None:
            raise DpauditError("give --table1 alone: it has rows of its own")
        return _compare_systems(options)
    if options.format in PICTURES:
        raise DpauditError(f"--format {options.format} goes with --table1")
    if options.contexts is not None:
        raise DpauditError("--contexts goes with --table1")
    if options.calibrations is not None:
        if options.ledgers:
            raise DpauditError("give ledgers or --calibrations, not both")
        return _compare_calibrations(options)
    if len(options.ledgers) < 2:
        raise DpauditError("give two ledgers or more, --calibrations NAME or --table1 (see dpaudit compare --help)")
    given = [name for name in SETTING if getattr(options, name) is not None]
    if given:
        raise DpauditError(f"--{given[0]} goes with --calibrations or --table1")
    return _compare_ledgers(options)


def _compare_ledgers(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants import account
    from dpaudit.report.content.comparisons import ledgers_report

    delta = None if options.delta is None else exact_delta(options.delta)
    bounds = [(path, account(path, delta=delta, fixed=options.fixed)) for path in options.ledgers]
    document = {
        "schema": "dpaudit.compare/1",
        "ledgers": [_ledger(path, bound) for path, bound in bounds],
        "change": {"from": bounds[0][0], "to": bounds[-1][0], "observers": _change(bounds[0][1], bounds[-1][1])},
    }
    return HOLDS, write_report(options, ledgers_report(document))


def _ledger(path: str, bound: Bound) -> dict[str, Any]:
    return {
        "name": path, "epsilon": show(bound.epsilon), "delta": show(bound.delta), "method": bound.method,
        "observers": {name: {"epsilon": show(e), "delta": show(d)} for name, (e, d) in bound.per_observer.items()},
        "worst_client": dict(bound.worst_client), "releases": len(bound.lines),
        "findings": [finding.to_dict() for finding in bound.findings],
    }  # fmt: skip


def _change(first: Bound, last: Bound) -> dict[str, dict[str, str]]:
    """Per observer that both have: how much ε and δ grew, exactly."""
    return {
        name: {"epsilon": show(last.per_observer[name][0] - epsilon), "delta": show(last.per_observer[name][1] - delta)}
        for name, (epsilon, delta) in first.per_observer.items()
        if name in last.per_observer
    }


def _compare_calibrations(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.comparisons import calibrations_report
    from dpaudit.subjects.targets import calibrations_of

    instances = whole("100" if options.instances is None else options.instances, "instances")
    seed = whole("1" if options.seed is None else options.seed, "seed", 0)
    parameters = algorithm_parameters(options)
    rows = []
    pairs = [(name, calibration) for name in options.calibrations for calibration in calibrations_of(name)]
    with progress("comparing", total=len(pairs)) as step:
        for name, calibration in pairs:
            step(f"{name}, {calibration}")
            rows.append(_row(name, {**parameters, "calibration": calibration}, instances, seed))
    document = {
        "schema": "dpaudit.compare/1", "epsilon": show(parameters["epsilon"]), "horizon": parameters["horizon"],
        "instances": instances, "seed": seed, "calibrations": rows,
    }  # fmt: skip
    return HOLDS, write_report(options, calibrations_report(document))


def _compare_systems(options: argparse.Namespace) -> Answer:
    """The systems that are marked for it; ε = 1 and T = 10^6 without more ado."""
    from dpaudit.report.content.systems import systems_csv, systems_report
    from dpaudit.verdict.systems_table import AUDITED_HORIZON, systems, systems_table

    options.epsilon, options.horizon = options.epsilon or "1", options.horizon or "1000000"
    instances = whole("100" if options.instances is None else options.instances, "instances", 2)
    seed = whole("1" if options.seed is None else options.seed, "seed", 0)
    contexts = whole("1" if options.contexts is None else options.contexts, "contexts", 1, 1000)
    parameters = {**algorithm_parameters(options), "contexts": contexts if contexts > 1 else None}
    with progress("table 1", total=len(systems(contexts))) as step:
        rows = systems_table(parameters, instances=instances, seed=seed, progress=step)
    actions, dimension = parameters["actions"] or (10, 2)
    document = {
        "schema": "dpaudit.compare/1", "epsilon": show(parameters["epsilon"]), "horizon": parameters["horizon"],
        "actions": actions, "dim": dimension, "audited": min(parameters["horizon"], AUDITED_HORIZON),
        "instances": instances, "seed": seed, "contexts": contexts, "table1": rows,
    }  # fmt: skip
    if options.format == "csv":
        return HOLDS, systems_csv(document)
    if options.format == "png":
        return HOLDS, _write_picture(options, document)
    return HOLDS, write_report(options, systems_report(document))


def _write_picture(options: argparse.Namespace, document: Mapping[str, Any]) -> str:
    """To the file that was asked for, or to a pipe; nothing is left to print."""
    import sys
    from pathlib import Path

    from dpaudit.report.charts.curves_picture import curves_picture

    title = f"ε={document['epsilon']}, K={document['actions']}, d={document['dim']}, {document['instances']} instances"
    picture = curves_picture(document["table1"], title)
    if options.output is not None:
        Path(options.output).write_bytes(picture)
    elif sys.stdout.isatty():
        raise DpauditError("a PNG is no text: give --output FILE")
    else:
        sys.stdout.buffer.write(picture)
    return ""


def _row(name: str, parameters: Mapping[str, Any], instances: int, seed: int) -> dict[str, Any]:
    """One run behind a simulated door, accounted for; and the mean regret of many."""
    import numpy as np

    from dpaudit.accountants import account
    from dpaudit.deployment import simulate
    from dpaudit.ledger import MemoryLedger
    from dpaudit.subjects.targets import make_algorithm
    from dpaudit.verdict.demo import mean_regret

    subject = make_algorithm(name, parameters)
    if subject.evaluate is None:
        raise DpauditError(f"{name} brings no environment to run in")
    ledger = MemoryLedger(kind="simulated")
    with simulate(seed, ledger=ledger) as channel:
        subject.evaluate(channel, np.random.default_rng([seed, 6]))
    private = not subject.notes.get("privacy")
    bound = account(ledger, delta=subject.claim.delta) if private else None
    return {
        "algorithm": name, "calibration": parameters["calibration"], "claim": subject.claim.to_dict(),
        "noise": _sizes(list(ledger.releases())),
        "upper": None if bound is None else show(bound.epsilon),
        "findings": [] if bound is None else [finding.to_dict() for finding in bound.findings],
        "regret": mean_regret(subject, instances, seed),
    }  # fmt: skip


def _sizes(releases: Sequence[Release]) -> dict[str, str] | None:
    """The least and the most noise of a run."""
    from dpaudit.noise import MECHANISMS

    sizes = [Fraction(each.parameters[MECHANISMS[each.mechanism].size_name]) for each in releases]
    return {"least": show(min(sizes)), "most": show(max(sizes))} if sizes else None


COMMANDS = (
    Command(
        "compare",
        "ledgers side by side, the calibrations of an algorithm, or the systems of Table 1",
        compare_command,
        add_compare_options,
        ("html", *PICTURES),
    ),
)
