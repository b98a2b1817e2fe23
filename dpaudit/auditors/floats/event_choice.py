"""Chooses, on training outputs alone, the event of last bits that promises most; whoever tests it uses other runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.floats.low_bits import LARGEST_MODULUS, Depth, Feature, LowBitEvent, Residues, Unreachable, places, residues
from dpaudit.auditors.floats.matched_outputs import CELLS, at_least, at_most, coarse_edges
from dpaudit.auditors.floats.preimage import SAMPLERS, Additive, guessed

PLACES = range(24, 62)  # k, for values between ½ and 1; larger values have fewer places
WIDTHS = (16, 8, 4)  # sixteenths of the outputs that an event may be confined to
MODULI = range(3, LARGEST_MODULUS + 1, 2)
SHADE = 2.0  # standard errors by which training counts are read to the event's disadvantage
FEWEST = 6  # training outputs in a cell of remainders that counts
DISTINCT = 0.9  # values that repeat are atoms of a coarse law, not last bits
SCREENED, BEST = 1000, 3  # outputs that screen the guesses of sampler, centre and scale, and how many of these go on
LEAST = -2.0  # promises are cautious: an event that falls short of the claim by this much in training may still be tested
LEVEL = 1e-7  # about the error that a test at the refuting level may have


@dataclass(frozen=True)
class Limit:
    """What a claim allows, P(S|D) ≤ e^ε P(S|D') + δ, and how many times as many runs will test as choose."""

    factor: float
    delta: float
    grow: float

    def promise(self, hits: np.ndarray, runs: int, others: np.ndarray, other_runs: int) -> np.ndarray:
        """About how far beyond the claim a test will be, in units of ε; −∞ where it shows nothing."""
        shaded = np.maximum(hits - SHADE * np.sqrt(hits + 0.25), 0.0) * self.grow
        worse = np.minimum((others + SHADE * np.sqrt(others + 0.5)), other_runs) * self.grow
        low = at_least(shaded, runs * self.grow, LEVEL) - self.delta
        high = at_most(worse, other_runs * self.grow, LEVEL)
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(low, 0.0)) - np.log(high) - math.log(self.factor)


@dataclass(frozen=True)
class Choice:
    """An event, on which side it is the more frequent (``turned``: the neighbour's), and what it promises."""

    event: LowBitEvent
    turned: bool
    promise: float


def choose_event(
    first: np.ndarray, second: np.ndarray, noises: Sequence[Additive], limit: Limit, column: int = 0
) -> Choice | None:
    """The best of all features, both ways round; None where none promises anything."""
    sides = tuple(side[np.isfinite(side)] for side in (first, second))
    if min(len(side) for side in sides) < CELLS:
        return None
    choices = [
        Choice(LowBitEvent(feature, low, high, column), turned, promise)
        for turned in (False, True)
        for feature, low, high, promise in _candidates(sides[turned], sides[not turned], noises, limit, turned)
    ]
    for choice in sorted(choices, key=lambda one: -one.promise):
        frequent = sides[choice.turned]
        if distinct(frequent[choice.event.holds(frequent)]):
            return choice
    return None


def distinct(values: np.ndarray) -> bool:
    """Do these outputs hardly repeat?"""
    return len(values) > 0 and len(np.unique(values)) >= DISTINCT * len(values)


Candidate = tuple[Feature, float, float, float]


def _candidates(
    here: np.ndarray, there: np.ndarray, noises: Sequence[Additive], limit: Limit, turned: bool
) -> Iterator[Candidate]:
    everywhere = -math.inf, math.inf
    yield from _depths(here, there, limit)
    for feature, promise in (*_residues(here, there, limit), *_preimages(here, there, noises, limit, turned)):
        yield feature, *everywhere, promise


def _depths(here: np.ndarray, there: np.ndarray, limit: Limit) -> Iterator[Candidate]:
    window = _window(np.concatenate([here, there]))
    edges = np.concatenate([[-math.inf], coarse_edges(here, there), [math.inf]])
    deep, other_deep = (places(side)[:, None] > window for side in (here, there))
    for width in WIDTHS:
        for start in range(0, CELLS, width):
            low, high = edges[start], edges[start + width]
            counts = [event[(side >= low) & (side < high)].sum(axis=0) for event, side in ((deep, here), (other_deep, there))]
            promises = limit.promise(counts[0], len(here), counts[1], len(there))
            best = int(promises.argmax())
            if promises[best] > LEAST:
                yield Depth(int(window[best])), float(low), float(high), float(promises[best])


def _window(training: np.ndarray) -> np.ndarray:
    """k = 24..61, moved with the size of the training outputs, and by 29 places when all of them are float32."""
    sizes = np.abs(training[training != 0])
    if not len(sizes):
        return np.array(PLACES)
    with np.errstate(over="ignore"):
        single = bool((sizes.astype(np.float32) == sizes).all())
    return np.array(PLACES) - int(np.frexp(np.median(sizes))[1]) - (29 if single else 0)


def _residues(here: np.ndarray, there: np.ndarray, limit: Limit) -> Iterator[tuple[Feature, float]]:
    """Cells of (binade, remainder) are chosen on one half of the training outputs and judged on the other."""
    halves = [(side[: len(side) // 2], side[len(side) // 2 :]) for side in (here, there)]
    (choosing, judging), (other_choosing, other_judging) = halves
    twice = Limit(limit.factor, limit.delta, 2 * limit.grow)
    for modulus in MODULI:
        cells = _telling_cells(choosing, other_choosing, modulus, limit.factor)
        if cells:
            feature = Residues(modulus, cells)
            counts = [feature.holds(side).sum() for side in (judging, other_judging)]
            promise = float(twice.promise(counts[0], len(judging), counts[1], len(other_judging)))
            if promise > LEAST:
                yield feature, promise


def _telling_cells(here: np.ndarray, there: np.ndarray, modulus: int, factor: float) -> frozenset[tuple[int, int]]:
    sides = [residues(side, modulus) for side in (here, there)]
    lowest = min(int(binades.min()) for binades, _ in sides)
    codes = [(binades - lowest) * modulus + remainders for binades, remainders in sides]
    size = max(int(code.max()) for code in codes) + 1
    hits, others = (np.bincount(code, minlength=size) for code in codes)
    scale = factor * len(here) / len(there)
    telling = (hits >= FEWEST) & (hits - SHADE * np.sqrt(hits) > scale * (others + 1.0))
    return frozenset((int(code // modulus) + lowest, int(code % modulus)) for code in np.flatnonzero(telling))


def _preimages(
    here: np.ndarray, there: np.ndarray, noises: Sequence[Additive], limit: Limit, turned: bool
) -> Iterator[tuple[Feature, float]]:
    """What a sampler cannot give on the other side, for each guess of sampler, centre and scale."""
    known = [Additive(noise.other, noise.centre, noise.scale) if turned else noise for noise in noises]
    guesses = dict.fromkeys((noise.other, noise.scale) for noise in (*known, *guessed(here, there)))
    features = [Unreachable(name, centre, scale) for centre, scale in guesses for name in SAMPLERS]

    def gain(feature: Unreachable) -> float:
        share, other_share = (float(feature.holds(side[:SCREENED]).mean()) for side in (here, there))
        return share - limit.factor * other_share

    for feature in sorted(features, key=gain)[-BEST:]:
        counts = [feature.holds(side).sum() for side in (here, there)]
        promise = float(limit.promise(counts[0], len(here), counts[1], len(there)))
        if promise > LEAST:
            yield feature, promise
