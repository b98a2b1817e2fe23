"""python-dp, bindings of Google's differential-privacy library: its algorithms at ε = 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case

VALUES = [5, 2, 4, 6, 8, 3, 7, 1, 9, 5]
REMOVED = (VALUES, VALUES[1:])
BY_ONE = "one record added or removed"


def algorithm(name: str, kind: str = "int", **parameters: Any) -> Callable[[Any], Any]:
    def call(data: Any) -> Any:
        from pydp.algorithms import laplacian

        return getattr(laplacian, name)(epsilon=1.0, dtype=kind, **parameters).quick_result(list(data))

    return call


def numerical(name: str, *values: float) -> Callable[[Any], Any]:
    def call(value: float) -> Any:
        from pydp.algorithms import numerical_mechanisms

        return getattr(numerical_mechanisms, name)(*values).add_noise(float(value))

    return call


BOUNDS: dict[str, Any] = {"lower_bound": 0, "upper_bound": 10}
CASES = [
    *(
        Case(name, algorithm(name, **BOUNDS), REMOVED, neighbours=BY_ONE)
        for name in ("BoundedSum", "BoundedMean", "BoundedVariance", "BoundedStandardDeviation", "Max", "Min", "Median")
    ),
    Case("Count", algorithm("Count"), REMOVED, neighbours=BY_ONE),
    Case("Percentile", algorithm("Percentile", percentile=0.75, **BOUNDS), REMOVED, neighbours=BY_ONE),
    Case("LaplaceMechanism", numerical("LaplaceMechanism", 1.0, 1.0), (0.0, 1.0), neighbours="queries at distance 1"),
    Case(
        "GaussianMechanism", numerical("GaussianMechanism", 1.0, 0.01, 1.0), (0.0, 1.0), delta="0.01",
        neighbours="queries at distance 1",
    ),
]  # fmt: skip
