"""What is shipped, file by file: hashed requirements and a bill of materials (CycloneDX 1.6), for `make lock` and `make release`.

    python .ci/supply_chain.py lock REPORT           constraints-hashed.txt from what `pip install --dry-run --report` chose
    python .ci/supply_chain.py requirements          of these lines, what an installed dpaudit needs: for pip --require-hashes
    python .ci/supply_chain.py bill DISTRIBUTION…    what is in a release, with hashes, licences and who needs whom

A hash is that of the file which pip chose on one platform. A package whose file differs from machine to machine (a local version
such as torch's +cpu) has none: it is named in a comment, and is no part of what is shipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

HASHED = Path(__file__).parents[1] / "constraints-hashed.txt"
HEAD = """\
# Renewed by `make lock`: the pins of constraints.txt, with the SHA-256 of the files that pip chose (CPython 3.11, Linux, x86-64).
# `make release` installs what dpaudit itself needs by these hashes. On another platform pip chooses other files of some packages.
"""
NAME = "dpaudit"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lock(report: Path) -> str:
    """The hashed lines of all that pip chose, but for what it would make itself."""
    lines, left_out = [], []
    for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
        name, version = canonical(item["metadata"]["name"]), item["metadata"]["version"]
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if "+" in version:
            left_out.append(
                f"# {name}=={version.partition('+')[0]} has no hash here: its file is another one on every kind of machine"
            )
        elif digest is not None:
            lines.append(f"{name}=={version} --hash=sha256:{digest}")
    return HEAD + "\n".join([*sorted(left_out), *sorted(lines)]) + "\n"


def hashes(file: Path = HASHED) -> dict[str, tuple[str, str]]:
    """Version and SHA-256 by name."""
    found = re.findall(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (version, digest) for name, version, digest in found}


def needs(name: str) -> list[str]:
    """What a distribution needs here, without extras that nobody asked for."""
    wanted = [Requirement(text) for text in distribution(name).requires or []]
    return sorted({canonical(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})})


def shipped() -> dict[str, list[str]]:
    """Everything that an installed dpaudit draws in, and what each of these needs."""
    graph: dict[str, list[str]] = {}
    waiting = [NAME]
    while waiting:
        name = waiting.pop()
        if name not in graph:
            graph[name] = needs(name)
            waiting += graph[name]
    return dict(sorted(graph.items()))


def requirements() -> str:
    known = hashes()
    names = [name for name in shipped() if name != NAME]
    return "".join(f"{name}=={known[name][0]} --hash=sha256:{known[name][1]}\n" for name in names)


def bill(files: Iterable[Path]) -> dict[str, Any]:
    """CycloneDX. The same tree gives the same bytes: its time is SOURCE_DATE_EPOCH, its number is made of its content."""
    known, graph = hashes(), shipped()
    made = [{"type": "file", "name": file.name, "hashes": _hashed(_digest(file))} for file in sorted(files)]
    product = {**_component(distribution(NAME), None), "type": "application", "components": made}
    parts = [_component(distribution(name), known[name]) for name in graph if name != NAME]
    versions = {name: distribution(name).version for name in graph}
    needed = [
        {"ref": _purl(name, versions[name]), "dependsOn": [_purl(one, versions[one]) for one in others]}
        for name, others in graph.items()
    ]
    moment = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = {
        "metadata": {"timestamp": moment, "component": product}, "components": parts, "dependencies": needed,
    }  # fmt: skip
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1, **content}


def _component(found: Distribution, pinned: tuple[str, str] | None) -> dict[str, Any]:
    name, version = canonical(found.metadata["Name"]), found.version
    if pinned is not None and pinned[0] != version:
        raise SystemExit(f"{name} {version} is installed, and {pinned[0]} is locked: run make install, or make lock")
    part = {"type": "library", "bom-ref": _purl(name, version), "name": name, "version": version, "purl": _purl(name, version)}
    licence = found.metadata.get("License-Expression")
    said = [text.rpartition(" :: ")[2] for text in found.metadata.get_all("Classifier") or [] if text.startswith("License :: ")]
    if licence:
        part["licenses"] = [{"expression": licence}]
    elif said:
        part["licenses"] = [{"license": {"name": text}} for text in said]
    return part if pinned is None else {**part, "hashes": _hashed(pinned[1])}


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def _hashed(digest: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest}]


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main(arguments: list[str]) -> None:
    match arguments:
        case ["lock", report]:
            HASHED.write_text(lock(Path(report)), encoding="utf-8")
        case ["requirements"]:
            sys.stdout.write(requirements())
        case ["bill", *files]:
            sys.stdout.write(json.dumps(bill(Path(file) for file in files), indent=2) + "\n")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
