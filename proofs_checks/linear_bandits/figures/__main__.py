"""``python -m proofs_checks.linear_bandits.figures -o DIR``: the paper's two figures, printed and corrected, as CSV, SVG and PNG."""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

from dpaudit.commands import progress
from proofs_checks.linear_bandits.figures.regret_data import SEED, Spot, spot_of, wanted
from proofs_checks.linear_bandits.figures.plots import draw, svg

FILES = {10: "regret", 1000: "core-set"}  # by number of actions


def compute(count: int, seed: int, workers: int) -> list[Spot]:
    """All points of both figures; every point has its own seeds, so the number of workers changes nothing."""
    jobs = [(point, count, seed) for point in wanted()]
    spots = []
    with get_context("spawn").Pool(workers) as pool, progress("figures", len(jobs)) as tell:
        for (_, curve, calibration, epsilon), spot in zip(wanted(), pool.imap(spot_of, jobs, chunksize=1), strict=True):
            tell(f"{curve}, {calibration}" + (f", ε = {epsilon}" if epsilon else ""))
            spots.append(spot)
    return spots


def write(spots: Sequence[Spot], folder: Path) -> list[Path]:
    """CSV, SVG and PNG of each figure."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for actions, name in FILES.items():
        mine = [spot for spot in spots if spot.actions == actions]
        table, vector, raster = (folder / f"{name}.{ending}" for ending in ("csv", "svg", "png"))
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(mine[0].row()))
            writer.writeheader()
            writer.writerows(spot.row() for spot in mine)
        figure = draw(mine)
        vector.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + svg(figure, name), encoding="utf-8")
        figure.savefig(raster, dpi=150)
        paths += [table, vector, raster]
    return paths


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs_checks.linear_bandits.figures", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the files")
    parser.add_argument("--instances", type=int, default=1000, help="random instances per point (default 1000)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of instances, rewards and noise (default {SEED})")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    for path in write(compute(options.instances, options.seed, options.workers), options.output):
        print(path)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
