"""Events of low bits in an audit: they refute claims about floats, are a note to others, and can be drawn again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.interface import REFUTE, Case
from dpaudit.auditors.recomputed_evidence import NotAWitness

PAIRS = dp.replace_one(n=20, low=-1, high=1)
COUNT = dp.replace_one(n=1, low=0, high=1)


def black(function: Callable[..., Any], neighbours: Any = PAIRS, **claim: Any) -> Any:
    return dp.subject(claim=dp.Claim(**{"epsilon": "1", **claim}), neighbours=neighbours)(function)


def floats(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace(scale=2))


def coarse(data: Any, rng: Any) -> Any:
    return float(np.round(data.sum() + rng.laplace(scale=2), 3))


def rules(verdict: Any) -> list[str]:
    return [finding.rule for finding in verdict.findings]


def test_porous_noise_is_refuted_and_its_rounded_twin_is_not() -> None:
    verdict = dp.audit(black(floats), samples=500, seed=1)
    assert verdict.verdict == "refuted"
    assert rules(verdict) == ["DPA006", "DPA004"]
    assert verdict.witness is not None
    assert verdict.witness["kind"] == "low bits"
    assert verdict.witness["epsilon"] > 1
    honest = dp.audit(black(coarse), samples=500, seed=1)
    assert (honest.verdict, rules(honest)) == ("unproven", [])


def test_to_ideal_arithmetic_it_is_a_note() -> None:
    verdict = dp.audit(black(floats, arithmetic="ideal"), samples=500, seed=1)
    assert verdict.verdict == "unproven"
    assert rules(verdict) == ["DPA006"]
    assert "a note" in verdict.findings[0].message
    assert verdict.lower.epsilon < 1.1


def test_a_replay_draws_the_event_again_and_only_refutes_what_it_fits() -> None:
    facts = json.loads(json.dumps(dp.audit(black(floats), samples=500, seed=1).witness))
    again = dp.audit(black(floats), witness=facts, seed=2)
    assert again.verdict == "refuted"
    assert "drawn again" in again.reason
    for other in (black(coarse), black(floats, arithmetic="ideal"), black(floats, epsilon="20")):
        assert dp.audit(other, witness=facts, seed=2).verdict == "unproven"
    for wrong in ({"low_bits": {}}, {"low_bits": {"feature": "depth"}}, {"samples": "many"}, {"low_bits": 3}):
        with pytest.raises((NotAWitness, dp.DpauditError)):
            dp.audit(black(floats), witness={**facts, **wrong}, seed=2)


def test_an_event_that_is_the_neighbours_is_drawn_again_too() -> None:
    """One-sided: only the second data set shows bits below 2^-40."""

    def tagged(data: Any, rng: Any, trials: Any) -> Any:
        noisy = np.round((data.sum() + rng.laplace(size=trials)) * 2.0**20) / 2.0**20
        return noisy + (2.0**-40 if data.sum() > 0.5 else 0.0) * (rng.random(trials) < 0.5)

    pair = [(np.array([0.0]), np.array([1.0]))]
    verdict = dp.audit(black(tagged, pair), samples=2000, seed=1)
    assert verdict.verdict == "refuted"
    assert verdict.witness is not None
    assert verdict.witness["kind"] == "low bits"
    assert verdict.witness["probability"] > 10 * verdict.witness["neighbour_probability"]
    assert dp.audit(black(tagged, pair), witness=verdict.witness, seed=2).verdict == "refuted"


POROUS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "Laplace, ε = 0.01": (lambda d, rng, trials: d.sum() + rng.laplace(scale=100, size=trials), {"epsilon": "0.01"}),
    "normal, scale 5": (lambda d, rng, trials: d.sum() + rng.normal(scale=5, size=trials), {"delta": "1e-6"}),
    "normal, scale 5, from 10": (lambda d, rng, trials: 10 + d.sum() + rng.normal(scale=5, size=trials), {"delta": "1e-6"}),
    "uniform on multiples of 5·2^-52": (
        lambda d, rng, trials: d.sum() + 5 * 2.0**-52 * rng.integers(-(2**52), 2**52, size=trials), {"delta": "0.1"},
    ),
    "Laplace from 20 scales away": (lambda d, rng, trials: 40 + d.sum() + rng.laplace(scale=2, size=trials), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", POROUS)
def test_noise_that_was_missed_is_refuted(name: str) -> None:
    function, claim = POROUS[name]
    verdict = dp.audit(black(function, COUNT, **claim), samples=20_000, seed=1)
    assert verdict.verdict == "refuted"
    assert "DPA006" in rules(verdict)


HONEST: dict[str, Callable[..., Any]] = {
    "rounded": lambda d, rng, trials: np.round(d.sum() + rng.laplace(size=trials), 6),
    "whole": lambda d, rng, trials: np.floor(d.sum()) + rng.geometric(0.63, size=trials) - rng.geometric(0.63, size=trials),
    "our lattice, over 3": lambda d, rng, trials: (
        dp.Laplace(scale=1).simulate(np.full(trials, int(d.sum() * 2**20)), rng) / 2.0**20 / 3
    ),
    "response": lambda d, rng, trials: np.where(rng.random(trials) < 0.3 + 0.4 * d.sum(), 0.1, 0.7),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_noise_is_not_flagged(name: str) -> None:
    verdict = dp.audit(black(HONEST[name], COUNT), samples=20_000, seed=1)
    assert (verdict.verdict, rules(verdict)) == ("unproven", [])


def test_the_error_of_a_refutation_is_shared_and_not_exceeded() -> None:
    def case(**claim: Any) -> Case:
        subject = black(floats, **claim)
        return Case(subject, subject.claim, 0.95, 500, 1)

    shared, alone = case(), case(arithmetic="ideal")
    assert 0 < shared.float_error < shared.game_error < REFUTE
    assert shared.float_error + shared.game_error <= REFUTE
    assert (alone.float_error, alone.game_error) == (0.0, REFUTE)
