"""Side by side with peers: the same work in each environment, taking turns, as CPU time. By ``make bench-peers``, never in CI.

Writes results.json here, and two sections of benchmarks/README.md: "Side by side with peers" and "Peers' own expected values".
``python -m benchmarks.peers values`` renews the second alone, in a minute, and needs no peer.
"""

from __future__ import annotations

import datetime
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers.environments import HERE, environment
from benchmarks.peers.expected_values import Share, shares, values_table
from benchmarks.peers.measured import REPEATS, Worker, measure
from benchmarks.peers.section import TITLE, markdown, time_text, write
from benchmarks.peers.tasks import TASKS

VALUES_TITLE = "## Peers' own expected values"


def values() -> list[Share]:
    """Compare every value that peers' tests expect, print the shares and write them down."""
    told, date = shares(), datetime.datetime.now(datetime.UTC).date().isoformat()
    source = "`benchmarks/peers/expected_values.json`, each with the file and the test that it is from, and what is left out"
    head = f"Compared on {date} by `python -m benchmarks.peers values`: {source}."
    table = values_table(told)
    print("\n".join([*table, *(line for share in told for line in share.contradicted)]))
    write(VALUES_TITLE, "\n".join([VALUES_TITLE, "", head, "", *table]) + "\n")
    return told


def main() -> None:
    if sys.argv[1:] == ["values"]:
        values()
        return
    names = sorted({name for work in TASKS.values() for name in work.peers})
    environments = [environment(name) for name in names]
    workers = {each.name: Worker(each.name, each.python) for each in environments if each.python is not None}
    workers["dpaudit"] = Worker("dpaudit", Path(sys.executable))
    missing = {each.name: each.failure for each in environments if each.python is None}
    found = []
    try:
        for one in measure(workers, missing):
            found.append(one)
            print(one.task, one.size, one.peer, one.failure or f"{one.value:.6g} {time_text(one.median)}", flush=True)
    finally:
        for worker in workers.values():
            worker.end()
    told, date = values(), datetime.datetime.now(datetime.UTC).date().isoformat()
    results = {
        "date": date,
        "repeats": REPEATS,
        "versions": {each.name: each.version for each in environments},
        "failures": missing,
        "measured": [asdict(one) for one in found],
        "expected values": [share.to_dict() for share in told],
    }
    (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    write(TITLE, markdown(found, environments, date))


if __name__ == "__main__":
    main()
