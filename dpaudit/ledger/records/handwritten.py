"""Releases as people write them, flat: {"mechanism": "laplace", "scale": "2", "sensitivity": "2"}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.claims import OBSERVERS, InvalidValue, WrittenForm, exact_delta, exact_epsilon, positive, show, whole
from dpaudit.ledger.errors import InvalidRecord
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.guarantees import GUARANTEES, Guarantee, KnownGuarantee, read_guarantee

Forms = Mapping[str, Sequence[WrittenForm]]  # by what stands as "mechanism", the one with the most fields first

MOST_RELEASES = 10**12
FIXED_SIZE = (
    "a Poisson rate, by which every record enters by its own coin: samples of a fixed size are another mechanism, whose price "
    "is not proven here and can be several times higher; without amplification, leave 'sampling' out"
)
REPLACED = (
    "left out: without 'sampling' the sensitivity is that of your own relation; with it, prices hold for adding or removing one "
    "record, and for replacing one by another take what any two cost (dpaudit account --group 2)"
)
_SIZES = frozenset({"batch", "batch_size", "batch-size", "sample_size", "sample-size", "population", "replacement", "scheme"})
_RELATIONS = frozenset({"relation", "neighbours", "neighbors", "adjacency"})
_BESIDE = frozenset({"mechanism", "name", "cohort", "to", "n", "theorem", "count", "sampling"})
_ALMOST_ONE = 1 - Fraction(1, 2**200)  # a release's δ is below 1; what is composed is read from its parameters
_OPTIONAL = frozenset(
    {"mechanism", "sensitivity", "name", "cohort", "to", "n", "grid", "epsilon", "delta", "theorem", "count", "sampling"}
)


def flat_fields(data: dict[str, Any], forms: Forms, line: int | None = None) -> dict[str, Any]:
    """The fields of one release that is written in one of these forms. ε is worked out if not given, and refused if too small.

    Raises InvalidRecord naming line and field.
    """
    mechanism = data.get("mechanism")
    if not isinstance(mechanism, str) or mechanism not in {*forms, *GUARANTEES}:
        raise InvalidRecord("mechanism", "one of " + ", ".join([*forms, *GUARANTEES]), line)
    refuse_unknown_observer(data, line)
    if mechanism in GUARANTEES:
        return _stated_fields(data, GUARANTEES[mechanism], line)
    *others, plainest = forms[mechanism]
    form = next((one for one in others if set(data) >= set(one.counts)), plainest)
    unknown = sorted(set(data) - _OPTIONAL - form.needs)
    if unknown:
        raise InvalidRecord(repr(unknown[0][:40]), _why_left_out(unknown[0], mechanism), line)
    try:
        return _read(data, form, line)
    except InvalidValue as error:
        raise InvalidRecord(error.name, error.expected, line) from None


def refuse_unknown_observer(data: Mapping[str, Any], line: int | None) -> None:
    """Who receives a release is one of those whose view is accounted for; else nobody would pay for it. Raises InvalidRecord."""
    if data.get("to", "server") not in OBSERVERS:
        raise InvalidRecord("to", "left out, which is the server, or one of " + ", ".join(OBSERVERS), line)


def _read(data: dict[str, Any], form: WrittenForm, line: int | None) -> dict[str, Any]:
    parameters = {name: positive(_require(data, name), name) for name in form.sizes}
    parameters |= {name: Fraction(whole(_require(data, name), name, least=least)) for name, least in form.counts.items()}
    moved = _require(data, "sensitivity") if form.sensitivity is None else data.get("sensitivity", form.sensitivity)
    sensitivity = positive(moved, "sensitivity")
    grid = positive(data["grid"], "grid") if "grid" in data else form.dividing_grid(parameters, sensitivity)
    if grid is not None:
        parameters["grid"] = grid
    times = whole(data.get("count", 1), "count", most=MOST_RELEASES)
    to = data.get("to", "server")
    n = whole(data.get("n", 1), "n")
    return {
        "name": data.get("name", "release" if line is None else f"line {line}"),
        "mechanism": form.mechanism,
        "parameters": {name: show(number) for name, number in parameters.items()},
        "sensitivity": sensitivity,
        "epsilon": _epsilon(data, form, sensitivity, parameters, times),
        "delta": exact_delta(data.get("delta", 0)),
        "cohort": _cohort(data.get("cohort"), line),
        "to": to,
        "kind": "shuffled" if to == "shuffled" else "reports" if n > 1 else "release",
        "n": n,
        "theorem": data.get("theorem"),
        "count": times if times > 1 else None,
        "sampling": show(_rate(data["sampling"], to)) if "sampling" in data else None,
    }


def _stated_fields(data: dict[str, Any], kind: type[Guarantee], line: int | None) -> dict[str, Any]:
    """The fields of a release that is known by its guarantee."""
    unknown = sorted(set(data) - _BESIDE - set(kind.fields))
    if unknown:
        raise InvalidRecord(repr(unknown[0][:40]), _why_left_out(unknown[0], kind.name), line)
    try:
        stated = read_guarantee(kind, data)
        times = whole(data.get("count", 1), "count", most=MOST_RELEASES)
        to, n = data.get("to", "server"), whole(data.get("n", 1), "n")
        if to == "shuffled":
            raise InvalidValue("to", to, "another: a stated guarantee is not amplified by a shuffler here (see dpaudit amplify)")
        if "sampling" in data and kind is not KnownGuarantee:
            raise InvalidValue(
                "sampling", data["sampling"], f"left out: what sampling does to a {kind.name} guarantee is not proven"
            )
        rate = _rate(data["sampling"], to) if "sampling" in data else None
    except InvalidValue as error:
        raise InvalidRecord(error.name, error.expected, line) from None
    epsilon, delta = (None, Fraction(0)) if stated.pure is None else stated.pure
    return {
        "name": data.get("name", "release" if line is None else f"line {line}"),
        "mechanism": kind.name,
        "parameters": stated.parameters(),
        "sensitivity": Fraction(1),
        "epsilon": None if epsilon is None else epsilon * times,
        "delta": min(delta * times, _ALMOST_ONE),
        "cohort": _cohort(data.get("cohort"), line),
        "to": to,
        "kind": "reports" if n > 1 else "release",
        "n": n,
        "theorem": data.get("theorem"),
        "count": times if times > 1 else None,
        "sampling": None if rate is None else show(rate),
    }


def _why_left_out(field: str, mechanism: str) -> str:
    """What to say of a field that a release does not have: the reason, where people are likely to expect one."""
    if field in _RELATIONS:
        return REPLACED
    return f"left out, and 'sampling' {FIXED_SIZE}" if field in _SIZES else f"left out: it is no field of a {mechanism} release"


def _rate(value: Any, to: str) -> Fraction:
    if isinstance(value, str) and value.strip()[:1].isalpha():  # "fixed", "without replacement"
        raise InvalidValue("sampling", value, FIXED_SIZE)
    rate = positive(value, "sampling")
    if rate > 1:
        raise InvalidValue("sampling", value, "a probability above 0 and at most 1")
    if to == "shuffled":
        raise InvalidValue("sampling", value, "left out of a shuffled batch: it is no release from a sample")
    return rate


def _cohort(written: Any, line: int | None) -> Cohort:
    """As a ledger writes it; a list of texts is one of names."""
    names = isinstance(written, list) and bool(written) and all(isinstance(name, str) for name in written)
    return Cohort.from_json({"ids": written} if names else written, line)


def _require(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise InvalidValue(name, None, "given")
    return data[name]


def _epsilon(
    data: dict[str, Any], form: WrittenForm, sensitivity: Fraction, parameters: dict[str, Fraction], times: int
) -> Fraction | None:
    """The charge: as declared, but with δ = 0 never below what the releases cost; sampling counts for nothing here."""
    one = form.cost(parameters, sensitivity)
    cost = None if one is None else one * times
    if not form.declares or data.get("epsilon") is None:
        return cost
    declared = exact_epsilon(data["epsilon"])
    if cost is not None and declared < cost and not exact_delta(data.get("delta", 0)) and "sampling" not in data:
        raise InvalidValue("epsilon", show(declared), f"at least sensitivity/scale = {show(cost)}")
    return declared
