"""``python -m benchmarks``: every figure, or the parts that are named."""

from __future__ import annotations

import argparse

from benchmarks.acceptance import acceptance
from benchmarks.audits import audits
from benchmarks.compositions import compositions
from benchmarks.designs import designs
from benchmarks.draws import draws
from benchmarks.engines import engines
from benchmarks.figures import HEADER
from benchmarks.games import games
from benchmarks.grants import grants
from benchmarks.ledgers import ledgers
from benchmarks.regrets import regrets
from benchmarks.report_costs import report_costs
from benchmarks.sampled import sampled
from benchmarks.sealing import sealing
from benchmarks.shuffles import shuffles
from benchmarks.throughput import throughput
from benchmarks.trainings import trainings

PARTS = {
    "throughput": throughput,
    "draws": draws,
    "ledgers": ledgers,
    "grants": grants,
    "report_costs": report_costs,
    "designs": designs,
    "regrets": regrets,
    "audits": audits,
    "games": games,
    "acceptance": acceptance,
    "sealing": sealing,
    "compositions": compositions,
    "shuffles": shuffles,
    "engines": engines,
    "sampled": sampled,
    "trainings": trainings,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="one or more of " + ", ".join(PARTS) + "; default: all")
    chosen = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    print(HEADER)
    missed = 0
    for part in chosen:
        for figure in PARTS[part]():
            print(figure.line(), flush=True)
            missed += figure.met is False
    print(f"{missed} missed. Figures by the clock hold on an idle machine only; those per core are by CPU time.")


if __name__ == "__main__":
    main()
