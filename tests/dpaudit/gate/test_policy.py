"""The configuration is read strictly; a mistake is named, with its table."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpaudit.claims import DpauditError
from dpaudit.gate.policy import BUDGET_KEYS, KEYS, SEED, TIMEOUT, WAIVER_KEYS, ConfigError, read_config

BUDGET = '[tool.dpaudit.budgets.service]\nsubject = "a.py:f"\nepsilon = "1/2"\ndelta = "1e-6"\n'
WAIVER = '[[tool.dpaudit.waive]]\nrule = "DPA004"\nfingerprint = "0123456789abcdef"\nreason = "old"\nowner = "ann"\n'


def write(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_everything_that_can_be_said_is_read(tmp_path: Path) -> None:
    top = '[tool.dpaudit]\nbaseline = "base.json"\ntrusted_keys = ["keys/a.pub", "keys/b.pub"]\nseed = 7\ntimeout = 30\n'
    more = (
        'require = "not-refuted"\nobserver = "actions"\nneighbours = "replace_one"\nunit = "user"\nsamples = 1000\nhorizon = 50\n'
        'arithmetic = "ideal"\n'
    )
    write(tmp_path, top + BUDGET + more + WAIVER + "expires = 2027-01-31\n")
    config = read_config(tmp_path)
    (budget,) = config.budgets
    assert (budget.claim.epsilon, budget.claim.delta) == (Fraction(1, 2), Fraction(1, 10**6))
    assert (budget.require, budget.observer, budget.neighbours, budget.unit) == ("not-refuted", "actions", "replace_one", "user")
    assert budget.arithmetic == budget.claim.arithmetic == "ideal"
    assert (budget.samples, budget.horizon, budget.timeout, config.seed) == (1000, 50, 30, 7)
    assert config.baseline == tmp_path / "base.json"
    assert config.trusted_keys == (tmp_path / "keys/a.pub", tmp_path / "keys/b.pub")
    assert config.waivers[0].expires == date(2027, 1, 31)


def test_the_rest_has_defaults(tmp_path: Path) -> None:
    write(tmp_path, BUDGET)
    config = read_config(tmp_path)
    (budget,) = config.budgets
    assert (budget.require, budget.observer, budget.timeout, config.seed) == ("certified", None, TIMEOUT, SEED)
    assert (config.baseline, config.trusted_keys, config.waivers) == (None, (), ())


def test_numbers_are_exact_even_without_quotes(tmp_path: Path) -> None:
    write(tmp_path, BUDGET.replace('"1/2"', "0.1"))
    assert read_config(tmp_path).budgets[0].claim.epsilon == Fraction(1, 10)


def test_the_nearest_file_with_the_table_counts_up_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "service"
    inner.mkdir(parents=True)
    write(tmp_path / "repository", BUDGET)
    write(inner, '[project]\nname = "service"\n')
    assert read_config(inner).folder == (tmp_path / "repository").resolve()
    (inner / ".git").mkdir()
    assert read_config(inner).file is None


def test_without_a_table_there_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert read_config(tmp_path).budgets == ()
    write(tmp_path, "[tool.other]\n")
    assert read_config(tmp_path).file is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BUDGET + 'epsilom = "1"\n', "unknown key 'epsilom'; did you mean epsilon?"),
        ("[tool.dpaudit]\nbudget = 1\n", "did you mean budgets?"),
        (WAIVER + 'expires = 2027-01-31\nticket = "1"\n', "unknown key 'ticket'; known are rule"),
        (BUDGET + 'ledger = "b.ledger"\n', "one of the two"),
        (BUDGET + 'observer = "everybody"\n', "observer must be one of"),
        (BUDGET + 'arithmetic = "exact"\n', "arithmetic must be float or ideal"),
        (BUDGET.replace('subject = "a.py:f"', 'ledger = "b.ledger"') + 'arithmetic = "ideal"\n', "is about a ledger"),
        (BUDGET + "timeout = 0\n", "timeout must be a whole number of at least 1"),
        (BUDGET + "samples = 3\n", "samples must be a whole number of at least 100"),
        (BUDGET + 'door = "yes"\n', "door must be true or false"),
        (BUDGET + 'unit = ""\n', "unit must be a text"),
        (BUDGET.replace('subject = "a.py:f"', 'ledger = "b.ledger"') + "samples = 1000\n", "is about a ledger"),
        (BUDGET.replace('"1/2"', "true"), "epsilon must be a number"),
        (BUDGET.replace('"1/2"', "nan"), "epsilon must be"),
        (BUDGET.replace('"1/2"', '"-1"'), "epsilon must be zero or more"),
        (BUDGET.replace('"1e-6"', '"1"'), "delta must be at least 0 and below 1"),
        (BUDGET.replace("budgets.service", 'budgets."../x y"'), "name of other characters"),
        ("[tool.dpaudit]\nbudgets = 3\n", "must be a table"),
        ("[tool.dpaudit]\ntrusted_keys = [3]\n", "list of files"),
        ("[tool.dpaudit.waive]\nrule = 1\n", "list of tables"),
        (WAIVER, "needs expires"),
        (WAIVER + 'expires = "soon"\n', "needs a day in expires"),
        (WAIVER.replace('"ann"', '""') + "expires = 2027-01-31\n", "owner must be a text"),
        (WAIVER.replace("DPA004", "DPA007") + "expires = 2027-01-31\n", "rules that can be waived are DPA001"),
        (WAIVER.replace("DPA004", "DPA999") + "expires = 2027-01-31\n", "rules that can be waived are DPA001"),
        (WAIVER.replace("0123456789abcdef", "*") + "expires = 2027-01-31\n", "16 digits of a fingerprint"),
    ],
)
def test_a_mistake_is_refused_and_named(text: str, told: str, tmp_path: Path) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError) as failed:
        read_config(tmp_path)
    assert told in str(failed.value)
    assert "tool.dpaudit" in str(failed.value)


@pytest.mark.parametrize("text", [b"[tool.dpaudit\n", b"\xff\xfe", b"a = " + b"[" * 100_000, b"x" * 1_000_001])
def test_what_is_not_toml_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text)
    with pytest.raises(DpauditError, match=r"pyproject\.toml"):
        read_config(tmp_path)


def inline(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


LEAVES = (
    st.sampled_from(["1", "1e-6", "a.py:f", "DPA004", "0" * 16, "2027-01-31", "certified", "", "nan", "9" * 5000]) | st.integers()
)
VALUES = LEAVES | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.lists(LEAVES, max_size=3)


def tables(keys: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from([*keys, "other"]), VALUES, max_size=6) | VALUES


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    top=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3),
    budgets=st.dictionaries(st.sampled_from(["a", "b.c", " "]), tables(BUDGET_KEYS), max_size=2),
    waivers=st.lists(tables(WAIVER_KEYS), max_size=2),
)
def test_any_table_is_read_or_refused(top: Any, budgets: Any, waivers: Any, tmp_path: Path) -> None:
    whole = {"budgets": budgets, "waive": waivers, **top}
    write(tmp_path, "tool.dpaudit = " + inline(whole) + "\n")
    try:
        read = read_config(tmp_path)
    except DpauditError:
        return
    assert len(read.budgets) == len(whole["budgets"])
    assert len(read.waivers) == len(whole["waive"])
