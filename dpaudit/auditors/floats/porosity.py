"""DPA006, porous noise: do the last bits of a float output tell data sets apart that its coarse value does not?

Three layers. (1) Every value lies on the declared lattice. (2) The events {x·2^k ∉ ℤ} for sixteen k around the last bit of a
float64. (3) The event that a known sampler cannot give x on the other data set. Layers 2 and 3 compare counts of fresh runs
by Clopper–Pearson bounds; everything that is chosen is chosen on other runs. An event counts as porous only when both hold:

- over all runs it breaks P(S|D) ≤ e^ε P(S|D') + δ, so a mechanism that keeps its claim is flagged with probability at most α;
- at equal coarse values, runs matched cell by cell, it is more than ``FACTOR`` times as frequent on D as on D': a mechanism
  that merely breaks its claim, on a coarse grid, is not called porous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.auditors.floats.float_runs import output_table, watch
from dpaudit.auditors.floats.matched_outputs import CELLS, GROUPS, Comparison, coarse_edges
from dpaudit.auditors.floats.preimage import SAMPLERS, Additive, best_guess
from dpaudit.claims import Claim, Finding, InvalidValue, Number, positive, show
from dpaudit.subjects.subject import Subject

RULE = "DPA006"
EVENTS = range(46, 62)  # k, for values between ½ and 1; larger values have fewer places
TRAINING = 0.2  # share of the runs that chooses cells, places and samplers; the test uses the rest
DISTINCT = 0.9  # values that repeat are atoms of a coarse law, not last bits
COLUMNS = 32  # of a returned array that are tested
RUNS, RUNS_VECTORISED = 2_000, 20_000


def audit_porosity(
    subject: Subject,
    pair: tuple[Any, Any],
    *,
    seed: int,
    samples: int | None = None,
    alpha: float = 0.01,
    claim: Claim | None = None,
) -> Finding | None:
    """DPA006 for a black box that returns floats, on ``samples`` runs per side; None for a grey box, whose door has a lattice.

    The error ``alpha`` is shared by the columns that showed a fraction in a few runs of their own. ε and δ are the larger of
    the subject's and ``claim``'s.
    """
    if subject.grey:
        return None
    claims = (subject.claim, claim or subject.claim)
    epsilon, delta = max(float(c.epsilon) for c in claims), max(float(c.delta) for c in claims)
    columns = watch(subject, pair, seed)[:COLUMNS]
    if not columns:
        return None
    runs = samples or (RUNS_VECTORISED if subject.vectorised else RUNS)
    tables = [output_table(subject, data, runs, np.random.default_rng([seed, 6, side])) for side, data in enumerate(pair)]
    share = alpha / len(columns)
    for place, noises in columns:
        values = [table[:, place] if place < table.shape[1] else np.full(runs, np.nan) for table in tables]
        where = "returned value" if len(columns) == 1 else f"returned value, column {place + 1}"
        found = porosity(*values, alpha=share, epsilon=epsilon, delta=delta, noises=noises, where=where)
        if found is not None:
            return found
    return None


def porosity(
    values: ArrayLike,
    others: ArrayLike,
    *,
    alpha: float = 0.01,
    grid: Number | None = None,
    epsilon: float = 0.0,
    delta: float = 0.0,
    noises: Sequence[Additive] = (),
    where: str = "returned value",
) -> Finding | None:
    """The finding DPA006, or None, from independent outputs on D and on D', one number each.

    ``epsilon``, ``delta``: what the mechanism claims; with it, an honest one is flagged with probability at most ``alpha``,
    and without it one whose loss varies by at most log 8 within a sixteenth of its outputs. ``grid``: the declared step, if
    any. ``noises``: guesses beyond those made here. Raises ``InvalidValue`` for what is not a list of numbers.
    """
    first, second = _column(values), _column(others)
    if not 0 < alpha < 1:
        raise InvalidValue("alpha", alpha, "between 0 and 1")
    if grid is not None and (off := _off_lattice(first, second, positive(grid, "grid"))):
        return Finding(RULE, off, where)
    if min(len(first), len(second)) < 2 * CELLS:
        return None
    cut = int(TRAINING * len(first)), int(TRAINING * len(second))
    training = tuple(side[:end][np.isfinite(side[:end])] for side, end in zip((first, second), cut, strict=True))
    if not min(len(side) for side in training):
        return None
    factor = math.exp(min(epsilon, 700.0))
    fresh = Comparison.of(first[cut[0] :], second[cut[1] :], coarse_edges(*training), factor, delta)
    guess = best_guess(training[0], training[1], noises)
    message = _last_bits(fresh, _window(np.concatenate(training)), alpha / 2)
    if not message and guess is not None:
        message = _preimages(fresh, *guess, alpha / 2)
    return Finding(RULE, message, where) if message else None


def _column(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidValue("values", f"{array.dtype} of shape {array.shape}", "one number per run")
    return array.astype(np.float64)


def _off_lattice(first: np.ndarray, second: np.ndarray, grid: Fraction) -> str:
    """Layer 1: no error rate. NaN and infinities are off every lattice."""
    both = np.concatenate([first, second])
    ordinary = np.where(np.isfinite(both), both, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is far beyond any grid
        steps = np.rint(ordinary * float(grid.denominator) / float(grid.numerator))
        on = (steps * float(grid.numerator) / float(grid.denominator) == ordinary) & np.isfinite(both)
    off = int((~on).sum())
    return f"{off} of {len(both)} outputs are not multiples of the declared step {show(grid)}" if off else ""


def places(values: np.ndarray) -> np.ndarray:
    """The least k with x·2^k ∈ ℤ, exactly; a very small number for 0, NaN and infinities."""
    ordinary = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(ordinary, values, 0.5))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(ordinary, 53 - exponent - zeros, -(10**6))


def _window(training: np.ndarray) -> np.ndarray:
    """k = 46..61, moved with the size of the training outputs, and by 29 places when all of them are float32."""
    sizes = np.abs(training[training != 0])
    if not len(sizes):
        return np.array(EVENTS)
    with np.errstate(over="ignore"):
        single = bool((sizes.astype(np.float32) == sizes).all())
    return np.array(EVENTS) - int(np.frexp(np.median(sizes))[1]) - (29 if single else 0)


def _last_bits(fresh: Comparison, window: np.ndarray, alpha: float) -> str:
    """Layer 2. α is shared by the events, the groups of cells, both directions and the two bounds of a test."""
    level = alpha / (4 * len(GROUPS) * len(window))
    for side, here, there in fresh.directions():
        deep, other_deep = (places(runs)[:, None] > window for runs in (side.first, side.second))
        ratio = side.excess(deep, other_deep, level)
        group, event = np.unravel_index(int(ratio.argmax()), ratio.shape)
        if ratio[group, event] > 0 and _distinct(side.first[deep[:, event]]):
            times = f"over {ratio[group, event]:.0f} times as often on {here} as on {there}"
            return f"porous noise: outputs have bits below 2^{-int(window[event])} {times}, at equal coarse values"
    return ""


def _preimages(fresh: Comparison, name: str, noise: Additive, alpha: float) -> str:
    """Layer 3, for the sampler that training runs chose. α is shared by both directions and the two bounds of a test."""
    for (side, here, there), centre in zip(fresh.directions(), (noise.other, noise.centre), strict=True):
        lost, other_lost = (~SAMPLERS[name](runs, centre, noise.scale)[:, None] for runs in (side.first, side.second))
        if side.excess(lost, other_lost, alpha / 4)[0, 0] > 0 and _distinct(side.first[lost[:, 0]]):
            share = f"{lost.mean():.1%} of the outputs on {here} cannot come from {name} on {there}"
            return f"porous noise: {share}, against {other_lost.mean():.1%} of its own"
    return ""


def _distinct(values: np.ndarray) -> bool:
    return len(np.unique(values)) >= DISTINCT * len(values)
