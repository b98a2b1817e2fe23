"""The live door for a service with an event loop: the same door, in a thread of its own, so that nothing blocks the loop.

async with dp.alive("service.ledger", budget="1") as channel:
    noisy = await channel.release("sum", sealed.sum(), dp.Laplace(scale=2), sensitivity=2)
    ranked = await channel.call(rank.run, sealed)        # a whole subject behind the door

One thread serves one door: releases are charged, drawn and written one after the other, in the order in which they were asked.
A task that is cancelled while it waits does not undo its release: what was charged stays charged, and under a ``key`` what was
stored is handed out again. Leaving the block waits for what was begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any

from dpaudit.channel import Channel
from dpaudit.deployment.doors import live
from dpaudit.ledger import Ledger, open_ledger


class AsyncChannel:
    """A live channel whose verbs are awaited; ``call`` for everything that needs the channel itself."""

    def __init__(self, channel: Channel, thread: ThreadPoolExecutor) -> None:
        self._channel, self._thread = channel, thread

    async def release(self, name: str, value: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.release``."""
        return await self._in_thread(self._channel.release, name, value, noise, **terms)

    async def reports(self, name: str, values: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.reports``."""
        return await self._in_thread(self._channel.reports, name, values, noise, **terms)

    async def select(self, name: str, scores: Any, **terms: Any) -> Any:
        """As ``channel.select``."""
        return await self._in_thread(self._channel.select, name, scores, **terms)

    async def noisy_max(self, name: str, scores: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.noisy_max``."""
        return await self._in_thread(self._channel.noisy_max, name, scores, noise, **terms)

    async def threshold_counts(self, name: str, keys: Any, **terms: Any) -> Any:
        """As ``channel.threshold_counts``."""
        return await self._in_thread(self._channel.threshold_counts, name, keys, **terms)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments, channel)`` in the door's thread: a subject's ``run``, samples, trees, sparse vectors."""
        return await self._in_thread(function, *arguments, self._channel)

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any, **terms: Any) -> Any:
        context = copy_context()
        begun = asyncio.get_running_loop().run_in_executor(self._thread, lambda: context.run(function, *arguments, **terms))
        return await asyncio.shield(begun)  # a cancelled task stops waiting; the release is not torn apart


@asynccontextmanager
async def alive(ledger: Ledger | str | Path, budget: Any = None, **terms: Any) -> AsyncIterator[AsyncChannel]:
    """``dp.live`` for an event loop, with its options. ``ledger``: an open one; a path or address is opened and closed here."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="dpaudit-door") as thread:
        opened = ExitStack()

        def open_door() -> Channel:
            book = ledger if isinstance(ledger, Ledger) else opened.enter_context(open_ledger(ledger))
            return opened.enter_context(live(book, budget, **terms))

        try:
            yield AsyncChannel(await loop.run_in_executor(thread, open_door), thread)
        finally:
            await asyncio.shield(loop.run_in_executor(thread, opened.close))
