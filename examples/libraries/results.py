"""What was found so far, kept beside the environments: a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from attack import Effort, Result


class Results:
    """One line of JSON for each function. ``find`` knows those that were attacked with these cases, this lock and this effort."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.known: dict[str, Result] = {}
        for line in lines:
            try:
                told = json.loads(line)
            except json.JSONDecodeError:  # half a line, of a run that was killed
                continue
            self.known[told["key"]] = Result(**told["result"])

    def find(self, key: str) -> Result | None:
        """What did not run is tried again."""
        found = self.known.get(key)
        return None if found is None or found.verdict == "not run" else found

    def keep(self, key: str, result: Result) -> None:
        self.known[key] = result
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write("\n" + json.dumps({"key": key, "result": asdict(result)}))


def key_of(library: str, function: str, effort: Effort, files: list[Path]) -> str:
    """Changes with whatever decides a result: the cases and the lock of its library, and the effort."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    return f"{library} {function} {effort.samples} {effort.seconds} {digest}"
