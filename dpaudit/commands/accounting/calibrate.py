"""``dpaudit calibrate``."""

from __future__ import annotations

import argparse
from typing import Any

from dpaudit.claims import DpauditError, show
from dpaudit.commands import HOLDS, Answer, Command, given_epsilon, write_report
from dpaudit.commands.options import add_calibrate_options


def calibrate_command(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants.calibration.least_noise import NoiseRule
    from dpaudit.report.content.calibration import calibration_report

    epsilon = given_epsilon(options.epsilon, needed=True)
    found = _shuffled(options, epsilon) if options.shuffled else _plain(options, epsilon)

    def rule(each: NoiseRule) -> dict[str, Any]:
        return {"method": each.method, "value": show(each.value), "theorem": each.theorem, "adaptive": each.adaptive}

    document = {
        "schema": "dpaudit.calibrate/1", "mechanism": found.rule.noise.name,
        "parameter": found.rule.noise.size_name, "value": show(found.rule.value), "python": found.python,
        "claim": {"epsilon": show(found.epsilon), "delta": show(found.delta)},
        "sensitivity": show(found.sensitivity), "grid": show(found.rule.noise.grid), "count": found.count, "n": found.n,
        **({} if found.sampling is None else {"sampling": show(found.sampling)}),
        "epsilon": {"lower": show(found.gives.lower), "upper": show(found.gives.upper)},
        **{key: value for key, value in rule(found.rule).items() if key != "value"},
        "others": [rule(each) for each in found.others],
    }  # fmt: skip
    return HOLDS, write_report(options, calibration_report(document))


def _plain(options: argparse.Namespace, epsilon: Any) -> Any:
    from dpaudit.accountants.calibration.least_noise import calibrate
    from dpaudit.noise import MECHANISMS

    if options.mechanism is None:
        *others, last = (name for name, kind in MECHANISMS.items() if not kind.fails)
        raise DpauditError(f"give --mechanism {', '.join(others)} or {last} (see dpaudit calibrate --help)")
    _refuse(options, ("n", "range"), "goes with --shuffled")
    kind = MECHANISMS[options.mechanism]
    if kind.stronger < 0:
        _refuse(options, ("sensitivity", "grid"), f"is not for {kind.words}: a {kind.answer} is a {kind.answer}")
    given = {name: getattr(options, name) for name in ("sensitivity", "count", "grid", "method", "k", "sampling")}
    return calibrate(options.mechanism, epsilon, options.delta or 0, **{k: v for k, v in given.items() if v is not None})


def _shuffled(options: argparse.Namespace, epsilon: Any) -> Any:
    from dpaudit.accountants.calibration.least_report_noise import calibrate_shuffled

    for name in ("n", "delta"):
        if getattr(options, name) is None:
            raise DpauditError(f"--shuffled needs --{name}")
    _refuse(
        options,
        ("sensitivity", "count", "sampling"),
        "is not for --shuffled: one batch, and --range is how far one report can move",
    )
    given = {
        "mechanism": options.mechanism,
        "spread": options.range,
        "grid": options.grid,
        "method": options.method,
        "k": options.k,
    }
    return calibrate_shuffled(epsilon, options.delta, options.n, **{k: v for k, v in given.items() if v is not None})


def _refuse(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    given = [name for name in names if getattr(options, name) is not None]
    if given:
        raise DpauditError(f"--{given[0]} {why}")


COMMANDS = (
    Command(
        "calibrate",
        "the least noise that keeps (ε,δ), for one release, several, or a shuffled batch",
        calibrate_command,
        add_calibrate_options,
    ),
)
