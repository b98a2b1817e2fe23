"""Attacks the functions of a library as black boxes, in the environment of that library."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from case import Case

import dpaudit as dp

WORKER = Path(__file__).with_name("worker.py")
PROBE = 32  # runs that say how long one takes
FEWEST = 100
SHARE = 6  # an audit makes about four times the runs of one side, and up to twenty times where the claim is close
PATIENCE = 10  # an audit, and a single answer, may take this many times the seconds that are meant for it


class CannotRun(Exception):
    """A function did not run; its message says why."""


@dataclass(frozen=True)
class Effort:
    """At most ``samples`` runs on each side, fewer where an attack would take more than about ``seconds``."""

    samples: int
    seconds: float


@dataclass(frozen=True)
class Result:
    """``verdict``: refuted, not refuted, or not run. ``detail``: the event, or what was tried, or why it did not run."""

    verdict: str
    lower: float
    detail: str


class Process:
    """A library in its own environment; started when it is first asked, and again after it died."""

    def __init__(self, python: Path, cases: Path) -> None:
        self.command = [str(python), str(WORKER), str(cases)]
        self.running: subprocess.Popen[str] | None = None

    def ask(self, **request: Any) -> dict[str, Any]:
        if self.running is None or self.running.poll() is not None:
            self.close()
            self.running = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self.running.stdin is not None
        assert self.running.stdout is not None
        try:
            self.running.stdin.write(json.dumps(request) + "\n")
            self.running.stdin.flush()
            answered = self.running.stdout.readline()
        except BrokenPipeError:
            answered = ""
        if not answered:
            self.close()
        told: dict[str, Any] = json.loads(answered) if answered else {"failure": "its process ended"}
        return told

    def close(self) -> None:
        if self.running is not None:
            with self.running:  # leaving it closes the pipes, which ends the process, and waits for that
                self.running = None


class Box:
    """A function in its library's process: called for one side of its pair, many runs at once."""

    def __init__(self, process: Process, case: Case, seconds: float) -> None:
        self.process, self.case, self.seconds = process, case, seconds

    def outputs(self, side: int, count: int) -> np.ndarray:
        limit = max(60, round(PATIENCE * self.seconds))
        told = self.process.ask(case=self.case.name, side=side, count=count, seconds=limit)
        if "failure" in told:
            raise CannotRun(told["failure"])
        return np.array(told["outputs"], float)


def attack(process: Process, case: Case, effort: Effort) -> Result:
    """Refuted with the event, or not refuted with what was tried, or not run with the reason."""
    box = Box(process, case, effort.seconds)
    try:
        samples = _samples(box, effort)
        verdict = dp.audit(subject_of(box), samples=samples, seed=1, time=str(PATIENCE * effort.seconds))
    except CannotRun as failure:
        return Result("not run", 0.0, str(failure))
    if verdict.verdict == "refuted":
        return Result("refuted", verdict.lower.epsilon, event(verdict))
    return Result("not refuted", verdict.lower.epsilon, tried(verdict))


def _samples(box: Box, effort: Effort) -> int:
    """As many runs on each side as the seconds allow. What cannot run is said here, before an audit counts it as an output."""
    for side in (0, 1):
        box.outputs(side, 1)
    probe = max(PROBE, box.case.batch)
    start = time.perf_counter()
    box.outputs(0, probe)
    each = (time.perf_counter() - start) / probe
    return max(FEWEST, min(effort.samples, int(effort.seconds / (SHARE * each))))


def event(verdict: dp.Verdict) -> str:
    """What happens more often on one side than the claim allows."""
    told = verdict.witness or {}
    if "right" in told:
        level = f"at confidence 1 − 10⁻⁶ that needs ε ≥ {told['epsilon']:.3f}"
        times = f"{told['right']:,} times rightly and {told['wrong']:,} times wrongly"
        return f"a score learned on other runs names the side {times}; {level}"
    return verdict.reason.partition("; it draws randomness")[0]


def tried(verdict: dp.Verdict) -> str:
    """The best attack, and what it would have seen."""
    told = f"{verdict.lower.method}; {verdict.lower.samples:,} runs on each side"
    ended = "; ended when its time was over" if verdict.stopped else ""
    seen = f", enough to refute guesses as good as ε = {verdict.detectable:.2f} allows" if verdict.detectable else ""
    return f"{told}{seen}{ended}"


def subject_of(box: Box) -> Any:
    """The data of an audit is which side of the pair is asked for: the records themselves stay with the library."""
    case = box.case
    pair = (np.zeros(1), np.ones(1))

    @dp.subject(claim=dp.Claim(case.epsilon, case.delta), neighbours=[pair])
    def function(data: Any, rng: Any, trials: int) -> Any:
        return box.outputs(int(data[0]), trials)

    return function
