"""A Parquet export read back by pyarrow alone gives every release again, exactly."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from dpaudit.claims import DpauditError
from dpaudit.ledger import Charge, Cohort, MemoryLedger, Release, export_parquet, open_ledger, parquet
from dpaudit.ledger.records.release_facts import facts_from_json

EVERY_FIELD = Release(
    "batch 1", "laplace", Fraction(2), {"scale": "2/3", "grid": "1/1048576"}, derived=Fraction(1, 3), epsilon=Fraction(1, 3),
    delta=Fraction("1e-30"), cohort=Cohort.of([3, "pseudonym", range(7, 9)]), to="shuffled", kind="shuffled", n=4,
    values=np.array([[-(2**63), 2**63 - 1], [0, -1]]), theorem="clone", tags={"0": 1, "1": 3}, steps=2097152,
)  # fmt: skip
RELEASES = [
    EVERY_FIELD,
    Release("no values", "gaussian", Fraction(1), {"sigma": "5"}),
    Release("a scalar", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), values=np.int64(-7)),
    Release("an empty array", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), values=np.zeros((2, 0), np.int64)),
    Release("long", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), values=np.arange(1000)),
]


def read_back(path: Path) -> list[Release]:
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    for row in rows:
        shape = row.pop("shape")
        if row["values"] is not None:
            row["values"] = np.array(row["values"], dtype=np.int64).reshape(shape)
        row["cohort"] = Cohort.from_json(json.loads(row["cohort"]))
        for name in ("parameters", "tags", "extra"):
            row[name] = dict(row[name])
        row |= facts_from_json(row["extra"])
    return [Release(**row) for row in rows]


def test_every_field_of_every_release_comes_back(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.ledger") as ledger:
        for release in RELEASES:
            ledger.append(release)
        ledger.charge(Charge(Fraction(1), name="never released"))
        export_parquet(ledger, tmp_path / "a.parquet")
        head, identity = ledger.head(), ledger.identity
    assert read_back(tmp_path / "a.parquet") == RELEASES
    metadata = pyarrow.parquet.read_metadata(tmp_path / "a.parquet").metadata
    told = {name: metadata[name.encode()].decode() for name in ("schema", "ledger", "kind", "size", "root")}
    assert told == {
        "schema": "dpaudit.releases/1",
        "ledger": identity,
        "kind": "deployment",
        "size": str(head.size),
        "root": head.root,
    }


def test_the_comparison_notices_a_number_that_is_off_by_one(tmp_path: Path) -> None:
    """The twin: the same releases with one value moved by one step of the grid are not the same."""
    ledger = MemoryLedger()
    ledger.append(RELEASES[2].with_values(np.int64(-6)))
    export_parquet(ledger, tmp_path / "a.parquet")
    assert read_back(tmp_path / "a.parquet") != [RELEASES[2]]


def test_exact_numbers_are_texts_and_values_are_64_bit_integers(tmp_path: Path) -> None:
    export_parquet(MemoryLedger(), tmp_path / "empty.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "empty.parquet")
    assert {str(schema.field(name).type) for name in ("epsilon", "delta", "sensitivity", "derived")} == {"string"}
    assert schema.field("values").type.value_type == pyarrow.int64()
    assert read_back(tmp_path / "empty.parquet") == []


@pytest.mark.parametrize("limit", ["_GROUP_ROWS", "_GROUP_VALUES"])
def test_a_long_ledger_is_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(parquet, limit, 3)
    ledger = MemoryLedger()
    for i in range(10):
        ledger.append(RELEASES[2].with_values(np.array([i])))
    export_parquet(ledger, tmp_path / "a.parquet")
    assert pyarrow.parquet.read_metadata(tmp_path / "a.parquet").num_row_groups == 4
    assert [int(release.values[0]) for release in read_back(tmp_path / "a.parquet") if release.values is not None] == list(
        range(10)
    )


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DpauditError, match=r"dpaudit\[reports\]"):
        export_parquet(MemoryLedger(), tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
