"""Runs in a library's own environment: reads requests as JSON lines, answers with outputs. Needs the library alone.

python worker.py CASES    {"case": name, "side": 0 or 1, "count": n, "seconds": s}  →  {"outputs": [[…], …]} or {"failure": "…"}
"""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from case import Case, numbers


class TooLong(Exception):
    """A call that took longer than it may."""


class Function:
    """A case, and of each side the runs that a batch made and nobody has taken yet: no run is handed out twice."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.waiting: tuple[list[Any], list[Any]] = ([], [])

    def outputs(self, side: int, count: int) -> list[list[float]]:
        data = self.case.pair[side]
        if self.case.batch == 1:
            return [numbers(self.case.call(data)) for _ in range(count)]
        waiting = self.waiting[side]
        while len(waiting) < count:
            waiting += map(numbers, self.case.call(data))
        taken = waiting[:count]
        del waiting[:count]
        return taken


def load(path: Path) -> dict[str, Case]:
    """The cases of a file, by name."""
    spec = importlib.util.spec_from_file_location("cases_of_a_library", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {case.name: case for case in module.CASES}


def answer(functions: dict[str, Function], request: dict[str, Any]) -> dict[str, Any]:
    signal.alarm(request["seconds"])
    try:
        return {"outputs": functions[request["case"]].outputs(request["side"], request["count"])}
    except TooLong:
        return {"failure": f"{request['count']} runs take longer than {request['seconds']} s"}
    except Exception as error:  # a library of another version, or a function that refuses this data
        return {"failure": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.alarm(0)


def stop(*_: Any) -> None:
    raise TooLong


def main() -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    functions = {name: Function(case) for name, case in load(Path(sys.argv[1])).items()}
    for line in sys.stdin:
        print(json.dumps(answer(functions, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
