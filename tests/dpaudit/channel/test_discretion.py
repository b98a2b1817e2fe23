"""What a reporter that keeps the locals of every frame finds of private data when a live door refuses: nothing."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.ledger import MemoryLedger

UNITS = 771917
CANARY = UNITS / 2**20
PACKAGE = str(Path(dp.__file__).parent)
FORMS = (str(CANARY)[:12], str(UNITS), str(4 * UNITS), str(4 * CANARY)[:12], CANARY.hex())
LAPLACE = dp.Laplace(scale=2)

Refusal = Callable[[Any, Any], object]


def frames(error: BaseException | None) -> Iterator[FrameType]:
    """Every frame of dpaudit's that hangs on an error, on its cause or on its context."""
    while error is not None:
        yield from (frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename.startswith(PACKAGE))
        error = error.__cause__ or error.__context__


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """What a reporter writes of a local, and of what it holds."""
    yield repr(value)
    if isinstance(value, dict) and depth < 3:
        for each in value.values():
            yield from texts(each, depth + 1)
    elif isinstance(value, list | tuple | set) and depth < 3:
        for each in value:
            yield from texts(each, depth + 1)


def kept(error: BaseException) -> list[str]:
    """Where a reporter would keep the canary: file and name of the local."""
    return [
        f"{Path(frame.f_code.co_filename).name}: {name}"
        for frame in frames(error)
        for name, value in frame.f_locals.items()
        if any(form in text for text in texts(value) for form in FORMS)
    ]


PLAIN, SEALED = np.full(4, CANARY), "sealed"
REFUSALS: dict[str, Refusal] = {
    "over budget, plain": lambda channel, _: channel.release("x", PLAIN, LAPLACE, sensitivity=2),
    "over budget, a number": lambda channel, _: channel.release("x", CANARY, LAPLACE, sensitivity=2),
    "over budget, sealed": lambda channel, data: channel.release("x", data.sum(), LAPLACE, sensitivity=2),
    "sensitivity too small": lambda channel, data: channel.release("x", data.sum(), LAPLACE, sensitivity=Fraction(1, 100)),
    "no such observer": lambda channel, _: channel.release("x", CANARY, LAPLACE, sensitivity=2, to="nobody"),
    "no noise": lambda channel, _: channel.release("x", CANARY, CANARY, sensitivity=2),
    "not a number": lambda channel, _: channel.release("x", [CANARY, [CANARY]], LAPLACE, sensitivity=2),
    "reports": lambda channel, _: channel.reports("x", PLAIN, LAPLACE, sensitivity=2),
    "shuffled": lambda channel, _: channel.reports("x", PLAIN, LAPLACE, sensitivity=2, to="shuffled"),
    "select": lambda channel, _: channel.select("x", PLAIN, epsilon=5, sensitivity=1),
    "noisy max": lambda channel, _: channel.noisy_max("x", PLAIN, LAPLACE, sensitivity=2),
    "counts": lambda channel, _: channel.threshold_counts("x", [str(CANARY)] * 4, epsilon=5, delta="1e-6"),
    "threshold": lambda channel, _: channel.above("x", epsilon="1/4", sensitivity=1, threshold=0).ask([CANARY, CANARY]),
    "stream": lambda channel, _: channel.tree("x", steps=1, noise=dp.Laplace(scale=8), sensitivity=1).add([[CANARY], CANARY]),
}


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.filterwarnings("ignore")
def test_no_frame_of_a_live_door_keeps_a_private_value(refusal: str) -> None:
    ledger = MemoryLedger("deployment")
    data = dp.seal(PLAIN, low=-1, high=1)
    with dp.live(ledger, budget="1/2") as channel, pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
        REFUSALS[refusal](channel, data)
    assert kept(caught.value) == []
    assert len(list(frames(caught.value))) <= 1


@pytest.mark.filterwarnings("ignore")
def test_the_reporter_finds_what_a_simulated_door_keeps_for_debugging() -> None:
    """The twin: the same refusal, at a door whose data an audit made up."""
    ledger = MemoryLedger("simulated")
    with dp.simulate(1, ledger=ledger, budget="1/2") as channel, pytest.raises(dp.BudgetExceeded) as caught:
        channel.release("x", PLAIN, LAPLACE, sensitivity=2)
    assert kept(caught.value)
