"""Randomness and clocks that are not the door's are noticed, whichever way they come in; what is the door's own is not."""

from __future__ import annotations

import logging
import os
import random
import secrets
import time
import uuid
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.subjects import foreign_randomness as outside

HELD = np.random.default_rng(7)
PEOPLE = dp.replace_one(n=10, low=0, high=1)


def sources(extra: Any) -> list[str]:
    """What is noticed when ``extra`` is called inside a subject."""

    @dp.subject(claim=dp.Claim("1"), neighbours=PEOPLE)
    def mechanism(data: Any, channel: Any) -> Any:
        extra(channel)
        return channel.release("s", data.sum(), dp.Laplace(1), sensitivity=1)

    with outside.watching() as seen, dp.simulate(1) as channel:
        mechanism.run(np.zeros(10), channel)
    return list(seen.sources)


@pytest.mark.parametrize(
    ("extra", "source"),
    [
        (lambda _: random.random(), "random"),
        (lambda _: np.random.random(), "np.random"),  # noqa: NPY002
        (lambda _: np.random.default_rng(), "np.random.default_rng() without a seed"),
        (lambda _: random.Random(), "random.Random() without a seed"),
        (lambda _: os.urandom(2), "os.urandom"),
        (lambda _: secrets.token_bytes(4), "os.urandom"),
        (lambda _: uuid.uuid4(), "os.urandom"),
        (lambda _: time.time_ns(), "time.time_ns"),
        (lambda _: time.monotonic(), "time.monotonic"),
    ],
)
def test_every_source_outside_the_door_is_noticed_by_its_name(extra: Any, source: str) -> None:
    assert source in sources(extra)


@pytest.mark.parametrize(
    "extra",
    [
        lambda channel: channel.rng.random(),
        lambda channel: channel.secret_permutation(3),
        lambda _: np.random.default_rng(3).random(),
        lambda _: random.Random(3).random(),
        lambda _: logging.getLogger("quiet").makeRecord("quiet", 10, "f", 1, "m", (), None),
        lambda _: None,
    ],
    ids=["public", "secret", "seeded numpy", "seeded", "a log", "nothing"],
)
def test_twin_what_the_door_gives_what_is_seeded_and_a_log_are_not(extra: Any) -> None:
    assert sources(extra) == []


def test_a_generator_of_the_module_and_a_clock_imported_by_name_are_seen() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        HELD.random()
        perf_counter()
        return channel.release("s", data.sum(), dp.Laplace(1), sensitivity=1)

    subject = dp.subject(claim=dp.Claim("1"), neighbours=PEOPLE)(mechanism)
    with outside.watching() as seen, dp.simulate(1) as channel:
        subject.run(np.zeros(10), channel)
    assert set(seen.sources) == {"the generator 'HELD'", "time.perf_counter"}


def test_everything_is_put_back_also_after_a_failure() -> None:
    before = os.urandom, time.time, np.random.default_rng, random.Random.seed, perf_counter

    def fails(_: Any) -> None:
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        sources(fails)
    assert before == (os.urandom, time.time, np.random.default_rng, random.Random.seed, perf_counter)


@pytest.mark.parametrize("draw", [random.random, lambda: time.time_ns() % 1000 / 1000, lambda: os.urandom(1)[0] / 256])
def test_a_subject_that_leaves_out_its_noise_once_in_a_while_is_never_certified(draw: Any) -> None:
    def rarely(data: Any, channel: Any) -> Any:
        scale = 1 if draw() > 0.002 else 0.001
        return channel.release("s", data.sum(), dp.Laplace(scale=scale), sensitivity=1)

    def always(data: Any, channel: Any) -> Any:
        return channel.release("s", data.sum(), dp.Laplace(scale=1), sensitivity=1)

    caught, twin = (
        dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=PEOPLE)(one), seed=3, samples=100, workers=1)
        for one in (rarely, always)
    )
    assert caught.verdict != "certified"
    assert any(finding.rule == "DPA002" for finding in caught.findings)
    assert twin.verdict == "certified"
