"""What a call of the door says of a release: its sensitivity, whose data it is, and what its record tells."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.channel.client_reports import Records
from dpaudit.claims import OBSERVERS, InvalidValue, Leak, positive
from dpaudit.ledger import Cohort
from dpaudit.ledger.store.slot import check_key
from dpaudit.noise import Noise
from dpaudit.sealed.array import Sealed, caller, relation_of


def check_call(name: str, noise: Noise, to: str, key: str | None) -> None:
    check_key(key)
    if not isinstance(name, str) or not name:
        raise InvalidValue("name", type(name).__name__, "a text that names the release")  # it may be the value, by mistake
    if not hasattr(noise, "log_ratio") or isinstance(noise, type):
        raise InvalidValue("noise", type(noise).__name__, "a mechanism such as dp.Laplace(scale)")
    if to not in OBSERVERS:
        raise InvalidValue("to", to if isinstance(to, str) else type(to).__name__, "one of " + ", ".join(OBSERVERS))


def declared_sensitivity(sensitivity: Any, trials: int | None) -> Any:
    if isinstance(sensitivity, np.ndarray) and sensitivity.ndim:
        if sensitivity.shape != (trials,):
            raise InvalidValue("sensitivity", f"shape {sensitivity.shape}", "one number, or one per trial")
        if not (np.isfinite(sensitivity).all() and (sensitivity > 0).all()):
            raise InvalidValue("sensitivity", "an array", "finite and greater than 0 in every trial")
        return sensitivity
    return positive(sensitivity, "sensitivity")


def declared_steps(declared: Fraction, noise: Noise, value: Any, units: np.ndarray, trials: int | None) -> int:
    """Declared sensitivity in steps of the grid. Rounding k float coordinates adds less than a step to each: less than k in
    L1, √k in L2."""
    steps = int(-(-declared // noise.grid))
    coordinates = units.size if trials is None else units.size // max(trials, 1)
    whole = not isinstance(value, Sealed) and np.asarray(value).dtype.kind in "biu" and (1 / noise.grid).denominator == 1
    if whole or coordinates <= 1:
        return steps
    return steps + (coordinates - 1 if noise.norm == 1 else math.isqrt(coordinates - 1) + 1)


def joined(cohort: Any, touched: Cohort | None) -> Cohort:
    """Whose data it is: as derived, where it is; what was declared can only add to that."""
    if isinstance(cohort, Sealed):
        raise Leak("a cohort", caller())
    if touched is None:
        return Cohort.of(cohort)
    return touched if cohort is None else touched.union(Cohort.of(cohort))


def sealed_for(value: Any, derived: Fraction | None) -> dict[str, str]:
    """For the record of a release with a proven sensitivity: for which neighbours that is proven."""
    return {} if derived is None else {"relation": relation_of(value)}


def tag_counts(records: Records) -> dict[str, int]:
    counts = np.asarray(records.counts)
    return {} if counts.ndim != 1 or records.tags is None else {str(tag): int(c) for tag, c in enumerate(counts)}
