"""``dpaudit serve`` in a process of its own: what it shows is what ``account`` says, and nothing can be changed through it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    place = tmp_path / "today.ledger"
    spend(place)
    return place


def spend(place: Path) -> None:
    with dp.open_ledger(place) as opened, dp.live(opened, "3") as channel:
        channel.release("sum", dp.seal(np.linspace(-1, 1, 9), -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)


@pytest.fixture
def address(ledger: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "dpaudit", "serve", str(ledger), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 0


def get(address: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return str(answer.read().decode())


def test_the_page_the_figures_and_the_metrics(address: str, ledger: Path) -> None:
    assert "<html" in get(address)
    assert json.loads(get(address + "account.json"))["epsilon"] == "1"
    metrics = get(address + "metrics").splitlines()
    assert 'dpaudit_epsilon_spent{observer="server"} 1.0' in metrics
    assert {"dpaudit_epsilon_budget 3.0", "dpaudit_epsilon_left 2.0", "dpaudit_releases 1"} <= set(metrics)
    spend(ledger)
    assert json.loads(get(address + "account.json"))["epsilon"] == "2"
    assert "dpaudit_epsilon_left 1.0" in get(address + "metrics")


def test_refusals_are_shown_without_a_new_entry(address: str, ledger: Path) -> None:
    assert 'dpaudit_refusals_total{reason="budget"} 0' in get(address + "metrics")
    assert "Refusals" not in get(address)
    with dp.open_ledger(ledger) as opened, dp.live(opened) as channel:
        for _ in range(3):
            with pytest.raises(dp.BudgetExceeded):
                channel.release("refused-name", 0.0, dp.Laplace(scale=1), sensitivity=5)
    assert 'dpaudit_refusals_total{reason="budget"} 3' in get(address + "metrics")
    page = get(address)
    assert "3 releases were refused before any noise was drawn" in page
    assert "refused-name" not in page
    assert json.loads(get(address + "account.json"))["epsilon"] == "1"


@pytest.mark.parametrize(
    ("path", "headers", "code"),
    [("nothing", {}, 404), ("../today.ledger", {}, 404), ("", {"Host": "elsewhere.example:80"}, 403)],
)
def test_nothing_else_is_served(address: str, path: str, headers: dict[str, str], code: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(address + path, **headers)
    assert refused.value.code == code


def test_nothing_can_be_sent(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address, data=b"x", method="POST"), timeout=60)
    assert refused.value.code == 501


@pytest.mark.parametrize("more", [["missing.ledger"], ["--port", "70000"], ["--port", "many"], ["--host", "203.0.113.1"]])
def test_what_cannot_be_served_is_said_at_once(ledger: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    target = [] if more[0].endswith(".ledger") else [str(ledger)]
    assert main(["serve", *target, *more]) == 2
    assert capsys.readouterr().err


def test_a_folder_of_periods_is_told_from_a_ledger_that_is_missing(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(ledger.parent)]) == 2
    assert f"one for each period; name one, such as {ledger}" in capsys.readouterr().err
    assert main(["serve", str(ledger.parent / "missing")]) == 2
    assert "no such ledger" in capsys.readouterr().err
