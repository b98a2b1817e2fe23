"""Audits of random programs whose true ε is known: no false certificate, no false refutation, no error."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import dpaudit as dp
from benchmarks.figures import Figure, Figures
from benchmarks.random_subjects import Program, draw_program
from benchmarks.subject_truths import LEAK, Truth
from dpaudit.subjects.subject import Subject

PROGRAMS = 3000
SAMPLES = 200  # runs a side: what is exact needs none, and statistics may miss, never accuse
SEED = 13
TOLD = 100  # programs between two lines about how far it is


@dataclass(frozen=True)
class Outcome:
    """What an audit said of a program, and what is wrong with that; nothing where ``problem`` is empty."""

    program: Program
    verdict: str
    reason: str
    problem: str

    def text(self) -> str:
        truth = self.program.truth
        said = f"# {self.problem}: {self.verdict} ({self.reason})\n# true ε from {float(truth.low)} to {float(truth.high)}"
        return f"{said}, claim {self.program.claim}\n{self.program.text}"


def judge(verdict: str, truth: Truth, claim: object) -> str:
    """The violation, if it is one."""
    limit = dp.Claim(str(claim)).epsilon
    if verdict == "certified" and truth.exceeds(limit):
        return "false certificate"
    if verdict == "refuted" and truth.within(limit):
        return "false refutation"
    return "" if verdict in ("certified", "refuted", "unproven") else "error"


def load_program(file: Path) -> Subject:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    subject: Subject = module.program
    return subject


def audit_program(program: Program, file: Path, seed: int) -> Outcome:
    """Any exception of the audit is an outcome too, and a problem."""
    file.write_text(program.text, encoding="utf-8")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = dp.audit(load_program(file), samples=SAMPLES, seed=seed)
        verdict, reason = str(found.verdict), found.reason
    except Exception as error:
        verdict, reason = type(error).__name__, str(error)
    return Outcome(program, verdict, reason, judge(verdict, program.truth, program.claim))


def outcomes(folder: Path, indices: range, change: Callable[[Program], Program] = lambda program: program) -> Iterator[Outcome]:
    """Audits of the programs with these numbers; each is drawn from its own number, and can be drawn again alone."""
    logging.disable(logging.CRITICAL)
    try:
        for index in indices:
            program = change(draw_program(random.Random(f"{SEED}/{index}")))
            yield audit_program(program, folder / f"program_{index}.py", index)
    finally:
        logging.disable(logging.NOTSET)


def lie(program: Program) -> Program:
    """The same program with the opposite truth: what is told of it must come out as wrong."""
    within = program.truth.within(program.claim)
    return replace(program, truth=LEAK if within else Truth(0, 0))


def kind_of(program: Program) -> str:
    if program.truth == LEAK:
        return "leaks"
    if program.truth.within(program.claim):
        return "keeps its claim"
    return "exceeds its claim" if program.truth.exceeds(program.claim) else "within what the enumeration cannot tell"


def subjects(folder: Path, scale: float) -> Figures:
    count = max(1, round(PROGRAMS * scale))
    verdicts, problems = Counter[str](), Counter[str]()
    for index, outcome in enumerate(outcomes(folder, range(count))):
        kind = kind_of(outcome.program)
        verdicts[f"{kind}, {outcome.verdict}"] += 1
        if outcome.problem:
            problems[outcome.problem] += 1
            print(f"# program {index}\n{outcome.text()}", flush=True)
        if (index + 1) % TOLD == 0:
            shown = ", ".join(f"{number} {name}s" for name, number in sorted(problems.items())) or "nothing wrong"
            print(f"# {index + 1:,} of {count:,} programs: {shown}", file=sys.stderr, flush=True)
    for name in ("false certificate", "false refutation", "error"):
        yield Figure(f"{count} random programs: {name}s", "0", str(problems[name]), problems[name] == 0)
    for name, number in sorted(verdicts.items()):
        yield Figure(f"… {name}", "", str(number))
    few = max(3, count // 50)
    twin = sum(bool(outcome.problem) for outcome in outcomes(folder, range(few), lie))
    yield Figure(f"… problems of {few} whose truth is turned round", "> 0", str(twin), twin > 0)
