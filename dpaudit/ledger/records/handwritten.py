"""Releases as people write them, flat: {"mechanism": "laplace", "scale": "2", "sensitivity": "2"}."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpaudit.claims import InvalidValue, exact_delta, exact_epsilon, positive, show, whole
from dpaudit.ledger.errors import InvalidRecord
from dpaudit.ledger.records.cohort import Cohort

# The parameter that a mechanism cannot do without.
PARAMETER = {"laplace": "scale", "gaussian": "sigma", "randomized-response": "epsilon"}

_OPTIONAL = frozenset({"mechanism", "sensitivity", "name", "cohort", "to", "n", "grid", "epsilon", "delta", "theorem"})


def flat_fields(data: dict[str, Any], line: int | None = None) -> dict[str, Any]:
    """The fields of one hand-written release. ε is worked out if not given, and refused if too small.

    Raises InvalidRecord naming line and field.
    """
    mechanism = data.get("mechanism")
    if not isinstance(mechanism, str) or mechanism not in PARAMETER:
        raise InvalidRecord("mechanism", "one of " + ", ".join(PARAMETER), line)
    unknown = sorted(set(data) - _OPTIONAL - {PARAMETER[mechanism]})
    if unknown:
        raise InvalidRecord(repr(unknown[0][:40]), f"left out: it is no field of a {mechanism} release", line)
    try:
        return _read(data, mechanism, line)
    except InvalidValue as error:
        raise InvalidRecord(error.name, error.expected, line) from None


def _read(data: dict[str, Any], mechanism: str, line: int | None) -> dict[str, Any]:
    needed = PARAMETER[mechanism]
    parameters = {needed: positive(_given(data, needed), needed)}
    if "grid" in data:
        parameters["grid"] = positive(data["grid"], "grid")
    bit = mechanism == "randomized-response"
    sensitivity = positive(data.get("sensitivity", 1) if bit else _given(data, "sensitivity"), "sensitivity")
    to = data.get("to", "server")
    n = whole(data.get("n", 1), "n")
    return {
        "name": data.get("name", "release" if line is None else f"line {line}"),
        "mechanism": mechanism,
        "parameters": {name: show(number) for name, number in parameters.items()},
        "sensitivity": sensitivity,
        "epsilon": _epsilon(data, mechanism, sensitivity, parameters),
        "delta": exact_delta(data.get("delta", 0)),
        "cohort": Cohort.from_json(data.get("cohort"), line),
        "to": to,
        "kind": "shuffled" if to == "shuffled" else "reports" if n > 1 else "release",
        "n": n,
        "theorem": data.get("theorem"),
    }


def _given(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise InvalidValue(name, None, "given")
    return data[name]


def _epsilon(data: dict[str, Any], mechanism: str, sensitivity: Fraction, parameters: dict[str, Fraction]) -> Fraction | None:
    """The charge: as declared, but with δ = 0 never below what the mechanism costs."""
    cost = None
    if mechanism == "laplace":
        # ε = Δ/b (Dwork & Roth 2014, Thm 3.6). On a grid, a sum moves by whole steps: Δ is rounded up.
        grid = parameters.get("grid")
        moved = sensitivity if grid is None else -(-sensitivity // grid) * grid
        cost = moved / parameters["scale"]
    if mechanism == "randomized-response":
        return parameters["epsilon"]
    if data.get("epsilon") is None:
        return cost
    declared = exact_epsilon(data["epsilon"])
    if cost is not None and declared < cost and not exact_delta(data.get("delta", 0)):
        raise InvalidValue("epsilon", show(declared), f"at least sensitivity/scale = {show(cost)}")
    return declared
