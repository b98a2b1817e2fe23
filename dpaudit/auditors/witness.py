"""Exact witnesses: a transcript whose loss exceeds the claim, or an event with exact probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import MPContext

from dpaudit.auditors.described import describe
from dpaudit.auditors.replayed import Replayed
from dpaudit.channel import Event, simulate
from dpaudit.claims import Claim, float_down, show
from dpaudit.noise import Noise, from_units
from dpaudit.subject import Subject


@dataclass(frozen=True)
class Witness:
    """Evidence with its exact figure: ε of the transcript or event, rounded down where irrational."""

    epsilon: Fraction
    method: str
    facts: dict[str, Any]


def transcript_witness(played: Replayed, data: Any, other: Any, observer: str) -> Witness | None:
    """The trial of largest loss: for an observer of the whole joint view, its loss is a lower bound on pure ε."""
    if any(event.to == "shuffled" for event in played.events):
        return None
    losses = played.losses()
    best = int(np.abs(losses).argmax())
    loss = played.exact_loss(best)
    if loss is None or loss == 0:
        return None
    moved = [
        {
            "release": event.name,
            "output": float(from_units(event.output[place], event.noise.grid)),
            "query": float(from_units(event.query[place], event.noise.grid)),
            "neighbour": float(from_units(mirror.query[place], event.noise.grid)),
            "noise": {"mechanism": event.noise.name, **played.noise_of(event, place).parameters()},
        }
        for event, mirror, place in list(played.differing(best))[:8]
    ]
    facts = {
        "kind": "transcript", "observer": observer, "data": describe(data), "neighbour": describe(other),
        "loss": show(abs(loss)), "moved": moved, "releases": len(played.events),
    }  # fmt: skip
    return Witness(abs(loss), "exact replay", facts)


def first_release_event(played: Replayed, claim: Claim, data: Any, other: Any) -> Witness | None:
    """For δ > 0: the event "this coordinate of the first release is at least τ", with exact tail probabilities.

    The first release's query depends on no earlier output, so the event's probability is a tail of its noise.
    """
    if not played.events or played.events[0].to == "shuffled":
        return None
    event, mirror = played.events[0], played.mirror[0]
    gap = np.abs(event.query - mirror.query)
    if not gap.any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    noise = event.noise if played.trials is None else event.noise.at(place[0])
    q, r = int(event.query[place]), int(mirror.query[place])
    found = best_threshold(noise, q, r, claim)
    if found is None:
        return None
    epsilon, threshold, p, p_other = found
    side, value = "at least" if q > r else "at most", float(from_units(threshold, noise.grid))
    facts = {
        "kind": "event", "observer": claim.observer, "data": describe(data), "neighbour": describe(other),
        "event": f"{event.name}[{', '.join(map(str, place[-1:]))}] is {side} {value:.9g}",
        "probability": _decimal(p), "neighbour_probability": _decimal(p_other), "delta": show(claim.delta),
    }  # fmt: skip
    return Witness(epsilon, "exact event", facts)


def best_threshold(noise: Noise, q: int, r: int, claim: Claim) -> tuple[Fraction, int, Fraction, Fraction] | None:
    """The tail event with the largest ε: that ε, its threshold, and its probabilities under q and r.

    If "loss above x" shows ε, then "loss above ε" shows no less, and the optimum is the fixed point: a few steps reach it.
    """
    best: tuple[Fraction, int, Fraction, Fraction] | None = None
    levels = [claim.epsilon * Fraction(k, 4) for k in (0, 1, 2, 3, 4, 6, 8, 16)]
    for threshold in {q, r, *(_threshold(noise, q, r, level) for level in levels)}:
        best = _better(best, noise, q, r, threshold, claim.delta)
    for _ in range(40):  # quadratic once it is near
        if best is None:
            return None
        best, before = _better(best, noise, q, r, _threshold(noise, q, r, best[0]), claim.delta), best
        if best is before:
            break
    return best


def _better(best: Any, noise: Noise, q: int, r: int, threshold: int, delta: Fraction) -> Any:
    epsilon, p, p_other = threshold_epsilon(noise, q, r, threshold, delta)
    improved = epsilon is not None and (best is None or epsilon > best[0])
    return (epsilon, threshold, p, p_other) if improved else best


def _threshold(noise: Noise, q: int, r: int, level: Fraction) -> int:
    """Where the likelihood ratio of an output crosses e^level, within ±2^52 units."""
    parameter, middle, gap = noise.parameters(), (q + r) // 2, q - r
    if "sigma" in parameter:
        shift = int(level * (Fraction(parameter["sigma"]) / noise.grid) ** 2 / gap)
    else:
        shift = int(level * Fraction(parameter.get("scale", "0")) / noise.grid / 2) * (1 if gap > 0 else -1)
    return max(-(2**52), min(2**52, middle + shift))


def threshold_epsilon(
    noise: Noise, q: int, r: int, threshold: int, delta: Fraction
) -> tuple[Fraction | None, Fraction, Fraction]:
    """log((P(S|q) − δ)/P(S|r)) rounded down, for S = {o ≥ τ} if q > r, else {o ≤ τ}."""
    side = at_least if q > r else at_most
    p, p_other = side(noise, threshold, q)[0], side(noise, threshold, r)[1]
    if p <= delta or p_other <= 0:
        return None, p, p_other
    return log_down((p - delta) / p_other), p, p_other


def at_least(noise: Noise, threshold: int, query: int) -> tuple[Fraction, Fraction]:
    """Certified bounds on P(output ≥ threshold | query). Randomised response flips a bit, the others add their noise."""
    if noise.name != "randomized-response":
        return noise.tail(threshold - query)
    if threshold != 1:
        return (Fraction(1), Fraction(1)) if threshold < 1 else (Fraction(0), Fraction(0))
    lower, upper = noise.tail(1)  # the bit is flipped
    return (lower, upper) if query <= 0 else (1 - upper, 1 - lower)


def at_most(noise: Noise, threshold: int, query: int) -> tuple[Fraction, Fraction]:
    """Certified bounds on P(output ≤ threshold | query)."""
    if noise.name != "randomized-response":
        return noise.tail(query - threshold)  # symmetric, and exact far out in the tail
    lower, upper = at_least(noise, threshold + 1, query)
    return 1 - upper, 1 - lower


def log_down(ratio: Fraction) -> Fraction | None:
    """log(ratio) rounded down to 25 decimals; None unless the ratio exceeds 1."""
    if ratio <= 1:
        return None
    context = MPContext()
    context.dps = 60  # 35 digits more than are kept
    logarithm = context.log(context.mpf(ratio.numerator)) - context.log(context.mpf(ratio.denominator))
    scaled = Fraction(int(context.floor(logarithm * context.mpf(10) ** 25)) - 1, 10**25)
    return scaled if scaled > 0 else None


def action_event(subject: Subject, data: Any, other: Any, claim: Claim, seed: int) -> Witness | None:
    """For the observer ``actions``: an event of the returned value that the first release, if scalar, decides alone.

    Its output is swept while everything later is drawn anew; entries of the returned value that follow it alone split its line
    into half-lines, whose probabilities are exact tails of its noise.
    """
    first, second = _first_query(subject, data, seed), _first_query(subject, other, seed)
    if first is None or second is None or first[1] == second[1]:
        return None
    (event, q), (_, r) = first, second
    noise = event.noise.at(0)
    best: Witness | None = None
    for threshold, above, below in _switches(subject, data, event, q, seed):
        for label, (here, there) in (
            (above, [at_least(noise, threshold, query) for query in (q, r)]),
            (below, [at_most(noise, threshold - 1, query) for query in (q, r)]),
        ):
            for p, p_other, favours in ((here[0], there[1], "data"), (there[0], here[1], "neighbour")):
                epsilon = log_down((p - claim.delta) / p_other) if p > claim.delta and p_other > 0 else None
                if epsilon is not None and (best is None or epsilon > best.epsilon):
                    facts = {
                        "kind": "event", "observer": "actions", "data": describe(data), "neighbour": describe(other),
                        "event": label, "favours": favours, "probability": _decimal(p), "other_probability": _decimal(p_other),
                        "delta": show(claim.delta),
                    }  # fmt: skip
                    best = Witness(epsilon, "exact event", facts)
    return best


def _first_query(subject: Subject, data: Any, seed: int) -> tuple[Event, int] | None:
    with simulate(seed, trials=2) as channel:
        subject.run(data, channel)
    first = channel.events[0] if channel.events and not channel.used_rng else None
    if first is None or first.query.size != 2 or first.kind != "release" or first.query.ravel()[0] != first.query.ravel()[1]:
        return None
    return first, int(first.query.ravel()[0])


def _switches(subject: Subject, data: Any, event: Event, q: int, seed: int) -> list[tuple[int, str, str]]:
    """Outputs τ at which an entry of what is played changes, whatever is drawn later, with what holds above and below.

    "Whatever": the second sweep puts wild numbers of every size in place of all later outputs.
    """
    parameters = event.noise.at(0).parameters()
    scale = float(Fraction(parameters.get("scale") or parameters.get("sigma") or "1") / event.noise.grid)
    sweep = np.round(np.linspace(-400, 400, 801) * scale).astype(np.int64)
    outputs = np.unique(np.clip(np.concatenate([[-(2**50)], q + sweep, [2**50]]), -(2**50), 2**50))
    first, again = _swept(subject, data, outputs, seed), _swept(subject, data, outputs, seed + 1, wild=True)
    found = []
    for column in np.flatnonzero((first == again).all(axis=0)):  # the other entries are decided by later noise too
        values = first[:, column]
        changes = np.flatnonzero(values[1:] != values[:-1])
        stages = [values[0], *values[changes + 1]]
        if not 1 <= len(changes) <= 2 or len(set(stages)) != len(stages):
            continue
        for number, change in enumerate(changes):
            below, above = stages[number], stages[number + 1]
            threshold = _bisect(subject, data, int(outputs[change]), int(outputs[change + 1]), int(column), below, seed)
            name = f"entry {column} of what is played"
            upper = f"{name} is {above}" if number == len(changes) - 1 else f"{name} is not {below}"
            lower = f"{name} is {below}" if number == 0 else f"{name} is not {above}"
            found.append((threshold, upper, lower))
    return found


def _bisect(subject: Subject, data: Any, low: int, high: int, column: int, below: Any, seed: int) -> int:
    """The least output above ``low`` at which the entry is no longer ``below``; 64 outputs are tried at a time."""
    while high - low > 1:
        points = np.unique(np.linspace(low, high, 66).astype(np.int64)[1:-1])
        points = points[(points > low) & (points < high)]
        still = _swept(subject, data, np.concatenate([points, points[:1]]), seed)[: len(points), column] == below
        low = int(points[still].max(initial=low))
        high = int(points[~still].min(initial=high))
    return high


def _swept(subject: Subject, data: Any, outputs: np.ndarray, seed: int, *, wild: bool = False) -> np.ndarray:
    with simulate(seed, trials=len(outputs), first=outputs, wild=wild) as channel:
        returned = subject.public(subject.run(data, channel))
    array = np.asarray(returned)
    return array.reshape(len(outputs), -1)


def _decimal(value: Fraction) -> str:
    """A probability as a short decimal text."""
    number = float_down(value)
    if number > 1e-300:
        return f"{number:.12g}"
    exponent = len(str(value.denominator)) - len(str(value.numerator))
    return f"about 1e-{exponent}"
