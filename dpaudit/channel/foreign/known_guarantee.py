"""``channel.known``: a mechanism of another library, charged by the guarantee that it declares.

The door charges (ε, δ) and writes it down before the mechanism runs. Nobody here proves that guarantee, so nothing that rests on
it is certified; audit the mechanism as a black box to attack it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.claims import DpauditError, InvalidValue, SensitivityError, exact, exact_delta, exact_epsilon, show
from dpaudit.ledger import Cohort, Release
from dpaudit.sealed.array import Sealed, Untraced, dependence, unseal

if TYPE_CHECKING:
    from dpaudit.channel.door import Channel

_BLACK_BOX = "audit it as a black box: @dp.subject(claim=…, neighbours=…) def mechanism(data, rng): …, with require='not-refuted'"

_CONVERTED = "OpenDP converts ρ of zero-concentrated privacy: make_fix_delta(make_zCDP_to_approxDP(measure), delta)"

_NORMS = {"AbsoluteDistance": 1, "L1Distance": 1, "L2Distance": 2}  # of OpenDP's metrics between numbers


def known(channel: Channel, name: str, measure: Callable[[Any], Any], data: Any, stated: tuple[Any, Any, Any], more: Any) -> Any:
    """What ``measure(data)`` gives. ``stated``: ε, δ and the distance of neighbours that a measurement of OpenDP is asked for;
    ``more``: cohort and observer."""
    if not channel._live or channel._ledger is None:
        raise DpauditError(
            f"release {name!r} is by a mechanism of another library, of whose law nothing is known here; {_BLACK_BOX}"
        )
    channel._proving._refuse(name, "its guarantee is declared by another library")
    if channel._plans:
        raise DpauditError(f"release {name!r} is refused: a plan is in force, and it is none of its releases")
    if channel._proving.plain == "refuse" and not isinstance(data, Sealed):
        channel._proving.notice_plain(name)
    if not callable(measure):
        raise InvalidValue("measure", type(measure).__name__, "a function of the data, such as a measurement of OpenDP")
    epsilon, delta = _guarantee(measure, *stated)
    _check_distance(name, measure, data, stated[2])
    cohort, to = more
    if to == "shuffled":
        raise InvalidValue("to", to, "another observer: only channel.reports(…) passes a shuffler")
    parameters = {"epsilon": show(epsilon), "delta": show(delta)}
    touched = Cohort.all() if cohort is None else Cohort.of(cohort)
    record = Release(name, "known", Fraction(1), parameters, None, epsilon, delta, touched, to)
    channel._write(record)  # before anything is drawn
    return measure(_plain(data))


def _check_distance(name: str, measure: Any, data: Any, distance: Any) -> None:
    """Raise SensitivityError (DPA003) where sealed numbers are known to move further than the distance that is charged."""
    metric = str(getattr(measure, "input_metric", "")).partition("(")[0]
    trace = dependence(data) if isinstance(data, Sealed) and distance is not None and metric in _NORMS else None
    if trace is None or isinstance(trace, Untraced):
        return
    declared, derived = exact(distance, "distance"), exact(trace.sensitivity(_NORMS[metric]), "sensitivity")
    if derived > declared * (1 + Fraction(1, 10**12)):
        raise SensitivityError(name, declared, derived, rewrite=trace.advice)


def _plain(data: Any) -> Any:
    """A copy of what is sealed: libraries refuse arrays that they may not write to."""
    return np.array(unseal(data))[()] if isinstance(data, Sealed) else data


def _guarantee(measure: Any, epsilon: Any, delta: Any, distance: Any) -> tuple[Fraction, Fraction]:
    """As stated; for a measurement of OpenDP, as its own map says for neighbours at this distance, rounded up."""
    if epsilon is not None:
        return exact_epsilon(epsilon), exact_delta(delta)
    if distance is None or not callable(getattr(measure, "map", None)):
        raise InvalidValue("epsilon", None, "given; or distance=… for a measurement of OpenDP, whose map then says it")
    law = str(getattr(measure, "output_measure", None))
    if "MaxDivergence" not in law:
        raise InvalidValue("measure", law, f"a measurement whose map gives ε, or (ε, δ) ({_CONVERTED})")
    cost = measure.map(distance)
    if isinstance(cost, tuple) and len(cost) == 2:
        cost, delta = cost
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not math.isfinite(cost) or cost <= 0:
        raise InvalidValue("measure", type(cost).__name__, f"a measurement whose map gives ε, or (ε, δ) ({_CONVERTED})")
    return Fraction(math.nextafter(cost, math.inf) if isinstance(cost, float) else cost), exact_delta(delta)
