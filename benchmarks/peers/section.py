"""The section of benchmarks/README.md that shows peers side by side, and how everybody's cost grows."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.peers.environments import HERE, Environment
from benchmarks.peers.measured import REPEATS, Measured
from benchmarks.peers.tasks import TASKS, Task

TITLE = "## Side by side with peers"
HEAD = (
    "Measured on {} by `make bench-peers`: CPU time on one thread, median of {} runs that took turns (least–most); short calls "
    "are repeated within a run until they take 50 ms together, everybody's alike. Cost grows as a power of the size: the "
    "exponent is the slope of a line through the medians on logarithmic axes."
)
AUDITS = (
    "In audits everybody's time includes the draws. dpaudit learns its score and thresholds from a fifth of the runs, whatever "
    "the outputs are; jax-privacy takes one number as the score and tries all thresholds; privacy-estimates is told one. "
    "Of a training's noise jax-privacy knows that it is Gaussian, and has a formula; dpaudit accounts for the curve of the "
    "releases in the ledger, at every noise that it tries. StatDP, DP-Sniper and DP-Auditorium are not on the package index."
)
ALONE = "**Growth of what no peer does**"


def time_text(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def markdown(found: Sequence[Measured], environments: Sequence[Environment], date: str) -> str:
    """The section, from its title on."""
    lines = [TITLE, "", HEAD.format(date, REPEATS), "", "| peer | version | |", "| --- | --- | --- |"]
    lines += [f"| {each.name} | {each.version} | {each.failure or 'installed'} |" for each in environments]
    for name, task in TASKS.items():
        if task.peers:
            lines += _compared(name, task, [one for one in found if one.task == name])
    lines += ["", AUDITS, "", ALONE, "", "| work | size | values | CPU | exponent |", "| --- | --- | --- | --- | --- |"]
    lines += [_alone(task, [one for one in found if one.task == name]) for name, task in TASKS.items() if not task.peers]
    return "\n".join(lines) + "\n"


def _compared(name: str, task: Task, found: Sequence[Measured]) -> list[str]:
    lines = ["", f"**{task.title}**", "", f"| {task.size} | who | value | CPU | × ours |", "| --- | --- | --- | --- | --- |"]
    for one in found:
        if one.failure:
            lines.append(f"| {one.size:,} | {one.peer} | {one.failure} | | |")
            continue
        own = next((each.median for each in found if (each.peer, each.size) == ("dpaudit", one.size)), math.nan)
        value = f"{one.value:.6g}" if task.has_value else ""
        spread = f"{time_text(one.median)} ({time_text(min(one.seconds))}–{time_text(max(one.seconds))})"
        lines.append(f"| {one.size:,} | {one.peer} | {value} | {spread} | {_ratio(one.median / own)} |")
    grown = ", ".join(f"{peer} {slope:.2f}" for peer, slope in exponents(found))
    return [*lines, "", f"Growth with {task.size}: {grown}."]


def _ratio(ratio: float) -> str:
    return f"{ratio:,.1f}" if ratio >= 1 else f"{ratio:.2g}"


def _alone(task: Task, found: Sequence[Measured]) -> str:
    if any(one.failure for one in found):
        return f"| {task.title} | {task.size} | {found[0].failure} | | |"
    sizes, values = (", ".join(texts) for texts in zip(*((f"{one.size:,}", f"{one.value:.4g}") for one in found), strict=True))
    times, slopes = ", ".join(time_text(one.median) for one in found), dict(exponents(found))
    return f"| {task.title} | {task.size} = {sizes} | {values} | {times} | {slopes['dpaudit']:.2f} |"


def exponents(found: Sequence[Measured]) -> Iterator[tuple[str, float]]:
    """Of everybody who did the work at two sizes at least: the slope of log CPU in log size, by least squares."""
    for peer in dict.fromkeys(one.peer for one in found):
        points = [(math.log(one.size), math.log(one.median)) for one in found if one.peer == peer and not one.failure]
        if len(points) > 1:
            yield peer, statistics.linear_regression(*zip(*points, strict=True)).slope


def write(title: str, section: str) -> None:
    """Put the section into benchmarks/README.md; others' sections stay."""
    path = HERE.parent / "README.md"
    text = path.read_text() if path.exists() else "# Benchmarks\n\n"
    pattern = re.compile(re.escape(title) + r"\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    path.write_text(
        pattern.sub(lambda _: section + "\n", text).rstrip() + "\n" if title in text else text.rstrip() + "\n\n" + section
    )
