"""``dpaudit check``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.claims import DpauditError
from dpaudit.commands import Answer, Command, as_json, progress, write_file, write_report
from dpaudit.commands.options import add_check_options
from dpaudit.gate.results import Checked, SourcePlace
from dpaudit.report.formats import renderers, write

if TYPE_CHECKING:
    from dpaudit.gate.policy import Config
    from dpaudit.report.interface import Report

FORMATS = tuple(name for name in renderers if name not in ("text", "json"))


def check_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.check import check_report

    also = [_also(option) for option in options.also]
    form = options.format or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")
    try:
        checked = _run_gate(options)
    except DpauditError as error:
        if form == "github":  # beside the message on stderr
            from dpaudit.report.formats.github import annotation

            print(annotation("error", SourcePlace("pyproject.toml", 1), "dpaudit check", str(error)))
        raise
    report = check_report(checked)
    if form == "github":
        _summarise(report)
    for kind, file in also:
        write_file(write(kind, report), str(file))
    return checked.exit, write_report(options, report, form)


def _also(option: str) -> tuple[str, Path]:
    """Refused before the work is done, if it could not be written after it."""
    form, _, name = option.partition("=")
    file = Path(name)
    if form not in ("text", "json", *FORMATS) or not name:
        raise DpauditError(f"--also {option}: give FORMAT=FILE, with one of text, json, {', '.join(FORMATS)}")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise DpauditError(f"--also {option}: not a file in an existing folder")
    return form, file


def _run_gate(options: argparse.Namespace) -> Checked:
    from dpaudit.gate.baseline import baseline_of
    from dpaudit.gate.check import check
    from dpaudit.gate.policy import read_config

    config = read_config()
    _refuse_overwriting(config, [options.output, *(option.partition("=")[2] for option in options.also)])
    if options.write_baseline and config.baseline is None:
        raise DpauditError('--write-baseline needs the file\'s name in pyproject.toml: baseline = "dpaudit-baseline.json"')
    with progress("checking", total=len(config.budgets)) as tell:
        checked = check(config, baseline=not options.write_baseline, picture=_draws(options), against=options.against, tell=tell)
    if options.write_baseline:
        write_file(as_json(baseline_of(checked.budgets)), str(config.baseline))
    return checked


def _draws(options: argparse.Namespace) -> bool:
    """Only a page and its markdown show pictures; making them takes runs of their own."""
    forms = [options.format, *(option.partition("=")[0] for option in options.also)]
    return "html" in forms or "markdown" in forms


def _refuse_overwriting(config: Config, outputs: Sequence[str | None]) -> None:
    """A report is not written over the configuration, the baseline, a subject or a ledger."""
    targets = [config.folder / budget.target.partition(".py:")[0] for budget in config.budgets]
    sources = [config.folder / (budget.target.partition(".py:")[0] + ".py") for budget in config.budgets]
    used = {file.resolve() for file in (config.file, config.baseline, *targets, *sources) if file is not None}
    for name in outputs:
        if name and Path(name).resolve() in used:
            raise DpauditError(f"the report would overwrite {name}, which this check uses; name another file")


def _summarise(report: Report) -> None:
    """The job's summary, where GitHub says where it is."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(write("markdown", report) + "\n")


COMMANDS = (
    Command(
        "check",
        "the gate: hold every budget of [tool.dpaudit] in pyproject.toml; fails closed",
        check_command,
        add_check_options,
        FORMATS,
    ),
)
