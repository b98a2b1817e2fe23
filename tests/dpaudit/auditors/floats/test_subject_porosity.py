"""DPA006 in audits of black boxes: which are flagged, which are not, and what the verdict makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.auditors.floats.porosity import porosity
from dpaudit.auditors.floats.subject_porosity import audit_porosity

ONE = dp.replace_one(n=1, low=0, high=1)
PAIR = (np.array([0.0]), np.array([1.0]))


def black(function: Callable[..., Any], neighbours: Any = ONE) -> Any:
    return dp.subject(claim=dp.Claim(epsilon="1"), neighbours=neighbours)(function)


def audited(function: Callable[..., Any]) -> Any:
    return audit_porosity(black(function), PAIR, seed=1)


def test_a_black_box_with_numpys_noise_is_flagged_and_its_rounded_twin_is_not() -> None:
    def floats(data: Any, rng: Any) -> Any:
        return float(data.sum() + rng.normal())

    def coarse(data: Any, rng: Any) -> Any:
        return round(float(data.sum() + rng.normal()), 4)

    def whole(data: Any, rng: Any) -> Any:
        return int(data.sum() + rng.geometric(0.5))

    assert audited(floats).rule == "DPA006"
    assert audited(coarse) is None
    assert audited(whole) is None


def test_a_black_box_far_from_zero_is_flagged_by_what_its_generator_was_asked_for() -> None:
    """Centre and scale are no short numbers: only the draws that were watched give them away."""

    def far(data: Any, rng: Any, trials: Any) -> Any:
        return 9.123456789 + data.sum() + rng.laplace(scale=1.0123456789, size=trials)

    def located(data: Any, rng: Any) -> Any:
        return 2.3456789 + float(rng.laplace(data.sum(), 1.0123456789))

    outputs = [far(side, np.random.default_rng(place), 20_000) for place, side in enumerate(PAIR)]
    assert porosity(outputs[0], outputs[1], epsilon=1.0) is None
    assert audited(far) is not None
    assert audited(located) is not None


def test_one_porous_column_among_others_is_named() -> None:
    def columns(data: Any, rng: Any, trials: Any) -> Any:
        coarse = np.round(data.sum() + rng.laplace(size=(trials, 2)), 3)
        return coarse, data.sum() + rng.laplace(size=trials)

    def parts(data: Any, rng: Any) -> Any:
        return "word", None, float(np.round(rng.laplace(), 3)), data.sum() + rng.laplace(size=2)

    assert audited(columns).where == "returned value, column 3"
    assert audited(parts).where.startswith("returned value, column")


def test_outputs_of_varying_length_are_compared_entry_by_entry() -> None:
    def ragged(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace(size=rng.integers(1, 4))

    assert audited(ragged) is not None


def test_a_grey_box_is_left_to_its_door() -> None:
    def grey(data: Any, channel: Any) -> Any:
        return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)

    assert audited(grey) is None
