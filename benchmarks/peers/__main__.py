"""Side by side with peers: the same work in each environment, taking turns, as CPU time. By ``make bench-peers``, never in CI.

Writes results.json here, and two sections of benchmarks/README.md: "Side by side with peers" and "Peers' own expected values".
``python -m benchmarks.peers values`` renews the second alone, in a minute, and needs no peer.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import HERE, ROOT, Environment, environment
from benchmarks.peers.expected_values import Share, shares, values_table

REPEATS = 5
TITLE = "## Side by side with peers"
VALUES_TITLE = "## Peers' own expected values"
ACCOUNTANTS = ("dp-accounting", "opacus", "prv-accountant", "autodp", "diffprivlib")
# task: what it is, its sizes, who does it
TASKS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "laplace": (
        "ε of k Laplace releases, ε = 0.1, δ = 1e-6",
        (10, 100, 1000),
        ("dp-accounting", "prv-accountant", "autodp", "diffprivlib"),
    ),
    "gaussian": (
        "ε of k Gaussian releases, σ = 10, δ = 1e-6",
        (100, 1000),
        ("dp-accounting", "opacus", "prv-accountant", "autodp"),
    ),
    "sampled": ("ε of T steps, q = 0.01, σ = 1, δ = 1e-6", (100, 1000), ("dp-accounting", "opacus", "prv-accountant", "autodp")),
    "draw-laplace": ("n draws of Laplace noise", (1, 10_000), ("opendp", "diffprivlib")),
    "draw-gaussian": ("n draws of Gaussian noise", (1, 10_000), ("opendp", "diffprivlib")),
    "audit": ("lower bound on ε from n guesses, δ = 1e-5, 95 %", (1000, 100_000), ("jax-privacy", "privacy-estimates")),
}


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
        command = [str(python), str(HERE / "worker.py"), name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
        )

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
    for task, (_, sizes, peers) in TASKS.items():
        for size in sizes:
            names = ["dpaudit", *(name for name in peers if name in workers)]
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
            yield from (Measured(name, task, size, failure=missing[name]) for name in peers if name in missing)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def markdown(found: list[Measured], environments: list[Environment], date: str) -> str:
    """The section, from its title on."""
    lines = [
        TITLE,
        "",
        f"Measured on {date} by `make bench-peers`: CPU time, median of {REPEATS} runs that took turns (least–most);",
        "short calls are repeated within a run until they take 50 ms together, everybody's alike.",
        "",
    ]
    lines += ["| peer | version | |", "| --- | --- | --- |"]
    lines += [f"| {each.name} | {each.version} | {each.failure or 'installed'} |" for each in environments]
    for task, (title, sizes, _) in TASKS.items():
        lines += ["", f"**{title}**", "", "| size | who | value | CPU | × ours |", "| --- | --- | --- | --- | --- |"]
        for one in (each for each in found if each.task == task):
            if one.failure:
                lines.append(f"| {one.size:,} | {one.peer} | {one.failure} | | |")
                continue
            own = next(each.median for each in found if (each.peer, each.task, each.size) == ("dpaudit", task, one.size))
            value = "" if task.startswith("draw") else f"{one.value:.6g}"
            spread = f"{_time(one.median)} ({_time(min(one.seconds))}–{_time(max(one.seconds))})"
            lines.append(f"| {one.size:,} | {one.peer} | {value} | {spread} | {one.median / own:,.1f} |")
        lines += ["", "Growth (slope of log CPU in log size): " + ", ".join(_slopes(found, task, sizes)) + "."]
    return "\n".join(lines) + "\n"


def _slopes(found: list[Measured], task: str, sizes: tuple[int, ...]) -> Iterator[str]:
    first, last = min(sizes), max(sizes)
    for name in dict.fromkeys(each.peer for each in found if each.task == task and not each.failure):
        ends = {each.size: each.median for each in found if (each.peer, each.task) == (name, task) and not each.failure}
        if first in ends and last in ends:
            yield f"{name} {math.log(ends[last] / ends[first]) / math.log(last / first):.2f}"


def write(title: str, section: str) -> None:
    """Put the section into benchmarks/README.md; others' sections stay."""
    path = HERE.parent / "README.md"
    text = path.read_text() if path.exists() else "# Benchmarks\n\n"
    pattern = re.compile(re.escape(title) + r"\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    path.write_text(
        pattern.sub(lambda _: section + "\n", text).rstrip() + "\n" if title in text else text.rstrip() + "\n\n" + section
    )


def values() -> list[Share]:
    """Compare every value that peers' tests expect, print the shares and write them down."""
    told, date = shares(), datetime.datetime.now(datetime.UTC).date().isoformat()
    source = "`benchmarks/peers/expected_values.json`, each with the file and the test that it is from, and what is left out"
    head = f"Compared on {date} by `python -m benchmarks.peers values`: {source}."
    table = values_table(told)
    print("\n".join([*table, *(line for share in told for line in share.contradicted)]))
    write(VALUES_TITLE, "\n".join([VALUES_TITLE, "", head, "", *table]) + "\n")
    return told


def main() -> None:
    if sys.argv[1:] == ["values"]:
        values()
        return
    names = sorted({name for _, _, peers in TASKS.values() for name in peers})
    environments = [environment(name) for name in names]
    workers = {each.name: Worker(each.name, each.python) for each in environments if each.python is not None}
    workers["dpaudit"] = Worker("dpaudit", Path(sys.executable))
    missing = {each.name: each.failure for each in environments if each.python is None}
    found = []
    try:
        for one in measure(workers, missing):
            found.append(one)
            print(one.task, one.size, one.peer, one.failure or f"{one.value:.6g} {_time(one.median)}", flush=True)
    finally:
        for worker in workers.values():
            worker.end()
    told, date = values(), datetime.datetime.now(datetime.UTC).date().isoformat()
    results = {
        "date": date,
        "repeats": REPEATS,
        "versions": {each.name: each.version for each in environments},
        "failures": missing,
        "measured": [asdict(one) for one in found],
        "expected values": [share.to_dict() for share in told],
    }
    (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    write(TITLE, markdown(found, environments, date))


if __name__ == "__main__":
    main()
