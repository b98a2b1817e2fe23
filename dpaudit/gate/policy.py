"""``[tool.dpaudit]`` in pyproject.toml, read strictly: what is not known is refused by name, with the nearest known one."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from dpaudit.claims import ARITHMETICS, OBSERVERS, Claim, DpauditError, InvalidValue, whole
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Waiver
from dpaudit.ledger.opening import shown_place

FILE = "pyproject.toml"
LARGEST = 10**6  # bytes of a configuration
SEED = 1
TIMEOUT = 600  # seconds that one budget may take
REQUIRE = ("certified", "not-refuted")
NEVER_WAIVED = ("DPA002", "DPA007", "DPA008")  # leaks, of which only the first is seen; tampering; waivers themselves
WAIVER_DAYS = 180  # that a waiver may still run
KEYS = ("budgets", "waive", "baseline", "trusted_keys", "revoked_keys", "seed", "timeout", "waiver_days")
ALGORITHM_KEYS = ("horizon", "actions", "dim", "calibration")
TEXT_KEYS = ("subject", "ledger", "observer", "arithmetic", "neighbours", "unit", "calibration")
WHOLE_KEYS = {"samples": 100, "timeout": 1, "horizon": 1, "actions": 1, "dim": 1}  # and the least that each may be
BUDGET_KEYS = ("epsilon", "delta", "require", "door", *TEXT_KEYS, *WHOLE_KEYS)
WAIVER_KEYS = ("rule", "fingerprint", "reason", "owner", "expires")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")


class ConfigError(DpauditError):
    """The configuration says something that dpaudit does not understand. Keeps the file and the table."""

    def __init__(self, file: Path, table: str, reason: str) -> None:
        self.file, self.table = file, table
        super().__init__(f"{file.name}: [{table}] {reason}")


@dataclass(frozen=True)
class GateBudget:
    """What one subject or ledger may cost, for whom, and what the gate asks of it."""

    name: str
    claim: Claim
    subject: str | None = None  # file.py:name, module:name or a registered algorithm …
    ledger: str | None = None  # … or the file of a ledger; exactly one of the two
    observer: str | None = None  # default: the subject's own, for a ledger the server
    arithmetic: str | None = None  # default: the subject's own
    neighbours: str | None = None  # the relation that the subject must be judged for; of a ledger, as its data was sealed
    unit: str | None = None  # whose data a record is, for the reader
    require: str = "certified"
    samples: int | None = None
    timeout: int = TIMEOUT
    horizon: int | None = None
    actions: int | None = None
    dim: int | None = None
    calibration: str | None = None

    @property
    def target(self) -> str:
        """What it is about, as people see it: the address of a database without its password."""
        return self.subject or (shown_place(self.ledger) if self.ledger else "")


@dataclass(frozen=True)
class Config:
    """The gate's configuration; paths in it are relative to ``folder``. Without any: no file, no budgets."""

    folder: Path
    file: Path | None = None
    budgets: tuple[GateBudget, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    baseline: Path | None = None
    trusted_keys: tuple[Path, ...] = ()
    seed: int = SEED
    waiver_days: int = WAIVER_DAYS
    revoked_keys: tuple[Path, ...] = ()
    asked: Path | None = None  # the folder in which it was looked for; ``folder`` may lie above it


def read_config(folder: str | Path = ".") -> Config:
    """The nearest pyproject.toml with a ``[tool.dpaudit]`` in this folder or above it, up to the repository's root.

    Raises ConfigError for what is unknown, missing or malformed, and DpauditError for a file that is not TOML.
    """
    start = Path(folder).resolve()
    for place in (start, *start.parents):
        file = place / FILE
        if file.is_file():
            table = _table(file)
            if table is not None:
                return replace(_config(file, table), asked=start)
        if (place / ".git").exists():
            break
    return Config(start, asked=start)


def _table(file: Path) -> Any:
    """``[tool.dpaudit]``, or None. Numbers with a point stay texts, so that they are read exactly."""
    if file.stat().st_size > LARGEST:
        raise DpauditError(f"{file.name}: larger than {LARGEST} bytes")
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise DpauditError(f"{file.name}: not TOML: {error}") from None
    tool = document.get("tool", {})
    return tool.get("dpaudit") if isinstance(tool, dict) else None


def _config(file: Path, content: Any) -> Config:
    top = "tool.dpaudit"
    table = _read_table(file, top, content, KEYS)
    seconds = _whole(file, top, table, "timeout", 1) or TIMEOUT
    budgets = _mapping(file, f"{top}.budgets", table.get("budgets", {}))
    waivers = table.get("waive", [])
    if not isinstance(waivers, list):
        raise ConfigError(file, f"{top}.waive", "is a list of tables: write [[tool.dpaudit.waive]]")
    baseline, seed = _text(file, top, table, "baseline"), _whole(file, top, table, "seed", 0)
    return Config(
        file.parent,
        file,
        tuple(_budget(file, name, budget, seconds) for name, budget in budgets.items()),
        tuple(_waiver(file, place, waiver) for place, waiver in enumerate(waivers, 1)),
        None if baseline is None else file.parent / baseline,
        _key_files(file, top, table, "trusted_keys"),
        SEED if seed is None else seed,
        _whole(file, top, table, "waiver_days", 1) or WAIVER_DAYS,
        _key_files(file, top, table, "revoked_keys"),
    )


def _key_files(file: Path, where: str, table: Mapping[str, Any], key: str) -> tuple[Path, ...]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(file, where, f"{key} is a list of files with public keys")
    return tuple(file.parent / name for name in names)


def _budget(file: Path, name: str, content: Any, seconds: int) -> GateBudget:
    where = f"tool.dpaudit.budgets.{name}"
    if not _NAME.match(name):
        raise ConfigError(file, where, "has a name of other characters than letters, digits, '.', '_' and '-'")
    table = _read_table(file, where, content, BUDGET_KEYS)
    texts = {key: _text(file, where, table, key) for key in TEXT_KEYS}
    if (texts["subject"] is None) == (texts["ledger"] is None):
        raise ConfigError(file, where, "needs a subject or a ledger, one of the two")
    if texts["ledger"] is not None and {"door", "samples", "arithmetic", *ALGORITHM_KEYS[1:]} & table.keys():
        raise ConfigError(file, where, "is about a ledger, which takes no door, samples, arithmetic, actions, dim or calibration")
    if not isinstance(table.get("door", False), bool):  # of 0.1, and without effect now: every verdict says what it rests on
        raise ConfigError(file, where, "door must be true or false")
    require = _text(file, where, table, "require") or REQUIRE[0]
    if require not in REQUIRE:
        raise ConfigError(file, where, f'require must be "{REQUIRE[0]}" or "{REQUIRE[1]}", not {require!r}')
    read: dict[str, Any] = {key: _whole(file, where, table, key, least) for key, least in WHOLE_KEYS.items()}
    read |= {**texts, "require": require, "timeout": read["timeout"] or seconds}
    return GateBudget(name, _claim(file, where, table), **read)


def _claim(file: Path, where: str, table: Mapping[str, Any]) -> Claim:
    for key, example in (("epsilon", "1"), ("delta", "0")):
        if key not in table:
            raise ConfigError(file, where, f'needs {key}, an exact number as a text: {key} = "{example}"')
    try:
        return Claim(
            table["epsilon"], table["delta"], table.get("observer", OBSERVERS[0]), table.get("arithmetic", ARITHMETICS[0])
        )
    except (InvalidValue, TypeError) as error:
        raise ConfigError(file, where, str(error)) from None


def _waiver(file: Path, place: int, content: Any) -> Waiver:
    where = "tool.dpaudit.waive"
    table = _read_table(file, where, content, WAIVER_KEYS)
    texts = {key: _text(file, where, table, key) for key in WAIVER_KEYS[:-1]}
    missing = [key for key in WAIVER_KEYS if table.get(key) in (None, "")]
    if missing:
        raise ConfigError(file, where, f"number {place} needs {', '.join(missing)}")
    rule, fingerprint = str(texts["rule"]), str(texts["fingerprint"])
    if rule not in RULES or rule in NEVER_WAIVED:
        allowed = ", ".join(known for known in RULES if known not in NEVER_WAIVED)
        raise ConfigError(file, where, f"number {place} is for {rule!r}; rules that can be waived are {allowed}")
    if not _FINGERPRINT.match(fingerprint):
        raise ConfigError(file, where, f"number {place} needs the 16 digits of a fingerprint as dpaudit check prints it")
    return Waiver(rule, fingerprint, str(texts["reason"]), str(texts["owner"]), _day(file, where, place, table["expires"]))


def _day(file: Path, where: str, place: int, value: Any) -> date:
    try:
        return value if type(value) is date else date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ConfigError(file, where, f"number {place} needs a day in expires, as 2027-01-31") from None


def _mapping(file: Path, where: str, content: Any) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise ConfigError(file, where, "must be a table")
    return content


def _read_table(file: Path, where: str, content: Any, keys: Collection[str]) -> Mapping[str, Any]:
    table = _mapping(file, where, content)
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {near[0]}?" if near else "known are " + ", ".join(keys)
            raise ConfigError(file, where, f"has an unknown key {key!r}; {hint}")
    return table


def _text(file: Path, where: str, table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if key in table and (not isinstance(value, str) or not value.strip() or len(value) > 1000):
        raise ConfigError(file, where, f"{key} must be a text of 1 to 1000 characters")
    return value


def _whole(file: Path, where: str, table: Mapping[str, Any], key: str, least: int) -> int | None:
    if key not in table:
        return None
    try:
        return whole(table[key], key, least)
    except InvalidValue as error:
        raise ConfigError(file, where, str(error)) from None
