"""The section that shows peers side by side: growth is a fitted power, ratios are to ours, failures are told."""

from __future__ import annotations

import pytest

from benchmarks.peers.environments import Environment
from benchmarks.peers.measured import Measured
from benchmarks.peers.section import exponents, markdown
from benchmarks.peers.tasks import TASKS

DONE = [
    Measured(peer, name, size, 1.25, (seconds * size**power,) * 5)
    for name, task in TASKS.items()
    for size in task.sizes
    for peer, seconds, power in (("dpaudit", 1e-6, 0.5), *((peer, 2e-6, 1.0) for peer in task.peers))
]


def test_growth_is_the_slope_of_a_line_on_logarithmic_axes() -> None:
    found = [Measured("a", "t", size, 0.0, (3e-6 * size**1.5,)) for size in (10, 100, 1000)]
    bent = [Measured("b", "t", size, 0.0, (seconds,)) for size, seconds in ((1, 1.0), (10, 10.0), (100, 10.0))]
    failed = [Measured("c", "t", size, failure="no") for size in (10, 100)]
    assert dict(exponents([*found, *bent, *failed])) == pytest.approx({"a": 1.5, "b": 0.5})


def test_every_task_is_shown_with_its_ratio_to_ours_and_a_failure_with_its_reason() -> None:
    failed = [Measured(one.peer, one.task, one.size, failure="does not install") if one.peer == "opacus" else one for one in DONE]
    text = markdown(failed, [Environment("opacus", "1", None, "does not install")], "2026-01-01")
    assert all(task.title in text for task in TASKS.values())
    assert "| 10 | dp-accounting | 1.25 | 20 µs (20 µs–20 µs) | 6.3 |" in text  # 2·10 against √10
    assert "| 10 | opacus | does not install | | |" in text
    assert "Growth with k: dpaudit 0.50, dp-accounting 1.00, prv-accountant 1.00" in text
