"""Core sets of large action sets."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.figures import Figure, Figures


def designs() -> Figures:
    from algorithms.actions.core_set import core_set

    for size, dim, seconds in ((10**6, 20, 2.0), (10**5, 50, None)):
        vectors = np.random.default_rng(1).standard_normal((size, dim))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        wall, cpu = time.perf_counter(), time.process_time()
        design = core_set(vectors)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        name, most = f"core set, K={size:,}, d={dim}", math.floor(4 * dim * math.log(math.log(dim)) + 16)
        asked = "" if seconds is None else f"≤ {seconds:g} s"
        yield Figure(name + ": time", asked, f"{wall:.2f} s ({cpu:.2f} s CPU)", None if seconds is None else wall <= seconds)
        yield Figure(name + ": leverage", f"≤ {2 * dim}", f"{design.leverage:.2f}", design.leverage <= 2 * dim)
        yield Figure(name + ": support", f"≤ {most}", str(len(design.support)), len(design.support) <= most)
