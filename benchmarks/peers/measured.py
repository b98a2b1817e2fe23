"""Everybody's work on every task, in turns: what came out, and the CPU seconds of each turn."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import ROOT
from benchmarks.peers.tasks import TASKS

REPEATS = 5
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Measured:
    """One peer on one task and size: its value and the CPU seconds of each run; or why there are none."""

    peer: str
    task: str
    size: int
    value: float = math.nan
    seconds: tuple[float, ...] = ()
    failure: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else math.nan


class Worker:
    """A peer's process."""

    def __init__(self, name: str, python: Path) -> None:
        command = [str(python), "-m", "benchmarks.peers.worker", name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip

    def ask(self, task: str, size: int) -> dict[str, Any]:
        if self.process.stdin is None or self.process.stdout is None:
            return {"failure": "no process"}
        print(json.dumps({"task": task, "size": size}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failure": "the worker ended"}

    def end(self) -> None:
        self.process.terminate()


def measure(workers: dict[str, Worker], missing: dict[str, str]) -> Iterator[Measured]:
    """All tasks; on each the workers take turns, in an order that moves on by one every time."""
    for task, work in TASKS.items():
        for size in work.sizes:
            names = ["dpaudit", *(name for name in work.peers if name in workers)]
            times: dict[str, list[float]] = {name: [] for name in names}
            last: dict[str, dict[str, Any]] = {}
            for turn in range(REPEATS):
                for name in names[turn % len(names) :] + names[: turn % len(names)]:
                    if "failure" not in last.get(name, {}):
                        last[name] = workers[name].ask(task, size)
                        times[name].append(last[name].get("seconds", math.nan))
            for name in names:
                failure = last[name].get("failure", "")
                yield Measured(
                    name, task, size, last[name].get("value", math.nan), () if failure else tuple(times[name]), failure
                )
            yield from (Measured(name, task, size, failure=missing[name]) for name in work.peers if name in missing)
