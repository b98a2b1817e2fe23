"""A ledger's releases as a Parquet table, for people who analyse them: one row per release, exact numbers as texts."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, show
from dpaudit.ledger.errors import TamperedLedger
from dpaudit.ledger.export import refuse_itself
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.store.ledger import Head, Ledger
from dpaudit.ledger.store.merkle import MerkleTree

SCHEMA = "dpaudit.releases/1"

_GROUP_ROWS, _GROUP_VALUES = 10_000, 2**20  # of one row group, so that memory stays bounded


def export_parquet(ledger: Ledger, path: str | Path) -> Head:
    """Write the releases; the file's metadata name the ledger, its kind and the head that they were read under.

    Columns: ``values`` are integer multiples of the grid, flat, with their ``shape``; ``cohort`` is JSON; null means none.
    Raises DpauditError if pyarrow is not installed, OSError if the file cannot be written.
    """
    arrow, parquet = _arrow()
    refuse_itself(ledger, path)
    tree, rows, weight = MerkleTree(), [], 0
    schema = _columns(arrow)
    with parquet.ParquetWriter(path, schema) as writer:
        for entry in ledger.entries():
            tree.append(entry)
            data = json.loads(entry)
            if data["entry"] != "release":
                continue
            release = _read(data["release"], ledger)
            rows.append(_row(release))
            weight += 0 if release.values is None else release.values.size
            if len(rows) >= _GROUP_ROWS or weight >= _GROUP_VALUES:
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
                rows, weight = [], 0
        writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
        head = Head(tree.size, tree.root().hex())
        read = {"size": str(head.size), "root": head.root}
        writer.add_key_value_metadata({"schema": SCHEMA, "ledger": ledger.identity, "kind": ledger.kind, **read})
    return head


def _arrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DpauditError("Parquet needs pyarrow; install it with: pip install 'dpaudit[reports]'") from None


def _columns(arrow: Any) -> Any:
    text, whole = arrow.string(), arrow.int64()
    columns = dict.fromkeys(("name", "mechanism", "sensitivity", "derived", "epsilon", "delta", "cohort", "to", "kind"), text)
    columns |= {"n": whole, "theorem": text, "values": arrow.list_(whole), "shape": arrow.list_(whole)}
    columns |= {"parameters": arrow.map_(text, text), "tags": arrow.map_(text, whole), "extra": arrow.map_(text, text)}
    return arrow.schema(list(columns.items()))


def _row(release: Release) -> dict[str, Any]:
    values = release.values
    return {
        "name": release.name,
        "mechanism": release.mechanism,
        "parameters": list(release.parameters.items()),
        "sensitivity": show(release.sensitivity),
        "derived": None if release.derived is None else show(release.derived),
        "epsilon": None if release.epsilon is None else show(release.epsilon),
        "delta": show(release.delta),
        "cohort": canonical(release.cohort.to_json()).decode("ascii"),
        "to": release.to,
        "kind": release.kind,
        "n": release.n,
        "theorem": release.theorem,
        "values": None if values is None else values.ravel(),
        "shape": None if values is None else list(values.shape),
        "tags": list(release.tags.items()),
        "extra": list(release.extra_to_json().items()),
    }


def _read(record: Any, ledger: Ledger) -> Release:
    try:
        return Release.from_json(record)
    except DpauditError:
        raise TamperedLedger(ledger.identity, "a release is not what a ledger writes") from None
