"""The door of an event loop is the live door: same budget, same ledger; and the loop goes on while it works."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp

DATA = np.linspace(-1, 1, 100)
TERMS: dict[str, Any] = {"sensitivity": 2}


def sealed() -> Any:
    return dp.seal(DATA, -1, 1)


def test_what_is_awaited_is_charged_and_written(tmp_path: Path) -> None:
    async def service() -> Any:
        async with dp.alive(tmp_path / "a.ledger", "2") as channel:
            noisy = await channel.release("sum", sealed().sum(), dp.Laplace(scale=2), **TERMS)
            return noisy, await channel.select("best", [1.0, 5.0], epsilon="1", sensitivity=1)

    noisy, best = asyncio.run(service())
    assert isinstance(float(noisy), float)
    assert int(best) in (0, 1)
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert [release.name for release in ledger.releases()] == ["sum", "best"]
        assert ledger.spent()[0] == 2


def test_many_tasks_never_exceed_the_budget(tmp_path: Path) -> None:
    async def service() -> list[Any]:
        async with dp.alive(tmp_path / "a.ledger", "5") as channel:
            asked = [channel.release(f"sum {i}", sealed().sum(), dp.Laplace(scale=2), **TERMS) for i in range(12)]
            return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(service())
    assert sum(isinstance(answer, dp.BudgetExceeded) for answer in answers) == 7
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert ledger.spent()[0] == 5


def test_the_loop_goes_on_while_the_door_works(tmp_path: Path) -> None:
    def slow(channel: Any) -> str:
        time.sleep(0.3)
        return type(channel).__name__

    async def service() -> tuple[int, str]:
        ticks = 0
        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            work = asyncio.create_task(channel.call(slow))
            while not work.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return ticks, await work

    ticks, name = asyncio.run(service())
    assert ticks > 3, "a blocked loop would tick once"
    assert name == "Channel"


def test_a_subject_runs_behind_it(tmp_path: Path) -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=100, low=-1, high=1))
    def noisy_sum(rewards: Any, channel: Any) -> Any:
        return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)

    async def service() -> Any:
        with dp.open_ledger(tmp_path / "a.ledger") as ledger:
            async with dp.alive(ledger, "1", proven=True) as channel:
                return await channel.call(noisy_sum.run, sealed())

    assert isinstance(float(asyncio.run(service())), float)


def test_a_cancelled_wait_does_not_tear_a_release_apart(tmp_path: Path) -> None:
    def slow(channel: Any) -> Any:
        time.sleep(0.2)
        return channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2, key="once")

    async def service() -> tuple[Any, Any]:
        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(channel.call(slow), timeout=0.05)
            again = [await channel.release("sum", sealed().sum(), dp.Laplace(scale=2), key="once", **TERMS) for _ in range(2)]
            return again[0], again[1]

    first, second = asyncio.run(service())
    assert first == second, "what was stored is handed out again, at no cost"
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert ledger.spent()[0] == 1


def test_a_door_that_cannot_open_says_so_and_leaves_no_thread(tmp_path: Path) -> None:
    async def service() -> None:
        async with dp.alive(tmp_path / "missing" / "a.ledger", "1"):
            pass

    with pytest.raises((dp.DpauditError, OSError)):
        asyncio.run(service())
