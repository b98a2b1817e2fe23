"""The live door for a service with an event loop: the same door, in a thread of its own, so that nothing blocks the loop.

async with dp.alive("service.ledger", budget="1") as channel:
    noisy = await channel.release("sum", sealed.sum(), dp.Laplace(scale=2), sensitivity=2)
    ranked = await channel.call(rank.run, sealed)        # a whole subject behind the door

One thread serves one door: releases are charged, drawn and written one after the other, in the order in which they were asked.
A task that is cancelled before its release has begun spends nothing. One that is cancelled later only stops waiting: what was
charged stays charged, and under a ``key`` what was stored is handed out again. Leaving the block waits for what was begun.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from contextvars import copy_context
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from dpaudit.channel import Channel
from dpaudit.claims import DpauditError
from dpaudit.deployment.doors import live
from dpaudit.ledger import Ledger, open_ledger

Verb = TypeVar("Verb", bound=Callable[..., Coroutine[Any, Any, Any]])
_OURS = (__file__, concurrent.futures.thread.__file__)  # frames between whoever awaits and what is run


def _discreet(verb: Verb) -> Verb:
    """Errors leave without the frames of this module: their locals may hold a private value, and reporters keep them."""

    @wraps(verb)
    async def outermost(self: Any, *arguments: Any, **terms: Any) -> Any:
        try:
            return await verb(self, *arguments, **terms)
        except BaseException as error:
            failure = error
        del arguments, terms  # this frame is the one that stays
        raise failure.with_traceback(_beyond(failure.__traceback__))

    return cast(Verb, outermost)


def _beyond(trace: TracebackType | None) -> TracebackType | None:
    """What lies beyond our own frames: those of a function that ``call`` was given."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _OURS:
        trace = trace.tb_next
    return trace


class AsyncChannel:
    """A live channel whose verbs are awaited; ``call`` for everything that needs the channel itself."""

    def __init__(self, channel: Channel, thread: ThreadPoolExecutor) -> None:
        self._channel, self._thread, self._open = channel, thread, True

    @_discreet
    async def release(self, name: str, value: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.release``."""
        return await self._in_thread(self._channel.release, name, value, noise, **terms)

    @_discreet
    async def reports(self, name: str, values: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.reports``."""
        return await self._in_thread(self._channel.reports, name, values, noise, **terms)

    @_discreet
    async def select(self, name: str, scores: Any, **terms: Any) -> Any:
        """As ``channel.select``."""
        return await self._in_thread(self._channel.select, name, scores, **terms)

    @_discreet
    async def noisy_max(self, name: str, scores: Any, noise: Any, **terms: Any) -> Any:
        """As ``channel.noisy_max``."""
        return await self._in_thread(self._channel.noisy_max, name, scores, noise, **terms)

    @_discreet
    async def threshold_counts(self, name: str, keys: Any, **terms: Any) -> Any:
        """As ``channel.threshold_counts``."""
        return await self._in_thread(self._channel.threshold_counts, name, keys, **terms)

    @_discreet
    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments, channel)`` in the door's thread: a subject's ``run``, samples, trees, sparse vectors."""
        return await self._in_thread(function, *arguments, self._channel)

    def _in_thread(self, function: Callable[..., Any], *arguments: Any, **terms: Any) -> Awaitable[Any]:
        """Whoever stops waiting takes it out of the queue; once begun, it is not torn apart."""
        if not self._open:
            raise DpauditError("this door is closed: its async with block was left")
        work = partial(copy_context().run, function, *arguments, **terms)
        return asyncio.get_running_loop().run_in_executor(self._thread, work)


@asynccontextmanager
async def alive(ledger: Ledger | str | Path, budget: Any = None, **terms: Any) -> AsyncIterator[AsyncChannel]:
    """``dp.live`` for an event loop, with its options. ``ledger``: an open one; a path or address is opened and closed here."""
    loop, opened = asyncio.get_running_loop(), ExitStack()
    thread = ThreadPoolExecutor(1, thread_name_prefix="dpaudit-door")

    def open_door() -> Channel:
        book = ledger if isinstance(ledger, Ledger) else opened.enter_context(open_ledger(ledger))
        return opened.enter_context(live(book, budget, **terms))

    channel: AsyncChannel | None = None
    try:
        channel = AsyncChannel(await asyncio.shield(loop.run_in_executor(thread, open_door)), thread)
        yield channel
    finally:
        if channel is not None:
            channel._open = False
        try:
            await _through(loop.run_in_executor(thread, opened.close))  # behind all that was asked
        finally:
            thread.shutdown(wait=False)


async def _through(work: asyncio.Future[Any]) -> None:
    """Wait until it is done, however often the task is cancelled meanwhile; then that is told."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    work.result()
    if cancelled is not None:
        raise cancelled
