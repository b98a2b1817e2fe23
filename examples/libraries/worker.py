"""Runs in a library's own environment: reads requests as JSON lines, answers with outputs. Needs the library alone.

python worker.py CASES       {"case": name, "side": 0 or 1, "count": n}  →  {"outputs": [[…], …]} or {"failure": "…"}
"""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from case import Case, numbers


def load(path: Path) -> dict[str, Case]:
    """The cases of a file, by name."""
    spec = importlib.util.spec_from_file_location("cases_of_a_library", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {case.name: case for case in module.CASES}


def answer(cases: dict[str, Case], request: dict[str, Any]) -> dict[str, Any]:
    case = cases[request["case"]]
    data = case.pair[request["side"]]
    try:
        return {"outputs": [numbers(case.call(data)) for _ in range(request["count"])]}
    except Exception as error:  # a library of another version, or a function that refuses this data
        return {"failure": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    cases = load(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(answer(cases, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
