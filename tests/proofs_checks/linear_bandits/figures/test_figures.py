"""The figures: their data, their drawing, and what is read off them."""

from __future__ import annotations

import csv
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import exact
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.rewards import Stochastic
from proofs_checks.linear_bandits.figures import __main__ as figures
from proofs_checks.linear_bandits.figures.readings import central_close, converges, core_set, shuffled_close
from proofs_checks.linear_bandits.figures.regret_data import core_spot, instances, ratio, spot, wanted
from proofs_checks.linear_bandits.figures.peers import no_core_set, phased_elimination

pytestmark = pytest.mark.slow

AS_PRINTED = [
    (converges, "conditional"),
    (central_close, "conditional"),
    (shuffled_close, "conditional"),
    (core_set, "conditional"),
]
PLANTED = [
    (converges, {"limit": ("1", "2")}, "refuted"),
    (central_close, {"model": "local"}, "refuted"),
    (shuffled_close, {"model": "local"}, "refuted"),
    (shuffled_close, {"close": 5.0}, "verified"),
    (core_set, {"epsilons": ("0.01",)}, "verified"),
    (core_set, {"epsilons": ("10",)}, "refuted"),
]


@pytest.mark.parametrize(("check", "verdict"), AS_PRINTED)
def test_the_figure_as_printed(check, verdict):
    found = check(True)
    assert found.verdict == verdict
    assert "quick; 1000 without --quick" in found.evidence["setting"]
    for figure in found.evidence["figures"]:
        assert len(figure["svg"]) < 100_000
        assert "seed" in figure["caption"]
        ElementTree.fromstring(figure["svg"])


@pytest.mark.parametrize(("check", "planted", "verdict"), PLANTED)
def test_a_planted_curve_turns_the_verdict(check, planted, verdict):
    assert check(True, **planted).verdict == verdict


@pytest.mark.parametrize("epsilon", [0.02, 5.0])
@pytest.mark.parametrize("calibration", ["printed", "corrected"])
def test_no_core_set_has_the_law_of_the_algorithms_own_design(epsilon, calibration):
    """400 runs on 400 instances: means agree within 5 standard errors of the paired difference, an error rate of 10^-6."""
    points, means = instances(400, 30, 4)
    mine = no_core_set(points, means, 10**5, epsilon, calibration, np.random.default_rng(1))
    setting = Setting(points, 10**5, calibration, design="all")
    with dp.simulate(2, trials=400) as channel:
        other = run(
            setting, Central(exact(epsilon), calibration), Stochastic(means, np.random.default_rng(3)), channel
        ).regret(means)
    difference = mine - other
    assert abs(difference.mean()) <= 5 * difference.std(ddof=1) / 20 + 1e-9
    assert abs(1.3 * mine.mean() - other.mean()) > 5 * difference.std(ddof=1) / 20  # 30 % more would be seen


def test_without_noise_or_a_core_set_the_tight_width_is_that_of_the_algorithm():
    points, means = instances(50, 20, 5)
    mine = no_core_set(points, means, 10**5, float("inf"), "tight", np.random.default_rng(1))
    with dp.simulate(2, trials=50) as channel:
        setting = Setting(points, 10**5, "tight", design="all")
        other = run(setting, NonPrivate(), Stochastic(means, np.random.default_rng(3)), channel).regret(means)
    assert mine.mean() == pytest.approx(other.mean(), rel=0.1)


def test_phased_elimination_plays_the_whole_horizon_and_learns():
    points, means = instances(100, 10, 6)
    short, long = (phased_elimination(points, means, horizon, np.random.default_rng(1)) for horizon in (10**4, 10**8))
    worst = (means.max(axis=1) - means.min(axis=1)) * 10**4
    assert (short <= worst).all()
    assert long.mean() < 100 * short.mean()  # √T: the horizon is 10^4 times as long


def test_every_row_of_a_figure_has_the_same_instances():
    a, b = spot("central", "printed", "1", 50), spot("central", "printed", "1000000", 50)
    value, error = ratio(a, b)
    apart = np.sqrt(a.error**2 + b.error**2) / b.mean
    assert value > 1
    assert error < apart / 2


def test_the_figures_are_written_as_csv_svg_and_png(tmp_path):
    points = [spot("central", c, e, 20) for c in ("printed", "tight") for e in ("1", "10")] + [
        spot("nonprivate", "printed", None, 20)
    ]
    core = [core_spot("core set", "printed", e, 2, actions=1000, horizon=10**4) for e in ("1", "10")]
    for path in figures.write([*points, *core], tmp_path):
        assert path.stat().st_size > 100
    with (tmp_path / "regret.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["mean"]) for row in rows] == pytest.approx([point.mean for point in points], abs=0.1)
    assert (tmp_path / "regret.png").read_bytes().startswith(b"\x89PNG")
    names = [element.get("id") for element in ElementTree.parse(tmp_path / "regret.svg").iter() if element.get("id")]
    assert len(names) == len(set(names))


def test_both_figures_have_every_curve_in_every_calibration():
    keys = {(function.__name__, curve, calibration) for function, curve, calibration, _ in wanted()}
    assert len(keys) == 3 * (4 + 3) + 1


def test_make_figures_starts_workers_that_find_their_work(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "proofs_checks.linear_bandits.figures", "--instances", "1", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{ending}" for name in ("regret", "core-set") for ending in ("csv", "svg", "png")
    }
