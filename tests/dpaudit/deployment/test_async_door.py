"""The door of an event loop is the live door: same budget, same ledger; and the loop goes on while it works."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import Callable
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


def doors() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("dpaudit-door")]


def test_a_release_that_was_cancelled_before_it_began_spends_nothing(tmp_path: Path) -> None:
    async def service() -> None:
        begun, go_on = threading.Event(), threading.Event()

        def first(channel: Any) -> None:
            begun.set()
            assert go_on.wait(30)

        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            busy = asyncio.create_task(channel.call(first))
            await asyncio.to_thread(begun.wait, 30)
            queued = asyncio.create_task(channel.release("sum", sealed().sum(), dp.Laplace(scale=2), **TERMS))
            await asyncio.sleep(0)
            queued.cancel()
            with pytest.raises(asyncio.CancelledError):
                await queued
            go_on.set()
            await busy

    asyncio.run(service())
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert ledger.spent()[0] == 0
        assert ledger.unused_charges() == []


def test_a_release_that_is_cancelled_in_its_middle_is_charged_and_stored_before_the_door_closes(tmp_path: Path) -> None:
    """Charged, then cancelled while noise is drawn: the ledger holds the charge and the release, each once."""

    async def service() -> None:
        charged, go_on = threading.Event(), threading.Event()

        def slow(channel: Any) -> Any:
            with pytest.MonkeyPatch.context() as patch:
                draw = type(channel._door).noise

                def late(*arguments: Any) -> Any:
                    charged.set()
                    assert go_on.wait(30)
                    return draw(*arguments)

                patch.setattr(type(channel._door), "noise", late)
                return channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)

        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            task = asyncio.create_task(channel.call(slow))
            await asyncio.to_thread(charged.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go_on.set()

    asyncio.run(service())
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert [release.name for release in ledger.releases()] == ["sum"]
        assert ledger.spent()[0] == 1
        assert ledger.unused_charges() == []


def test_a_service_that_is_cancelled_while_it_closes_goes_on_and_leaves_no_thread(tmp_path: Path) -> None:
    """The last release still runs when the block is left: the loop ticks, and a second cancellation does not skip the close."""
    ticks: list[float] = []

    async def service(channel_left: asyncio.Event, go_on: threading.Event) -> None:
        begun = threading.Event()

        def slow(channel: Any) -> None:
            begun.set()
            assert go_on.wait(30)
            channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)

        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            last = asyncio.create_task(channel.call(slow))
            await asyncio.to_thread(begun.wait, 30)
            last.cancel()
            channel_left.set()

    async def watcher() -> None:
        left, go_on = asyncio.Event(), threading.Event()
        task = asyncio.create_task(service(left, go_on))
        await left.wait()
        for _ in range(3):
            await asyncio.sleep(0.01)
            task.cancel()
            ticks.append(time.monotonic())
        assert not task.done(), "it still waits for what was begun"
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(watcher())
    assert len(ticks) == 3
    for _ in range(100):
        if not doors():
            break
        time.sleep(0.05)
    assert doors() == []
    with dp.open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert [release.name for release in ledger.releases()] == ["sum"]


def test_a_door_that_is_closed_says_so(tmp_path: Path) -> None:
    async def service() -> None:
        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            pass
        await channel.release("sum", sealed().sum(), dp.Laplace(scale=2), **TERMS)

    with pytest.raises(dp.DpauditError, match="closed"):
        asyncio.run(service())


CANARY = 771917 / 2**20


def kept_in(error: BaseException | None) -> list[str]:
    """Where a reporter that keeps locals would find the canary, in frames that are not this test's."""
    found = []
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename != __file__ and str(CANARY)[:10] in repr(list(frame.f_locals.values())):
                found.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
        error = error.__cause__ or error.__context__
    return found


REFUSED: dict[str, Callable[[Any], Any]] = {
    "release": lambda channel: channel.release("x", CANARY, dp.Laplace(scale=1), sensitivity=9),
    "no noise": lambda channel: channel.release("x", CANARY, None, sensitivity=9),
    "reports": lambda channel: channel.reports("x", [[CANARY], CANARY], dp.Laplace(scale=1), sensitivity=9),
    "select": lambda channel: channel.select("x", [CANARY, 1.0], epsilon="5", sensitivity=1),
    "noisy max": lambda channel: channel.noisy_max("x", [CANARY, 1.0], dp.Laplace(scale=1), sensitivity=9),
    "counts": lambda channel: channel.threshold_counts("x", [str(CANARY)], epsilon="5", delta="1e-6"),
    "call": lambda channel: channel.call(lambda data, door: door.release("x", data, None, sensitivity=9), CANARY),
    "cancelled": lambda channel: asyncio.wait_for(channel.call(lambda data, door: time.sleep(0.2), CANARY), 0.02),
}


@pytest.mark.parametrize("refusal", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_no_frame_of_the_door_keeps_a_private_value(tmp_path: Path, refusal: str) -> None:
    async def service() -> BaseException:
        async with dp.alive(tmp_path / "a.ledger", "1") as channel:
            try:
                await REFUSED[refusal](channel)
            except Exception as error:
                return error
        raise AssertionError("it was not refused")

    assert kept_in(asyncio.run(service())) == []
