"""Events of the joint view with exact probabilities, for claims with δ > 0.

Three kinds of event about independent noisy numbers are tried: one number beyond a threshold, several numbers each beyond its
own, and the sum of Gaussian ones beyond a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.auditors.events.independent_releases import Coordinate, independent_coordinates
from dpaudit.auditors.events.tails import best_threshold, decimal, log_down
from dpaudit.auditors.events.transcript_witness import Witness
from dpaudit.auditors.wording import describe
from dpaudit.claims import Claim, show
from dpaudit.noise import Noise, from_units
from dpaudit.noise.gaussian_tail import summed_tail
from dpaudit.subjects.subject import Subject

LEVELS = [Fraction(k, 20) for k in range(1, 61)]  # of thresholds: 0 is what the neighbour asks, 1 what the data asks
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # how many numbers an event is about


@dataclass(frozen=True)
class ServerEvent:
    """An event that favours the data: its probability there (rounded down) and on the neighbour (up), and ε."""

    epsilon: Fraction
    p: Fraction
    p_other: Fraction
    numbers: Sequence[Coordinate]
    thresholds: Sequence[int]  # one per number, or one for their sum
    kind: str  # "each" or "sum"


def server_event(subject: Subject, claim: Claim, data: Any, other: Any, seed: int) -> Witness | None:
    """The best event found for (data, other), whichever of the two it favours."""
    coordinates = independent_coordinates(subject, data, other, seed)
    best, swapped = None, False
    for turned, numbers in ((False, coordinates), (True, [one.turned() for one in coordinates])):
        for event in _events(numbers, claim):
            if best is None or event.epsilon > best.epsilon:
                best, swapped = event, turned
    if best is None:
        return None
    pair = (other, data) if swapped else (data, other)
    return Witness(best.epsilon, "exact event", event_facts(best, pair, claim), swapped)


def event_facts(found: ServerEvent, pair: tuple[Any, Any], claim: Claim) -> dict[str, Any]:
    return {
        "kind": "event", "observer": claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]),
        "event": _text(found), "probability": decimal(found.p), "neighbour_probability": decimal(found.p_other),
        "delta": show(claim.delta), "beyond": found.kind,
        "numbers": [[one.position, list(one.index)] for one in found.numbers], "thresholds": list(found.thresholds),
    }  # fmt: skip


def measure(numbers: Sequence[Coordinate], thresholds: Sequence[int], kind: str, claim: Claim) -> ServerEvent | None:
    """The event that these numbers, or their sum, lie on the data's side of these thresholds; None if it shows nothing."""
    p, p_other = _sum_probabilities(numbers, thresholds[0]) if kind == "sum" else _product(numbers, thresholds)
    if p <= claim.delta or p_other <= 0:
        return None
    epsilon = log_down((p - claim.delta) / p_other)
    return None if epsilon is None else ServerEvent(epsilon, p, p_other, numbers, thresholds, kind)


def _events(numbers: Sequence[Coordinate], claim: Claim) -> Iterator[ServerEvent]:
    ordered = sorted(numbers, key=_strength, reverse=True)
    for number in ordered[:1]:
        single = best_threshold(number.noise, number.query, number.other, claim)
        if single is not None:
            yield ServerEvent(single[0], single[2], single[3], [number], [single[1]], "each")
    for size in [size for size in SIZES if size < len(ordered)] + [len(ordered)] * (1 < len(ordered) <= SIZES[-1]):
        chosen = ordered[:size]
        level = _best_level(chosen, claim.delta)
        yield from _maybe(measure(chosen, [_threshold(one, level) for one in chosen], "each", claim))
        if all(_class(one) == _class(chosen[0]) for one in chosen) and chosen[0].noise.spread is not None:
            yield from _maybe(_best_sum(chosen, claim))


def _best_level(numbers: Sequence[Coordinate], delta: Fraction) -> Fraction:
    """The level that shows most: every fourth is tried, then those around the best of them."""
    coarse = LEVELS[3::4]
    near = max(coarse, key=lambda level: _estimate(numbers, level, delta))
    return max(
        (level for level in LEVELS if abs(level - near) < coarse[1] - coarse[0]),
        key=lambda level: _estimate(numbers, level, delta),
    )


def _maybe(event: ServerEvent | None) -> Iterator[ServerEvent]:
    if event is not None:
        yield event


def _strength(number: Coordinate) -> float:
    """How far apart the two queries are, in units of the noise."""
    return float(abs(number.query - number.other) / number.noise.width_units)


def _class(number: Coordinate) -> tuple[Any, int]:
    return number.noise, abs(number.query - number.other)


def _threshold(number: Coordinate, level: Fraction) -> int:
    if number.noise.alphabet:
        return number.noise.crossing(number.query, number.other, level)
    return number.other + round(level * (number.query - number.other))


def _product(numbers: Sequence[Coordinate], thresholds: Sequence[int]) -> tuple[Fraction, Fraction]:
    """P(every number is beyond its threshold), rounded down on the data and up on the neighbour."""
    p, p_other = Fraction(1), Fraction(1)
    for one, threshold in zip(numbers, thresholds, strict=True):
        beyond = _beyond(one.noise, one.query, one.other, threshold)
        p, p_other = p * beyond[0], p_other * beyond[1]
    return p, p_other


@lru_cache(maxsize=4096)
def _beyond(noise: Noise, query: int, other: int, threshold: int) -> tuple[Fraction, Fraction]:
    """P(one number is beyond its threshold), rounded down on the data and up on the neighbour. Events of several sizes are about
    the same numbers at the same levels."""
    ends = noise.favouring(query, other, threshold)
    return noise.within(*ends, query)[0], noise.within(*ends, other)[1]


def _estimate(numbers: Sequence[Coordinate], level: Fraction, delta: Fraction) -> float:
    """log((p − δ)/p') in floats, to choose a level by; one tail for each class of numbers."""
    classes: dict[Any, tuple[Coordinate, int]] = {}
    for one in numbers:
        classes[_class(one)] = one, classes.get(_class(one), (one, 0))[1] + 1
    log_p = log_other = 0.0
    for one, count in classes.values():
        p, p_other = _product([one], [_threshold(one, level)])
        if p <= 0 or p_other <= 0:
            return -math.inf
        log_p, log_other = log_p + count * _log(p), log_other + count * _log(p_other)
    log_delta = _log(delta)
    return -math.inf if log_p <= log_delta else log_p + math.log1p(-math.exp(log_delta - log_p)) - log_other


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _best_sum(numbers: Sequence[Coordinate], claim: Claim) -> ServerEvent | None:
    """Equal Gaussian numbers, equally far apart: their likelihood ratio grows with their sum, so its tails are best."""
    noise, gap = _class(numbers[0])
    spread, k = noise.spread, len(numbers)
    best: ServerEvent | None = None
    level = claim.epsilon
    for _ in range(40):  # as for one number: the fixed point of "loss above ε shows ε"
        threshold = round(level * spread**2 / gap + Fraction(k * gap, 2))
        event = measure(numbers, [threshold], "sum", claim)
        if event is None and best is None and level > 0:
            level = level / 2 if level > Fraction(1, 1000) else Fraction(0)
            continue
        if event is None or (best is not None and event.epsilon <= best.epsilon):
            return best
        best, level = event, event.epsilon
    return best


def _sum_probabilities(numbers: Sequence[Coordinate], threshold: int) -> tuple[Fraction, Fraction]:
    """P(Σ ±(number − what the neighbour asks) ≥ threshold), on the data and on the neighbour; ± so that the data asks more."""
    noise, gap = _class(numbers[0])
    spread, k = noise.spread, len(numbers)
    return summed_tail(spread, k, threshold - k * gap)[0], summed_tail(spread, k, threshold)[1]


def _text(event: ServerEvent) -> str:
    if event.kind == "sum":
        one = event.numbers[0]
        value = float(from_units(event.thresholds[0], one.noise.grid))
        return f"the sum of {len(event.numbers)} numbers from {_name(one)} on, less what the neighbour asks, passes {value:.9g}"
    parts = [f"{_name(one)} is {_side(one, t)}" for one, t in zip(event.numbers, event.thresholds, strict=True)]
    return ", ".join(parts[:4]) + (f" and {len(parts) - 4} more such" if len(parts) > 4 else "")


def _side(one: Coordinate, threshold: int) -> str:
    low, high = one.noise.favouring(one.query, one.other, threshold)
    side = "at least " if high is None else "at most " if low is None else ""
    if not side and low != high:
        return f"from {_shown(one, low)} to {_shown(one, high)}"
    return side + _shown(one, threshold)


def _shown(one: Coordinate, output: int | None) -> str:
    """An output as it leaves the door; bits from the last category down, as the digits of the number that they are."""
    parts = one.noise.unfold(np.asarray(output))
    return f"{from_units(parts, one.noise.grid):.9g}" if not parts.ndim else "".join(str(bit) for bit in parts[::-1])


def _name(one: Coordinate) -> str:
    return one.name + (f"[{', '.join(map(str, one.index))}]" if one.index else "")
