"""20,000 bad inputs, each under a limit on memory and a timer, in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from benchmarks.faults import ended_well, in_child
from benchmarks.figures import Figure, Figures
from benchmarks.fuzzed_commands import command_lines, run_command_line
from benchmarks.fuzzed_files import (
    DOCUMENTS,
    READERS,
    documents,
    edited,
    json_texts,
    other_leaves,
    prepare,
    read_documents,
    read_fuzzed,
    read_json,
)

COMMANDS, EDITS, LEAVES, JSON = 8000, 1500, 1000, 500  # of each reader; 20,000 in all
MEMORY = 100 * 2**20  # bytes of address space beyond what the process has when an input comes
SECONDS = 1.0  # of processor time for what is refused
HANGS = 30.0  # seconds by the clock for anything


class Hang(BaseException):
    """The timer has gone off. Not an Exception, so that no command takes it for its own."""


def fuzz(folder: Path, scale: float) -> Figures:
    report = folder / "report.json"
    child = in_child(lambda: report.write_text(json.dumps(_all(folder, scale))))
    finished = ended_well(child)
    counts: dict[str, Any] = json.loads(report.read_text()) if finished else {}
    total = counts.get("inputs", 0)
    wanted = sum(number for number, _, _ in _plan(scale, {}, folder, None))
    yield Figure("bad inputs tried", f"≥ {wanted}", str(total), finished and total >= wanted)
    for name, what in (
        ("untyped", "errors that are not dpaudit's"),
        ("hung", f"not done in {HANGS:.0f} s"),
        ("slow", f"refused after {SECONDS:.0f} s"),
        ("memory", "more than 100 MB"),
    ):
        yield Figure(f"… {what}", "0", str(counts.get(name, "?")), counts.get(name, 1) == 0)
    yield Figure("… answered, and refused", "", f"{counts.get('answered')}, {counts.get('refused')}")
    for example in counts.get("examples", [])[:10]:
        print(f"    {example}", flush=True)


def _plan(scale: float, good: dict[str, bytes], folder: Path, mark: Any) -> list[tuple[int, Any, Callable[[Any], bool]]]:
    """How many inputs, from which strategy, and what to do with one: True if it was answered, False if refused."""

    def few(number: int) -> int:
        return max(5, round(number * scale))

    plan: list[tuple[int, Any, Callable[[Any], bool]]] = [
        (few(COMMANDS), command_lines(), _run),
        (few(JSON), json_texts, read_json),
    ]
    for name in READERS:
        plan.append((few(EDITS), edited(good.get(name, b"x")), lambda data, name=name: read_fuzzed(name, data, folder, mark)))
    for name in DOCUMENTS:
        lines = documents(good, name) if good else [0]
        plan.append((few(LEAVES), other_leaves(lines), lambda data, name=name: read_documents(name, data, folder, mark)))
    return plan


class Untyped(Exception):
    """A command ended with a traceback, an internal error or a code that is not documented."""


def _run(words: list[str]) -> bool:
    code, problem = run_command_line(words)
    if "not enough memory" in problem:
        raise MemoryError
    if problem:
        raise Untyped(problem)
    return code != 2


def _all(folder: Path, scale: float) -> dict[str, Any]:
    good = prepare(folder)
    os.chdir(folder)
    mark, counts, examples = json.loads(good["mark.json"]), Counter[str](), []
    signal.signal(signal.SIGALRM, _hang)
    for command in (
        ["audit", "subjects.py:noisy", "--samples", "100"],
        ["account", "releases.jsonl"],
        ["invert", "--epsilon", "1", "--n", "100", "--delta", "0.1"],
    ):
        run_command_line(command)  # loads what every command needs
    for number, strategy, read in _plan(scale, good, folder, mark):
        limits = settings(max_examples=number, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        seed(20_000)(limits(given(strategy)(_counting(read, counts, examples))))()
    return {
        **{name: counts[name] for name in ("inputs", "answered", "refused", "untyped", "hung", "slow", "memory")},
        "examples": examples,
    }


def _counting(read: Callable[[Any], bool], counts: Counter[str], examples: list[str]) -> Callable[[Any], None]:
    def one(data: Any) -> None:
        kind = _judge(read, data)
        counts["inputs"] += 1
        counts[kind] += 1
        if kind not in ("answered", "refused"):
            examples.append(f"{kind}: {str(data)[:300]}")

    return one


def _judge(read: Callable[[Any], bool], data: Any) -> str:
    started, (_, most) = time.process_time(), resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, most))
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        answered = read(data)
    except Hang:
        return "hung"
    except MemoryError:
        return "memory"
    except Exception:
        return "untyped"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if answered:
        return "answered"
    return "slow" if time.process_time() - started > SECONDS else "refused"


def _hang(*_: Any) -> None:
    raise Hang
