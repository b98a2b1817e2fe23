"""The service as its clients see it: a real server on the loopback, real requests, kill -9 in the middle of a batch."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpaudit as dp

CANARY = 0.736157  # a reward that nobody else sends
HERE = Path(__file__).parent


class Running:
    """A server and a client for it."""

    def __init__(self, process: subprocess.Popen[bytes], client: httpx.Client, log: Path) -> None:
        self.process, self.client, self.log = process, client, log

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.client.post(path, json=body)

    def tickets(self) -> list[dict[str, Any]]:
        """All of the open batch that are not handed out yet."""
        found: list[dict[str, Any]] = []
        while (answer := self.post("/select")).status_code == 200:
            if found and answer.json()["batch"] != found[0]["batch"]:
                raise AssertionError("a batch opened while the one before it was waiting")
            found.append(answer.json())
        assert answer.status_code == 409, answer.text
        return found

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        self.client.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Running]]:
    started: list[Running] = []

    def serve() -> Running:
        port, log = free_port(), tmp_path / f"log {len(started)}"
        command = [sys.executable, "-m", "uvicorn", "--factory", "service:create_app", "--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, "BANDIT_FOLDER": str(tmp_path), "BANDIT_EPSILON": "20", "BANDIT_HORIZON": "300"}
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=HERE, env=environment, stdout=file, stderr=file)
        running = Running(process, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60), log)
        started.append(running)
        for _ in range(600):
            if process.poll() is not None:
                raise AssertionError(log.read_text(encoding="utf-8"))
            try:
                running.client.get("/budget")
                return running
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError("it did not start")

    yield serve
    for running in started:
        running.stop(signal.SIGKILL)


def releases(folder: Path) -> list[str]:
    with dp.open_ledger(folder / "bandit.ledger", readonly=True) as ledger:
        return [release.name for release in ledger.releases()]


def test_a_run_with_a_kill_in_the_middle_of_a_batch(start: Callable[[], Running], tmp_path: Path) -> None:
    server = start()
    first = server.tickets()
    for ticket in reversed(first):  # out of order, each twice
        answers = [server.post("/update", ticket=ticket["ticket"], reward=CANARY) for _ in range(2)]
        assert [answer.json() for answer in answers] == [{"counted": True}, {"counted": False}]
    assert releases(tmp_path) == ["batch 1"]
    assert server.client.get("/budget").json()["spent"]["epsilon"] == "20"

    cut = server.tickets()
    for ticket in cut[: len(cut) // 2]:
        server.post("/update", ticket=ticket["ticket"], reward=-CANARY)
    server.stop(signal.SIGKILL)

    server = start()
    assert server.post("/update", ticket=cut[-1]["ticket"], reward=1).status_code == 404, "of before the restart"
    again = server.tickets()
    assert [(t["action"], t["round"], t["batch"]) for t in again] == [(t["action"], t["round"], t["batch"]) for t in cut]
    assert releases(tmp_path) == ["batch 1"], "nothing of the batch that was cut short was released or charged"
    for ticket in again[1:]:
        server.post("/update", ticket=ticket["ticket"], reward=CANARY)
    assert server.post("/finish").json() == {"stood_in": 1}, "a reward that never came"
    assert releases(tmp_path) == ["batch 1", "batch 2"]
    assert server.client.get("/budget").json() == {
        "spent": {"epsilon": "20", "delta": "0"},
        "budget": {"epsilon": "20", "delta": "0"},
    }
    told = server.client.get("/metrics").text
    assert 'dpaudit_releases_total{mechanism="laplace",to="server"} 1.0' in told
    assert 'dpaudit_spent_epsilon{ledger="bandit"} 20.0' in told
    server.stop()
    left = [file for file in tmp_path.iterdir() if file.is_file()]
    assert {"bandit.json", "bandit.ledger"} <= {file.name for file in left}
    assert [file.name for file in left if str(CANARY).encode() in file.read_bytes()] == [], "in no log, ledger or state"
    assert str(CANARY) not in told


def test_many_clients_at_once(start: Callable[[], Running], tmp_path: Path) -> None:
    server = start()

    def visit(_: int) -> int:
        chosen = server.post("/select")
        if chosen.status_code == 200:
            assert server.post("/update", ticket=chosen.json()["ticket"], reward=1.0).status_code == 200
        return chosen.status_code

    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(visit, range(120)))
    assert set(answers) <= {200, 409}
    assert answers.count(200) > 60
    assert releases(tmp_path)[:1] == ["batch 1"]
    assert server.client.get("/budget").json()["spent"]["epsilon"] == "20", "batches are of different visitors"


def test_a_refusal_is_answered_by_429(start: Callable[[], Running], tmp_path: Path) -> None:
    """Somebody else has spent half of the visitors' budget, on the same ledger: no batch is within it any more."""
    with dp.open_ledger(tmp_path / "bandit.ledger") as ledger, dp.live(ledger, "20") as channel:
        channel.release("survey", dp.seal([1.0] * 300, -1, 1).sum(), dp.Laplace(scale="1/5"), sensitivity=2)
    server = start()
    tickets = server.tickets()
    answers = [server.post("/update", ticket=ticket["ticket"], reward=CANARY) for ticket in tickets]
    assert {answer.status_code for answer in answers[:-1]} == {200}
    refused = answers[-1]
    assert refused.status_code == 429
    body = refused.json()
    assert (body["error"], body["rule"]) == ("budget exceeded", "DPA001")
    assert body["budget"] == {"epsilon": "20", "delta": "0"}
    assert body["would_cost"] == {"epsilon": "30", "delta": "0"}
    assert "batch 1" in body["message"]
    assert releases(tmp_path) == ["survey"]
    assert 'dpaudit_refused_total{mechanism="laplace",to="server"} 1.0' in server.client.get("/metrics").text
    server.stop()
    assert str(CANARY) not in server.log.read_text(encoding="utf-8") + refused.text


def test_the_loop_answers_others_while_the_ledger_is_locked(start: Callable[[], Running], tmp_path: Path) -> None:
    """Another process holds the ledger's write lock when a batch is closed: that request waits, and no other one does."""
    server = start()
    *others, last = server.tickets()
    for ticket in others:
        server.post("/update", ticket=ticket["ticket"], reward=1)
    lock = sqlite3.connect(tmp_path / "bandit.ledger", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as clients:
        closing = clients.submit(server.post, "/update", ticket=last["ticket"], reward=1)
        for _ in range(5):
            time.sleep(0.1)
            assert server.client.get("/openapi.json").status_code == 200
        assert not closing.done(), "it waits for the ledger"
        lock.execute("ROLLBACK")
        assert closing.result(60).json() == {"counted": True}
    lock.close()
    assert releases(tmp_path) == ["batch 1"]


UNREADABLE = [{"ticket": "x"}, {"ticket": "x", "reward": f"{CANARY}?"}, [CANARY], {"ticket": [CANARY]}, {str(CANARY): 1}]


def test_what_cannot_be_read_is_not_repeated(start: Callable[[], Running]) -> None:
    server = start()
    for body in UNREADABLE:
        answer = server.client.post("/update", json=body)
        assert (answer.status_code, set(answer.json())) == (422, {"error", "fields"})
        assert str(CANARY) not in answer.text
    assert server.post("/update", ticket=f"{CANARY}", reward=1).status_code == 404
    server.stop()
    assert str(CANARY) not in server.log.read_text(encoding="utf-8")
