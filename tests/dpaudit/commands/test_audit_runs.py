"""``dpaudit audit`` with ``--sequential``, ``--workers``, ``--scheduler``, and what Ctrl-C leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpaudit.cli import main

Interrupted = Callable[..., subprocess.CompletedProcess[str]]
SUBJECTS = """
import time
from pathlib import Path
import dpaudit as dp

bit = [([1.0], [0.0])]

@dp.subject(claim=dp.Claim("1"), neighbours=bit)
def half(data, rng, trials):
    return data[0] + rng.laplace(scale=0.5, size=trials)

@dp.subject(claim=dp.Claim("1", arithmetic="ideal"), neighbours=bit)
def honest(data, rng, trials):
    return data[0] + rng.laplace(size=trials)

@dp.subject(claim=dp.Claim("1"), neighbours=bit)
def slow(data, rng):
    time.sleep(0.001)
    Path("running").touch()
    return data[0] + rng.laplace()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "subjects.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["audit", *options, "--seed", "1", "--format", "json"])
    return code, {**json.loads(capsys.readouterr().out), "seconds": 0}


@pytest.mark.usefixtures("folder")
def test_a_sequential_audit_stops_when_it_has_seen_enough(capsys: pytest.CaptureFixture[str]) -> None:
    code, half = audited(capsys, "subjects.py:half", "--sequential")
    assert (code, half["verdict"]) == (1, "refuted")
    assert half["witness"]["draws"] < 2000
    assert half["lower"]["method"].startswith("e-process")
    code, honest = audited(capsys, "subjects.py:honest", "--sequential", "--samples", "5000")
    assert (code, honest["verdict"]) == (3, "unproven")
    assert honest["lower"]["samples"] == 5000
    assert honest["lower"]["epsilon"] <= 1


@pytest.mark.usefixtures("folder")
def test_the_number_of_workers_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (audited(capsys, "subjects.py:half", "--workers", workers) for workers in ("1", "2"))
    assert one == two


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("workers", ["0", "-1", "many", "1.5"])
def test_a_senseless_number_of_workers_is_refused(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "subjects.py:half", "--workers", workers]) == 2
    assert "workers must be" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://", "tcp://127.0.0.1", "tcp://host:port"])
def test_a_scheduler_that_cannot_be_used_is_named(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "subjects.py:half", "--scheduler", address]) == 2
    told = capsys.readouterr().err
    assert address in told
    assert len(told.splitlines()) == 1


@pytest.fixture
def cluster() -> Iterator[str]:
    """A real scheduler with two worker processes."""
    import distributed  # of the extra "scheduler": without it this test fails, it is not skipped

    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    try:
        yield local.scheduler_address
    finally:
        local.close(timeout=20)


@pytest.mark.usefixtures("folder")
def test_a_scheduler_gives_the_same_results(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ((), ("--sequential",)):
        here = audited(capsys, "subjects.py:half", "--samples", "30000", *more)
        assert audited(capsys, "subjects.py:half", "--samples", "30000", "--scheduler", cluster, *more) == here


@pytest.fixture
def interrupted(folder: Path, start_child: Callable[..., subprocess.Popen[str]]) -> Interrupted:
    """The command, with Ctrl-C to its whole group after it has run for a second, as a terminal sends it."""

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dpaudit.cli", "audit", "subjects.py:slow", "--samples", "1000000", "--seed", "1"]
        process = start_child([*command, *options], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(1200):
            if (folder / "running").exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return run


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_reports_what_a_sequential_audit_has_learned(interrupted: Interrupted, workers: str) -> None:
    done = interrupted("--sequential", "--workers", workers, "--format", "json")
    assert done.returncode == 3, done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["verdict"] == "unproven"
    assert "interrupted after" in verdict["reason"]
    assert verdict["lower"]["samples"] > 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_in_a_game_concludes_nothing_and_says_so(interrupted: Interrupted, workers: str) -> None:
    done = interrupted("--workers", workers)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["dpaudit: interrupted; nothing was concluded about slow"]
