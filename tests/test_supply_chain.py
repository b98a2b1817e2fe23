"""What a release says of its parts: every pin has its hash, the bill of materials has CycloneDX's form, actions are pinned."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def chain() -> Any:
    place = importlib.util.spec_from_file_location("supply_chain", ROOT / ".ci" / "supply_chain.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def pins(chain: Any) -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return {chain.canonical(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_every_pin_has_its_hash_and_no_other_version(chain: Any) -> None:
    hashed, pinned = chain.hashes(), pins(chain)
    text = (ROOT / "constraints-hashed.txt").read_text(encoding="utf-8")
    unhashed = set(re.findall(r"^# (\S+)==\S+ has no hash", text, re.MULTILINE))
    assert unhashed == {"torch"}
    assert {name: version for name, (version, _) in hashed.items() if name in pinned} == {
        name: version for name, version in pinned.items() if name not in unhashed
    }
    assert hashed.keys() - pinned.keys() <= {"setuptools"}, "pip freeze leaves it out"


def test_what_is_shipped_is_hashed_whole(chain: Any) -> None:
    lines = chain.requirements().splitlines()
    assert {line.partition("==")[0] for line in lines} == chain.shipped().keys() - {"dpaudit"}
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert {"numpy", "cffi"} <= chain.shipped().keys(), "what it needs, and what that needs"
    assert not {"pytest", "torch", "fastapi"} & chain.shipped().keys()


def test_a_file_that_differs_from_machine_to_machine_gets_no_hash(chain: Any, tmp_path: Path) -> None:
    def chosen(name: str, version: str, **archive: Any) -> dict[str, Any]:
        return {"metadata": {"name": name, "version": version}, "download_info": {"url": "", **archive}}

    some = {"archive_info": {"hashes": {"sha256": "0" * 64}}}
    report = tmp_path / "report.json"
    items = [chosen("B_b", "2", **some), chosen("torch", "2.13.0+cpu", **some), chosen("own", "1", dir_info={})]
    report.write_text(json.dumps({"install": items}), encoding="utf-8")
    lines = chain.lock(report).splitlines()[2:]
    assert lines == [
        "# torch==2.13.0 has no hash here: its file is another one on every kind of machine",
        f"b-b==2 --hash=sha256:{'0' * 64}",
    ]


def test_the_bill_has_the_form_of_cyclonedx_and_is_the_same_again(chain: Any, tmp_path: Path) -> None:
    wheel = tmp_path / "dpaudit-0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    bill = chain.bill([wheel])
    check = JsonStrictValidator(SchemaVersion.V1_6)
    assert check.validate_str(json.dumps(bill)) is None
    assert check.validate_str(json.dumps({**bill, "components": [{"name": "no type"}]})) is not None, "the twin"
    assert chain.bill([wheel]) == bill
    refs = {part["bom-ref"] for part in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {one["ref"] for one in bill["dependencies"]} == refs
    assert {need for one in bill["dependencies"] for need in one["dependsOn"]} <= refs
    assert all(part["hashes"] and part["licenses"] for part in bill["components"])
    wheel.write_bytes(b"another")
    assert chain.bill([wheel])["serialNumber"] != bill["serialNumber"]


@pytest.mark.parametrize("file", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda file: file.name)
def test_every_action_is_pinned_by_its_commit(file: Path) -> None:
    used = re.findall(r"^\s*-?\s*uses:\s*(\S+)(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert [name for name, note in used if not re.search(r"@[0-9a-f]{40}$", name) or not re.search(r"# v\d+\.\d+", note)] == []
