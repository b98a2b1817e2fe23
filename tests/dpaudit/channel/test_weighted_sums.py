"""Sums times a public constant: released on the grid of the sum times the constant, at exactly the textbook's price."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel.weighted_sums import Weights, query_of, weights_in_force
from dpaudit.noise import GRID

PLUS_MINUS = dp.replace_one(3, -1, 1)
COLUMNS = dp.replace_one(3, [-1, -1], [1, 1])
LARGE = dp.replace_one(100, -1, 1)

# name: (program, neighbours, its sensitivity, which is also the scale: a claim of ε = 1)
TEXTBOOK: dict[str, tuple[Any, Any, Any]] = {
    "mean of 3": (lambda x: x.mean(), PLUS_MINUS, 2 / 3),
    "mean of 7": (lambda x: x.mean(), dp.replace_one(7, -1, 1), 2 / 7),
    "mean of 100": (lambda x: np.mean(x), LARGE, 2 / 100),
    "opposite of a mean": (lambda x: -x.mean(), PLUS_MINUS, 2 / 3),
    "a tenth of a sum": (lambda x: 0.1 * x.sum(), PLUS_MINUS, 0.2),
    "a sum of tenths": (lambda x: (0.1 * x).sum(), PLUS_MINUS, 0.2),
    "a sum over −7": (lambda x: x.sum() / -7, PLUS_MINUS, 2 / 7),
    "means of columns": (lambda t: t.mean(axis=0), COLUMNS, 4 / 3),
    "one mean of two": (lambda t: t.mean(axis=0)[1], COLUMNS, 2 / 3),
    "whole weights": (lambda x: (x * np.array([1, 2, 3]) / 6).sum(), PLUS_MINUS, 1),
    "average": (lambda x: np.average(x, weights=[1, 2, 3]), PLUS_MINUS, 1),
    "equal weights": (lambda x: np.full(3, 1 / 3) @ x, PLUS_MINUS, 2 / 3),
    "share": (lambda x: (x > 0).mean(), PLUS_MINUS, 1 / 3),
    "shares": (lambda x: np.stack([(x == k).mean() for k in (-1, 0, 1)]), PLUS_MINUS, 2 / 3),
    "mean square": (lambda x: (x**2).mean(), PLUS_MINUS, 1 / 3),
    "mean of products": (lambda t: (t[:, 0] * t[:, 1]).mean(), COLUMNS, 2 / 3),
    "clipped, one missing": (lambda x: x.clip(-0.25, 0.5).sum() / 10, dp.add_remove(3, -1, 1), 0.05),
    "clipped rows": (lambda t: dp.clip_rows(t, 1, order=1).mean(axis=0), COLUMNS, 2 / 3),
}


def make(program: Any, neighbours: Any, sensitivity: Any, scale: Any, epsilon: str = "1") -> Any:
    @dp.subject(claim=dp.Claim(epsilon=epsilon), neighbours=neighbours)
    def subject(data: Any, channel: Any) -> Any:
        return channel.release("value", program(data), dp.Laplace(scale=scale), sensitivity=sensitivity)

    return subject


@pytest.mark.parametrize(("program", "neighbours", "sensitivity"), TEXTBOOK.values(), ids=TEXTBOOK.keys())
def test_the_textbook_costs_exactly_what_it_says(program: Any, neighbours: Any, sensitivity: Any) -> None:
    """Proof and witness meet at 1: the witness replays plain data, and knows nothing of traces."""
    verdict = dp.audit(make(program, neighbours, sensitivity, sensitivity), seed=1, samples=100)
    assert (verdict.verdict, verdict.upper.epsilon) == ("certified", 1), verdict.reason
    assert verdict.lower.epsilon <= 1


@pytest.mark.parametrize("name", ["mean of 3", "a tenth of a sum", "shares", "mean square"])
def test_a_thousandth_less_noise_is_refuted(name: str) -> None:
    """The twin: a scale that is too small by more than its rounding is not raised."""
    program, neighbours, sensitivity = TEXTBOOK[name]
    verdict = dp.audit(make(program, neighbours, sensitivity, sensitivity * 0.999), seed=1, samples=100)
    assert verdict.verdict == "refuted"
    assert verdict.upper.epsilon > 1


@pytest.mark.parametrize(("low", "high"), [(0, "0.7"), ("0.1", "0.9"), (-3, 11)])
def test_bounds_off_the_grid_cost_no_more(low: Any, high: Any) -> None:
    width = float(Fraction(high) - Fraction(low)) / 3
    verdict = dp.audit(make(lambda x: x.mean(), dp.replace_one(3, low, high), width, width), seed=1, samples=100)
    assert verdict.verdict == "certified"
    assert Fraction(99999, 100000) < verdict.upper.epsilon <= 1


def test_a_plain_run_asks_what_the_sealed_run_asks() -> None:
    subject = make(lambda x: x.mean(), LARGE, 0.02, 0.02)
    data = dp.snap(np.random.default_rng(1).uniform(-1, 1, 100), -1, 1)
    events = []
    for given in (data, subject.neighbours.seal(data)):
        with dp.simulate(3) as channel:
            subject.run(given, channel)
        events.append(channel.events[0])
    assert events[0].noise == events[1].noise == dp.Laplace(Fraction(2, 100), grid=GRID / 100)
    assert events[0].query == events[1].query == round(data.sum() * 2**20)


def test_the_ledger_holds_the_raised_scale_and_the_grid(tmp_path: Any) -> None:
    ledger = dp.open_ledger(tmp_path / "ledger")
    with dp.live(ledger, budget=1) as channel:
        noisy = channel.release("mean", dp.seal([1.0, 0.5, -1.0], -1, 1).mean(), dp.Laplace(scale=2 / 3), sensitivity=2 / 3)
    (release,) = ledger.releases()
    assert (release.parameters, release.epsilon) == ({"scale": "2/3", "grid": "1/3145728"}, 1)
    assert dp.account(ledger).epsilon == 1
    assert float(noisy) * 3 * 2**20 == pytest.approx(round(float(noisy) * 3 * 2**20), abs=1e-6)


@pytest.mark.parametrize(
    ("scale", "raised"),
    [
        (2 / 3, Fraction(2, 3)),  # the float below
        (4 / 3, Fraction(4, 3)),  # half the claim: twice as much noise
        (Fraction(2, 3) * (1 - Fraction(1, 2**49)), None),  # not by rounding
        (Fraction(2, 3) * (1 + Fraction(1, 2**51)), None),  # never lowered
        (Fraction(1, 2), None),
    ],
)
def test_a_scale_is_raised_by_its_rounding_and_never_lowered(scale: Any, raised: Fraction | None) -> None:
    mean = dp.seal([0.0, 0.0, 0.0], -1, 1).mean()
    noise = query_of("mean", mean, dp.Laplace(scale), Fraction(1)).noise
    assert noise.size == (dp.Laplace(scale).scale if raised is None else raised)


def test_noise_on_a_grid_of_its_own_and_plain_values_stay_as_they_are() -> None:
    mean = dp.seal([0.0, 0.0, 0.0], -1, 1).mean()
    for value, noise in ((mean, dp.Laplace(1, grid="0.1")), (0.5, dp.Laplace(1)), (dp.seal([0.5], -1, 1).sum(), dp.Laplace(1))):
        query = query_of("value", value, noise, None)
        assert query.noise is noise
        assert query.value is value


def test_weights_without_a_common_divisor_are_charged_for_rounding_and_the_grid_is_named() -> None:
    weights = np.array([0.1, 0.2, 0.3])
    verdict = dp.audit(make(lambda x: weights @ x, PLUS_MINUS, 0.6, 0.6), seed=1, samples=100)
    assert verdict.upper.epsilon > 1
    assert "rounded to the grid 2^-20" in verdict.reason
    assert "scale=0.6000004" in verdict.reason
    verdict = dp.audit(make(lambda x: weights @ x, PLUS_MINUS, 0.6, "0.600001"), seed=1, samples=100)
    assert verdict.verdict == "certified"


def test_a_mean_of_a_private_number_of_records_is_a_leak() -> None:
    verdict = dp.audit(make(lambda x: x.mean(), dp.add_remove(3, -1, 1), 1, 1), seed=1, samples=100)
    assert verdict.verdict != "certified"
    assert "DPA002" in {finding.rule for finding in verdict.findings}


def test_weights_are_those_of_the_subject_that_runs() -> None:
    weights = Weights()
    mean = dp.seal([0.0, 0.0, 0.0], -1, 1).mean()
    with weights_in_force(weights, Fraction(1)):
        query_of("mean", mean, dp.Laplace(1), None)
        assert query_of("mean", 0.5, dp.Laplace(1), None).noise.grid == GRID / 3
        assert query_of("other", 0.5, dp.Laplace(1), None).noise.grid == GRID
    assert query_of("mean", 0.5, dp.Laplace(1), None).noise.grid == GRID
