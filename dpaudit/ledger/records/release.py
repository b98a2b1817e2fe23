"""The record of one release: public facts about what left the door. It never says how to account for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from dpaudit.claims import InvalidValue, exact, exact_delta, exact_epsilon, show
from dpaudit.ledger.errors import InvalidRecord
from dpaudit.ledger.records.charge_entries import facts_of
from dpaudit.ledger.records.cohort import LARGEST, Cohort
from dpaudit.ledger.records.grid_values import Units, as_units, is_json_of, units_from_json, units_to_json
from dpaudit.ledger.records.handwritten import Forms, flat_fields, refuse_unknown_observer
from dpaudit.ledger.records.printable_text import is_plain, plain
from dpaudit.ledger.records.release_facts import FACTS, check_facts, facts_from_json, facts_to_json
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.budget import Charge

KINDS = ("release", "reports", "shuffled")


@dataclass(frozen=True, eq=False)
class Release:
    """One release, one batch of ``n`` reports, or one shuffled batch; every number is exact.

    ``epsilon``, ``delta``: the charge to every record of the cohort (``epsilon`` None: no pure cost known).
    ``sensitivity`` is declared, ``derived`` proven by a trace. ``values`` are integer multiples of the grid.
    ``steps``: how far one record moves it, in steps of the grid; ``coordinates``: its size; ``crowd``: how many reports one of
    them hides among; ``read``: "sums" where nothing but sums of the reports is handed out; ``relation``: the neighbours that the
    sensitivity is proven for; ``count``: so many equal releases were made; ``sampling``: the rate of the fresh Poisson
    sample that each was computed from; ``leaves``: a stream of so many running sums, where one record is in at most ``count`` of
    the sums that noise is added to; ``failure``: with this probability it shows what its mechanism does not account for. None:
    not recorded. ``extra``: notes that nothing is computed from.
    Raises InvalidValue; the message never prints values or records.
    """

    name: str
    mechanism: str
    sensitivity: Fraction
    parameters: Mapping[str, str] = field(default_factory=dict)
    derived: Fraction | None = None
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    cohort: Cohort = field(default_factory=Cohort.all)
    to: str = "server"
    kind: str = "release"
    n: int = 1
    values: Units | None = None
    theorem: str | None = None
    tags: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    coordinates: int | None = None
    crowd: int | None = None
    read: str | None = None
    relation: str | None = None
    count: int | None = None
    sampling: str | None = None
    leaves: int | None = None
    failure: str | None = None

    def __post_init__(self) -> None:
        for name in ("name", "mechanism", "to"):
            _check_text(getattr(self, name), name)
        if self.kind not in KINDS:
            raise InvalidValue("kind", self.kind, "one of " + ", ".join(KINDS))
        if type(self.n) is not int or not 0 <= self.n <= LARGEST:
            raise InvalidValue("n", self.n, "a whole number of at least 0, within 64 bits")
        if self.theorem is not None:
            plain(self.theorem, "theorem")
        put = object.__setattr__
        put(self, "sensitivity", _size(self.sensitivity, "sensitivity"))
        put(self, "derived", None if self.derived is None else _size(self.derived, "derived"))
        put(self, "epsilon", None if self.epsilon is None else exact_epsilon(self.epsilon))
        put(self, "delta", exact_delta(self.delta))
        put(self, "cohort", Cohort.of(self.cohort))
        _check_ids(self.cohort)
        put(self, "parameters", _mapping(self.parameters, "parameters", str))
        put(self, "tags", _mapping(self.tags, "tags", int))
        put(self, "extra", _mapping(self.extra, "extra", str))
        check_facts(self._facts(), self.extra)
        if self.sampling is not None and not 0 < exact(self.sampling, "sampling") <= 1:
            raise InvalidValue("sampling", self.sampling, "a probability above 0 and at most 1")
        if self.failure is not None:
            exact_delta(self.failure, "failure")
        if self.count == 0:
            raise InvalidValue("count", 0, "at least 1")
        put(self, "values", None if self.values is None else as_units(self.values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(canonical(self.to_json()))

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FACTS}

    def with_values(self, values: object) -> Release:
        """The same release with what was drawn; the rest was checked when it was made."""
        made = object.__new__(Release)
        made.__dict__.update(self.__dict__, values=as_units(values))
        return made

    def without_values(self) -> Release:
        made = object.__new__(Release)
        made.__dict__.update(self.__dict__, values=None)
        return made

    def about(self, name: str, cohort: Cohort) -> Release:
        """The same release under another name, of others' data; the rest was checked when it was made."""
        _check_text(name, "name")
        _check_ids(cohort)
        made = object.__new__(Release)
        made.__dict__.update(self.__dict__, name=name, cohort=cohort, _charge=None, _charge_before=self.charge())
        return made

    def charge(self) -> Charge:
        """What this release costs every record of its cohort, with the facts that other filters need."""
        charge: Charge | None = self.__dict__.get("_charge")
        before: Charge | None = self.__dict__.get("_charge_before")
        if charge is None and before is not None:
            charge = before.about(self.name, self.cohort)
            object.__setattr__(self, "_charge", charge)
        if charge is None:
            facts = facts_of(self.mechanism, show(self.sensitivity), self.parameters, self._facts())
            charge = Charge(self.epsilon, self.delta, self.cohort, self.name, facts)
            object.__setattr__(self, "_charge", charge)  # asked for three times on the way through a door
        return charge

    def to_json(self) -> dict[str, Any]:
        """One form per release: exact numbers as strings; what has its default value is left out."""
        record: dict[str, Any] = {
            "name": self.name,
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "sensitivity": show(self.sensitivity),
            "epsilon": None if self.epsilon is None else show(self.epsilon),
            "cohort": self.cohort.to_json(),
            "to": self.to,
        }
        if self.derived is not None:
            record["derived"] = show(self.derived)
        if self.delta:
            record["delta"] = show(self.delta)
        if (self.kind, self.n) != ("release", 1):
            record |= {"kind": self.kind, "n": self.n}
        if self.values is not None:
            record["values"] = units_to_json(self.values)
        if self.theorem is not None:
            record["theorem"] = self.theorem
        if self.tags:
            record["tags"] = dict(self.tags)
        extra = self.extra_to_json()
        return {**record, "extra": extra} if extra else record

    def is_written_as(self, record: dict[str, Any]) -> bool:
        """Is this ``to_json()``? Many values are compared without another copy of them."""
        if self.without_values().to_json() != {key: value for key, value in record.items() if key != "values"}:
            return False
        if self.values is None or "values" not in record:
            return self.values is None and "values" not in record
        return is_json_of(record["values"], self.values)

    def extra_to_json(self) -> dict[str, str]:
        """Facts and notes, as the record holds them under "extra"."""
        return facts_to_json(self._facts(), self.extra)

    @classmethod
    def from_json(cls, data: object, line: int | None = None, *, forms: Forms | None = None) -> Release:
        """Read ``to_json``'s form or, with ``forms``, the flat ones that people write by hand. Raises InvalidRecord."""
        if not isinstance(data, dict):
            raise InvalidRecord("a release", "a JSON object", line)
        if "parameters" not in data and forms is not None:
            return build(flat_fields(data, forms, line), line)
        unknown = sorted(set(data) - {each.name for each in fields(cls)} | (set(data) & set(FACTS)))
        if unknown:
            raise InvalidRecord(repr(unknown[0][:40]), "a known field of a release", line)
        refuse_unknown_observer(data, line)
        record = dict(data)
        for name in ("sensitivity", "derived", "epsilon", "delta"):
            if record.get(name) is not None and not isinstance(record[name], str):
                raise InvalidRecord(name, 'an exact number as a text, such as "1/2"', line)
        record["cohort"] = Cohort.from_json(data.get("cohort"), line)
        if data.get("values") is not None:
            record["values"] = units_from_json(data["values"], line)
        try:
            return build({**record, **facts_from_json(record.get("extra", {}))}, line)
        except InvalidValue as error:
            raise InvalidRecord(error.name, error.expected, line) from None


def build(record: dict[str, Any], line: int | None) -> Release:
    """A release from its fields, with errors that name line and field. Raises InvalidRecord."""
    for name in ("name", "mechanism", "sensitivity"):
        if name not in record:
            raise InvalidRecord(name, "given", line)
    try:
        return Release(**record)
    except InvalidValue as error:
        raise InvalidRecord(error.name, error.expected, line) from None


def _check_text(text: Any, name: str) -> None:
    plain(text, name)
    if not text:
        raise InvalidValue(name, "", "a text")


def _check_ids(cohort: Cohort) -> None:
    if cohort.ids and not all(map(is_plain, cohort.ids)):
        raise InvalidValue("cohort", "an id with control characters", "made of texts without control characters")


def _size(value: Any, name: str) -> Fraction:
    number = exact(value, name)
    if number < 0:
        raise InvalidValue(name, value, "zero or more")
    return number


def _mapping(value: Any, name: str, kind: type) -> dict[str, Any]:
    """A plain copy of a mapping from texts to ``kind``."""
    entries = {} if value is None else value
    right = isinstance(entries, Mapping) and all(type(k) is str and type(v) is kind for k, v in entries.items())
    if right and not all(is_plain(text) for pair in entries.items() for text in pair if type(text) is str):
        raise InvalidValue(name, "a text with control characters", "made of texts without control characters")
    if not right or (kind is int and not all(0 <= count <= LARGEST for count in entries.values())):
        kinds = "texts" if kind is str else "counts"
        raise InvalidValue(name, type(value).__name__, f"a mapping from texts to {kinds}")
    return dict(entries)
