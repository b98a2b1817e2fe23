"""``make bandits``: real learners of other libraries behind ``algorithms.online.wrapper``, played, replayed and audited.

Each library has an environment of its own, .peers/NAME, from locks/NAME.txt, which also holds what dpaudit needs. None of these
learners claims to be private: the ε = 1 that they are held to is made up, and the verdicts are printed here and kept nowhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # the repository, for the environments of peers

from benchmarks.peers.environments import ROOT, Environment, environment

HERE = Path(__file__).parent
LOCKS = {lock.stem: lock for lock in sorted((HERE / "locks").glob("*.txt"))}
SECONDS = 600  # for all learners of one library


def main(arguments: Sequence[str]) -> int:
    unknown = [name for name in arguments if name not in LOCKS]
    if unknown:
        print(f"{', '.join(unknown)}: none of {', '.join(LOCKS)}", file=sys.stderr)
        return 2
    os.environ["PIP_NO_DEPS"] = "1"  # the locks are whole; one library asks for versions that no longer build
    failures = 0
    for name in arguments or LOCKS:
        where = environment(name, LOCKS[name])
        for result in results(where):
            failures += "failure" in result
            print(line(f"{name} {where.version}", result), flush=True)
    return int(failures > 0)


def results(where: Environment) -> list[dict[str, Any]]:
    """What every learner of a library did; a library that does not install or import is one failure."""
    if where.python is None:
        return [{"learner": "", "failure": where.failure}]
    command = [where.python, HERE / "learners.py", where.name]
    told = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(command, env=told, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [{"learner": "", "failure": f"took longer than {SECONDS} s"}]
    found = [json.loads(each) for each in ended.stdout.splitlines()]
    if ended.returncode:
        found.append({"learner": "", "failure": ended.stderr.strip()[-300:]})
    return found


def line(library: str, result: dict[str, Any]) -> str:
    title = f"{library:<28} {result['learner']:<18}"
    if "failure" in result:
        return f"✗ {title} {result['failure']}"
    return f"✓ {title} plays {result['actions']}, replays, {result['verdict']} (ε ≥ {result['lower']:.3g})"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
