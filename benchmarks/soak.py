"""The long tests: ``python -m benchmarks.soak [kills|budget|draws|fuzz|flips|logs|boundary|subjects …] [--scale 0.01]``.

One line per figure. ``--scale`` multiplies every count; ``--count`` is that of the part ``subjects``, which takes about a
second a program. All others together take about a quarter of an hour on two idle cores.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from benchmarks.boundary import boundary
from benchmarks.faults import a_release, flip, kill_writers, race, say_then_store
from benchmarks.figures import HEADER, Figure, Figures
from benchmarks.log_faults import logs
from benchmarks.soak_fuzz import fuzz
from benchmarks.soak_subjects import PROGRAMS, subjects
from dpaudit.claims import DpauditError
from dpaudit.ledger import checkpoint, export_jsonl, open_ledger, verify
from dpaudit.noise import GRID, from_units, to_units
from dpaudit.noise.sampling.source import SecureSource

PROCESSES = 16
CHUNK = 10**6


def kills(folder: Path, scale: float) -> Figures:
    turns = max(10, round(1000 * scale))
    found = kill_writers(folder, turns, seed=1000)
    told = f"{found.lost} of {found.acknowledged}"
    yield Figure(f"{turns} × kill -9 of two writers: acknowledged, lost", "0", told, found.lost == 0)
    wrong = found.doubled + found.beyond_in_flight + found.misspent
    yield Figure("… stored twice, beyond those in flight, misspent", "0", str(wrong), wrong == 0)
    twin = kill_writers(folder, max(10, turns // 20), seed=1000, write=say_then_store)
    yield Figure("… the same of writers that speak too early", "> 0", str(twin.lost), twin.lost > 0)


def budget(folder: Path, scale: float) -> Figures:
    attempts = max(100, round(10**5 * scale))
    grants = PROCESSES * attempts // 80
    found = race(folder, PROCESSES, attempts, grants)
    over = max(found.granted, found.recorded) - grants
    yield Figure(f"{PROCESSES} processes × {attempts} attempts: overspent", "0", str(over), over == 0)
    rate = found.granted / found.granting
    yield Figure("… grants/s, every one durable", "≥ 1000", f"{rate:.0f}", rate >= 1000)
    yield Figure("… durable writes/s of this disk, one process, now", "", f"{_writes_per_second(folder):.0f}")
    yield Figure("… attempts/s, refusals included", "", f"{PROCESSES * attempts / found.seconds:.0f}")
    twin = race(folder, PROCESSES, 50, 200, naive=True)
    yield Figure("… overspent by looking first and charging then", "> 0", str(twin.granted - 200), twin.granted > 200)


def _writes_per_second(folder: Path, writes: int = 500) -> float:
    started = time.perf_counter()
    with open(folder / "writes", "wb", buffering=0) as file:
        for _ in range(writes):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
    return writes / (time.perf_counter() - started)


def draws(folder: Path, scale: float) -> Figures:
    """Off-lattice values, and z-scores of mean, variance and P(0); |z| ≤ 6 fails an exact sampler once in 10^8 runs."""
    count = max(CHUNK, round(10**8 * scale) // CHUNK * CHUNK)
    stray, scores = _scores(dp.Laplace(scale=2), count, Fraction(2))
    yield Figure(f"{count:.0e} exact draws: off the lattice", "0", str(stray), stray == 0)
    for name, score in scores.items():
        yield Figure(f"… z-score of the {name}", "|z| ≤ 6", f"{score:+.2f}", abs(score) <= 6)
    _, twin = _scores(dp.Laplace(scale=Fraction(204, 100)), CHUNK, Fraction(2))
    yield Figure(
        "… of the variance when the scale is 2 % too large", "|z| > 6", f"{twin['variance']:+.2f}", abs(twin["variance"]) > 6
    )


def _scores(noise: dp.Laplace, count: int, scale: Fraction) -> tuple[int, dict[str, float]]:
    source, stray, zeros, first, second = SecureSource(), 0, 0, 0, 0.0
    for _ in range(count // CHUNK):
        units = noise.draw(np.zeros(CHUNK, dtype=np.int64), source)
        values = from_units(units, GRID)  # what a caller is given
        stray += int(np.count_nonzero((values * 2.0**20 != np.rint(values * 2.0**20)) | (to_units(values, GRID) != units)))
        zeros += int(np.count_nonzero(units == 0))
        first += int(units.sum())
        second += float(np.square(units.astype(float)).sum())
    # K = G1 − G2, both geometric: variance 2q/(1−q)², fourth moment 6·variance² to within the grid, P(0) = (1−q)/(1+q).
    q = math.exp(-float(GRID / scale))
    variance = 2 * q / math.expm1(-float(GRID / scale)) ** 2
    none = -math.expm1(-float(GRID / scale)) / (1 + q)
    return stray, {
        "mean": first / math.sqrt(count * variance),
        "variance": (second / count - variance) / (variance * math.sqrt(5 / count)),
        "number of zeros": (zeros - count * none) / math.sqrt(max(count * none, 1)),
    }


def flips(folder: Path, scale: float) -> Figures:
    path, export, every = folder / "small.ledger", folder / "small.jsonl", max(1, round(1 / scale))
    with open_ledger(path, budget="9") as ledger:
        for i in range(8):
            ledger.append(a_release(f"release {i}"), key=f"key {i}")
        mark = checkpoint(ledger, Ed25519PrivateKey.generate())
        export_jsonl(ledger, export)
    size = path.stat().st_size
    found = flip(path, folder / "changed.ledger", range(0, size, every), seed=1)
    wrong = found.silent + found.untyped
    yield Figure(f"{found.flips} flipped bytes of {size}: neither reported nor harmless", "0", str(wrong), wrong == 0)
    yield Figure("… reported; a reader without hashes is fooled by", "> 0", f"{found.reported}; {found.fooled}", found.fooled > 0)
    data = export.read_bytes()
    changed = (data[:i] + bytes([data[i] ^ (1 << bit)]) + data[i + 1 :] for i in range(0, len(data), every) for bit in range(8))
    missed, tried = _unreported(changed, folder / "changed.jsonl", None)
    yield Figure(f"{tried} flipped bits of an export: not reported", "0", str(missed), missed == 0)
    missed, tried = _unreported((data[:i] for i in range(0, len(data), every)), folder / "changed.jsonl", None)
    yield Figure(f"{tried} cuts of an export: not reported", "0", str(missed), missed == 0)
    whole = path.read_bytes()
    missed, tried = _unreported((whole[:i] for i in range(0, size, 7 * every)), folder / "cut.ledger", mark)
    yield Figure(f"{tried} cuts of the file: not reported against a checkpoint", "0", str(missed), missed == 0)


def _unreported(contents: Iterator[bytes], path: Path, mark: dict[str, object] | None) -> tuple[int, int]:
    missed = tried = 0
    for content in contents:
        path.write_bytes(content)
        tried += 1
        try:
            verify(path, mark)
            missed += 1
        except DpauditError:
            continue
    return missed, tried


PARTS: dict[str, Callable[[Path, float], Figures]] = {
    "kills": kills, "budget": budget, "draws": draws, "fuzz": fuzz, "flips": flips, "logs": logs, "boundary": boundary,
    "subjects": subjects,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="one or more of " + ", ".join(PARTS) + "; default: all")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies every count (default 1)")
    parser.add_argument("--count", type=int, help=f"programs of the part subjects (default {PROGRAMS} times the scale)")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown or not 0 < options.scale <= 10:
        parser.error(
            f"no part {unknown[0]!r}; there are {', '.join(PARTS)}" if unknown else "--scale must be above 0, at most 10"
        )
    if options.count is not None and not 0 < options.count <= 10 * PROGRAMS:
        parser.error(f"--count must be from 1 to {10 * PROGRAMS}")
    print(HEADER, flush=True)
    missed = 0
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="dpaudit-soak-") as folder:
            own = options.count is not None and part == "subjects"
            for figure in PARTS[part](Path(folder), options.count / PROGRAMS if own else options.scale):
                print(figure.line(), flush=True)
                missed += figure.met is False
    print(f"{missed} missed. Grants/s are by the clock and depend on how fast the disk makes a write durable.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
