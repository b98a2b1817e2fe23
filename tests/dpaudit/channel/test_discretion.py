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
FORMS = (str(CANARY)[:8], str(UNITS), str(4 * UNITS), str(4 * CANARY)[:8], CANARY.hex())  # arrays are written with eight digits
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


NOISE_AT_COST = dp.Laplace(scale=1)  # ε = 2 at sensitivity 2, over every budget here


def sampled(channel: Any, value: Any) -> object:
    with channel.sample("1/2") as part:
        chosen = part(dp.seal(np.full(4, value), -1, 1, removal=True))
        return part.release("x", chosen.sum(), dp.Laplace(scale="1/8"), sensitivity=1)


def sampled_wrongly(channel: Any, value: Any) -> object:
    with channel.sample("1/2") as part:
        return part([[value], [value], value])


def failing(data: Any) -> Any:
    raise ArithmeticError


VERBS: dict[str, Refusal] = {
    "release": lambda door, x: door.release("x", x, NOISE_AT_COST, sensitivity=2),
    "release, an array": lambda door, x: door.release("x", np.full(3, x), NOISE_AT_COST, sensitivity=2),
    "release, sealed": lambda door, x: door.release("x", dp.seal([x] * 4, -1, 1).sum(), NOISE_AT_COST, sensitivity=2),
    "release, a mean": lambda door, x: door.release("x", dp.seal([x] * 4, -1, 1).mean(), dp.Laplace(scale="1/8"), sensitivity=2),
    "release, a text": lambda door, x: door.release("x", f"{x}?", NOISE_AT_COST, sensitivity=2),
    "release, no number": lambda door, x: door.release("x", {x: x}, NOISE_AT_COST, sensitivity=2),
    "reports": lambda door, x: door.reports("x", [x] * 4, NOISE_AT_COST, sensitivity=2),
    "reports, sealed": lambda door, x: door.reports("x", dp.seal([x] * 4, -1, 1), NOISE_AT_COST, sensitivity=2),
    "reports, shuffled": lambda door, x: door.reports("x", [x] * 4, NOISE_AT_COST, sensitivity=2, to="shuffled"),
    "select": lambda door, x: door.select("x", [x, 1.0], epsilon=5, sensitivity=1),
    "noisy_max": lambda door, x: door.noisy_max("x", [x, 1.0], NOISE_AT_COST, sensitivity=2),
    "above": lambda door, x: door.above("x", epsilon="5", sensitivity=1, threshold=0).ask(x),
    "threshold_counts": lambda door, x: door.threshold_counts("x", [str(x)] * 4, epsilon=5, delta="1e-6"),
    "tree": lambda door, x: door.tree("x", steps=4, noise=NOISE_AT_COST, sensitivity=2).add(x),
    "sample": sampled,
    "sample, no rows": sampled_wrongly,
    "known": lambda door, x: door.known("x", failing, x, epsilon=5),
    "known, failing": lambda door, x: door.known("x", failing, x, epsilon="1/4"),
    "no observer": lambda door, x: door.release("x", x, dp.Laplace(scale=8), sensitivity=1, to="nobody"),
    "a key that is none": lambda door, x: door.release("x", x, dp.Laplace(scale=8), sensitivity=1, key=""),
}
CANARIES = [int(units) for units in np.random.default_rng(16).integers(2**18, 2**20, 3 * len(VERBS))]


def found_in(error: BaseException, units: int) -> list[str]:
    """Where a reporter would keep a canary of so many units, in its message too."""
    value = units / 2**20
    forms = (str(value)[:8], str(units), str(4 * units), str(4 * value)[:8], value.hex())
    held = [(Path(f.f_code.co_filename).name, n, v) for f in frames(error) for n, v in f.f_locals.items()]
    held.append(("the error", "itself", [str(error), vars(error)]))
    return [f"{file}: {name}" for file, name, kept in held if any(form in text for text in texts(kept) for form in forms)]


def refused_canaries(ledger: Any, error: type[Exception] = Exception) -> int:
    """How many canaries were refused at a live door, of which no frame and no message holds one."""
    count = 0
    for place, units in enumerate(CANARIES):
        name = list(VERBS)[place % len(VERBS)]
        with dp.live(ledger) as channel, pytest.raises(error) as caught:
            VERBS[name](channel, units / 2**20)
        assert found_in(caught.value, units) == [], name
        count += 1
    return count


@pytest.mark.filterwarnings("ignore")
def test_sixty_canaries_through_every_verb_are_found_nowhere() -> None:
    with dp.live(MemoryLedger("deployment"), budget=("1/2", "1e-6")) as channel:
        assert channel._ledger is not None
        assert refused_canaries(channel._ledger) == 60


@pytest.mark.filterwarnings("ignore")
def test_every_verb_of_the_door_is_among_them() -> None:
    """A verb that is added is added here."""
    public = {name for name in dir(dp.live(MemoryLedger("deployment")).__enter__()) if not name.startswith("_")}
    silent = {"at", "audited", "events", "every_report", "findings", "relation", "rng", "secret_integers", "secret_permutation"}
    silent |= {"keeps_records", "transcript", "trials", "under", "untraced", "used_rng"}  # these are given no private value
    assert public - silent == {name.partition(",")[0] for name in VERBS} - {"no observer", "a key that is none"}


@pytest.mark.slow
@pytest.mark.needs(module="psycopg_pool")
@pytest.mark.filterwarnings("ignore")
def test_sixty_canaries_are_found_nowhere_when_the_database_fails(postgres: Any) -> None:
    """A table is gone, so that every charge fails at the server: what it says of it names no value."""
    import psycopg

    from dpaudit.ledger import open_ledger

    def rename(before: str, after: str) -> None:
        with psycopg.connect(postgres.address, autocommit=True) as connection:
            connection.execute(f"ALTER TABLE dpaudit.{before} RENAME TO {after}")

    with open_ledger(f"{postgres.address}?ledger=canaries", budget=("1000", "1e-6")) as ledger:
        rename("entries", "elsewhere")
        try:
            assert refused_canaries(ledger) == 60
        finally:
            rename("elsewhere", "entries")


@pytest.mark.filterwarnings("ignore")
def test_the_reporter_finds_what_a_simulated_door_keeps_for_debugging() -> None:
    """The twin: the same refusal, at a door whose data an audit made up."""
    ledger = MemoryLedger("simulated")
    with dp.simulate(1, ledger=ledger, budget="1/2") as channel, pytest.raises(dp.BudgetExceeded) as caught:
        channel.release("x", PLAIN, LAPLACE, sensitivity=2)
    assert kept(caught.value)
