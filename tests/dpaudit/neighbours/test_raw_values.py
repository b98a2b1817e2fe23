"""Records of which nothing is known: what survives clamping is found, and only what is clamped and no NaN is proven."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.neighbours.raw_values import HOSTILE
from dpaudit.sealed.array import Untraced, dependence, seal_raw
from dpaudit.subjects import Subject

N = 6


def subject(query: Any, neighbours: Any, scale: Any = "1.00001") -> Subject:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=neighbours)
    def raw_query(records: Any, channel: Any) -> Any:
        return channel.release("query", query(records), dp.Laplace(scale), sensitivity=1)

    return raw_query


CLAMPED: dict[str, Any] = {
    "nan_to_num, clip": lambda x: np.clip(np.nan_to_num(x), 0, 1).sum(),
    "clip, nan_to_num": lambda x: np.nan_to_num(np.clip(x, 0, 1)).sum(),
    "clip, nansum": lambda x: np.nansum(np.clip(x, 0, 1)),
    "where": lambda x: (lambda y: np.where(y < 0, 0, np.where(y > 1, 1, y)))(np.where(np.isnan(x), 0, x)).sum(),
    "finite or 0": lambda x: np.where(np.isfinite(x), x, 0.0).clip(0, 1).sum(),
    "fmax, fmin": lambda x: np.fmin(np.fmax(x, 0.0), 1.0).sum(),
    "a condition": lambda x: (x > 0.5).sum(),
    "how many numbers": lambda x: (~np.isnan(x)).sum(),
}
UNSAFE: dict[str, Any] = {
    "as it is": lambda x: x.sum(),
    "clip": lambda x: np.clip(x, 0, 1).sum(),
    "where without NaN": lambda x: np.where(x < 0, 0, np.where(x > 1, 1, x)).sum(),
    "maximum, minimum": lambda x: np.minimum(np.maximum(x, 0), 1).sum(),
    "only NaN replaced": lambda x: np.where(np.isnan(x), 0, x).sum(),
}


@pytest.mark.parametrize("relation", [dp.replace_one(N, None, None), dp.add_remove(N, None, None)], ids=["replaced", "removed"])
@pytest.mark.parametrize("query", CLAMPED.values(), ids=CLAMPED.keys())
def test_what_is_clamped_and_no_nan_is_certified(query: Any, relation: Any) -> None:
    """Float sums are not exact: the slop is charged, so that the noise is a little wider than the sensitivity."""
    verdict = dp.audit(subject(query, relation, scale="1.001"), seed=1, samples=1000)
    assert (verdict.verdict, verdict.findings) == ("certified", [])


@pytest.mark.parametrize("query", UNSAFE.values(), ids=UNSAFE.keys())
def test_what_one_hostile_record_can_move_is_never_proven_and_refuted_with_it(query: Any) -> None:
    verdict = dp.audit(subject(query, dp.replace_one(N, None, None)), seed=1, samples=1000)
    assert verdict.verdict == "refuted"
    assert "DPA003" in {finding.rule for finding in verdict.findings}
    assert "NaN" not in json.dumps(json.loads(verdict.to_json()), allow_nan=False)


def test_a_difference_of_infinities_is_not_proven_even_after_clamping() -> None:
    verdict = dp.audit(
        subject(lambda x: (np.nan_to_num(x) - x).clip(0, 1).sum(), dp.replace_one(N, None, None)), seed=1, samples=1000
    )
    assert verdict.upper.sensitivity == "tested"
    assert verdict.verdict == "unproven"


def test_hostile_records_are_among_the_pairs() -> None:
    firsts = np.concatenate([one for one, _ in dp.replace_one(N, None, None).pairs(np.random.default_rng(1))])
    assert np.isnan(firsts).any()
    assert {np.inf, -np.inf, 1e308} <= set(firsts)
    for one, other in dp.replace_one(N, None, None).pairs(np.random.default_rng(1)):
        assert sum(not (a == b or (np.isnan(a) and np.isnan(b))) for a, b in zip(one, other, strict=True)) <= 1


def test_one_bound_alone_is_refused() -> None:
    for bounds in ((0, None), (None, 1), ([0], None)):
        with pytest.raises(InvalidValue):
            dp.replace_one(N, *bounds)


def test_a_raw_sum_has_no_proven_sensitivity_and_a_raw_release_neither() -> None:
    raw = seal_raw(np.array(HOSTILE))
    assert isinstance(dependence(raw.sum()), Untraced)
    assert isinstance(dependence(raw), Untraced)
    assert not isinstance(dependence(np.clip(raw, 2, 3)), Untraced)  # released one by one; NaN counts as 0
    assert dependence(np.clip(raw, 2, 3)).sensitivity(1) == 3  # type: ignore[union-attr]
