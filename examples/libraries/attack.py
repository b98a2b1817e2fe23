"""Attacks the functions of a library as black boxes, in the environment of that library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from case import Case
from worker import load

import dpaudit as dp
from benchmarks.peers.environments import Environment

WORKER = Path(__file__).with_name("worker.py")


class CannotRun(Exception):
    """A function did not run; its message says why."""


@dataclass(frozen=True)
class Result:
    """``verdict``: refuted, not refuted, or not run. ``detail``: the event, or what was tried, or why it did not run."""

    library: str
    version: str
    case: Case
    verdict: str
    lower: float
    detail: str


class Box:
    """A function in its library's process: called for one side of its pair, many runs at once."""

    def __init__(self, process: subprocess.Popen[str], case: Case) -> None:
        self.process, self.case = process, case

    def outputs(self, side: int, count: int) -> np.ndarray:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"case": self.case.name, "side": side, "count": count}) + "\n")
        self.process.stdin.flush()
        answered = self.process.stdout.readline()
        told: dict[str, Any] = json.loads(answered) if answered else {"failure": "its process ended"}
        if "failure" in told:
            raise CannotRun(told["failure"])
        return np.array(told["outputs"], float)


def attack_all(
    library: str, place: Environment, cases: Path, samples: int, tell: Callable[[str], None] = lambda _: None
) -> list[Result]:
    """Every case of a library, one after another; what does not run stops no other."""
    known = load(cases)
    if place.python is None:
        return [Result(library, place.version, case, "not run", 0.0, place.failure) for case in known.values()]
    command = [str(place.python), str(WORKER), str(cases)]
    results = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        for case in known.values():
            tell(case.name)
            results.append(_attack(library, place.version, Box(process, case), samples))
    return results


def _attack(library: str, version: str, box: Box, samples: int) -> Result:
    case = box.case
    try:
        for side in (0, 1):
            box.outputs(side, 1)  # what cannot run is said once, not counted as an output
        verdict = dp.audit(subject_of(box), samples=samples, seed=1)
    except CannotRun as failure:
        return Result(library, version, case, "not run", 0.0, str(failure))
    lower = float(verdict.lower.epsilon) if verdict.lower is not None else 0.0
    word = "refuted" if verdict.verdict == "refuted" else "not refuted"
    tried = f"{verdict.lower.method}, {verdict.lower.samples} runs" if verdict.lower is not None else "nothing"
    return Result(library, version, case, word, lower, verdict.reason if word == "refuted" else f"tried: {tried}")


def subject_of(box: Box) -> Any:
    """The data of an audit is which side of the pair is asked for: the records themselves stay with the library."""
    case = box.case
    pair = (np.zeros(1), np.ones(1))

    @dp.subject(claim=dp.Claim(case.epsilon, case.delta), neighbours=[pair])
    def function(data: Any, rng: Any, trials: int) -> Any:
        return box.outputs(int(data[0]), trials)

    return function
