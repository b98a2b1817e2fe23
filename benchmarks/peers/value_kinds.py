"""What a peer's test is about, in dpaudit's words: from a description in ``expected_values.json`` to an enclosure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.accountants.losses.numerical import compose, composed_delta, pure_sum
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import renyi, renyi_delta, renyi_epsilon
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve
from dpaudit.accountants.pairs.finite_pair import (
    FinitePair,
    gaussian_steps_pair,
    geometric_pair,
    loss_pair,
    response_against_none,
    response_pair,
    together,
)
from dpaudit.accountants.pairs.shifted_noise import ShiftedNoise, mixture_pair
from dpaudit.accountants.sampling import SampledGaussian, sampled_moment
from dpaudit.accountants.sampling.cut_batches import CutBatches, cut_delta, cut_epsilon
from dpaudit.accountants.selection.repeated_selection import poisson_renyi, repeated_epsilon, repeated_renyi
from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, Exponential, Gaussian, Laplace

Described = dict[str, Any]
Pair = FinitePair | ShiftedNoise
_NEAR_ONE = 1 + Fraction(1, 2**30)  # an order α > 1 in place of 1: D_1 is at most D_α


@dataclass(frozen=True)
class Ends:
    """What is proven from below and from above; ``high`` may be infinite."""

    low: float
    high: float

    @classmethod
    def of(cls, ends: tuple[Fraction, Fraction]) -> Ends:
        return cls(float(ends[0]), float(ends[1]))


class NotExpressed(Exception):
    """dpaudit has no words for it; the message is the kind of thing that it is."""


def pair_of(what: Described) -> Pair:
    """One release, as the pair of its output laws."""
    if "together" in what:
        return together(_finite(each) for each in what["together"])
    if what["pair"] in ("laplace", "gaussian"):
        scale, moved, rate = (Fraction(what[name]) for name in ("scale", "sensitivity", "rate"))
        return ShiftedNoise.sampled(what["pair"], scale, moved, rate, what["relation"])
    if what["pair"] == "mixture":
        sizes, weights = ([Fraction(each) for each in what[name]] for name in ("sensitivities", "weights"))
        weights[-1] = 1 - sum(weights[:-1])
        return mixture_pair(Fraction(what["scale"]), sizes, weights, add=what["relation"] == "add")
    return _finite(what)


def _finite(what: Described) -> FinitePair:
    match what["pair"]:
        case "laws":
            first, second = ({key: Fraction(each) for key, each in what[name].items()} for name in ("first", "second"))
            return FinitePair.of_laws(first, second)
        case "losses":
            return loss_pair(*_losses(what))
        case "known":
            return loss_pair(*_known_losses(Fraction(what["epsilon"]), Fraction(what["delta"])))
        case "response":
            keep, categories = 1 - Fraction(what["noise"]), int(what["categories"])
            pair = (response_pair if what["relation"] == "replace" else response_against_none)(keep, categories)
            return pair.swapped() if what["relation"] == "add" else pair
        case "geometric":
            pair = geometric_pair(Fraction(what["scale"]), int(what["sensitivity"]))
        case "gaussian-steps":
            sigma = Fraction(what["scale"])
            largest = int(what.get("largest", math.ceil(15 * sigma) + 20))
            pair = gaussian_steps_pair(sigma, int(what["sensitivity"]), largest)
    pair = pair.sampled(Fraction(what["rate"]))
    return pair.swapped() if what["relation"] == "add" else pair


def _losses(what: Described) -> tuple[dict[Fraction, Fraction], Fraction]:
    unit = Fraction(what["interval"])
    return {int(place) * unit: Fraction(mass) for place, mass in what["losses"].items()}, Fraction(what["infinite"])


def _known_losses(epsilon: Fraction, delta: Fraction) -> tuple[dict[Fraction, Fraction], Fraction]:
    """Randomised response that fails with probability δ."""
    up = Fraction(math.exp(float(epsilon)) / (1 + math.exp(float(epsilon))))
    return {epsilon: (1 - delta) * up, -epsilon: (1 - delta) * (1 - up)}, delta


def part_of(what: Described) -> AnyPart:
    """One entry of a ledger, as people write it."""
    if "pair" in what:
        losses, infinite = _losses(what)
        return LossPart(tuple(sorted(losses.items(), reverse=True)), infinite)
    count, grid = int(what.get("count", 1)), Fraction(what.get("grid", GRID))
    match what["mechanism"]:
        case "known":
            return Known(Fraction(what["epsilon"]), Fraction(what["delta"]), count)
        case "zcdp":
            return Concentrated(Fraction(what["rho"]), count)
        case "rdp":
            return RenyiCurve(tuple((Fraction(order), Fraction(size)) for order, size in what["curve"]), count)
        case "exponential":
            return Part(Exponential(2 / Fraction(what["epsilon"])), int(1 / GRID))
    noise = Laplace(what["scale"], grid) if what["mechanism"] == "laplace" else Gaussian(what["sigma"], grid)
    rate = Fraction(what["sampling"]) if "sampling" in what else None
    return Part(noise, math.ceil(Fraction(what.get("sensitivity", 1)) / grid), count, sampling=rate)


def _moments_alone(parts: list[AnyPart]) -> bool:
    return any(isinstance(part, Concentrated | RenyiCurve) for part in parts)


def delta(what: Described, at: str) -> Ends:
    level = Fraction(at)
    if "larger of" in what:
        return _larger([delta(each, at) for each in what["larger of"]])
    if "cut" in what:
        return _cut_delta(what, level)
    if "releases" not in what:
        return Ends.of(pair_of(what).delta(level))
    parts = [part_of(each) for each in what["releases"]]
    return Ends(0.0, float(renyi_delta(parts, level))) if _moments_alone(parts) else Ends.of(composed_delta(parts, level))


def epsilon(what: Described, at: str) -> Ends:
    if "repeated" in what:
        return Ends(0.0, float(repeated_epsilon(what["repeated"]["epsilon"], what["repeated"]["shape"])))
    if "cut" in what:
        return Ends(0.0, float(cut_epsilon(_cut_batches(what), at)))
    parts = [part_of(each) for each in what["releases"]]
    try:
        found = renyi_epsilon(parts, Fraction(at)) if _moments_alone(parts) else compose(parts, Fraction(at))
    except InvalidValue:  # no finite ε
        return Ends(math.inf, math.inf)
    return Ends(float(found.lower), float(found.upper))


def _cut_batches(what: Described) -> list[CutBatches]:
    return [
        CutBatches(Fraction(each["rate"]), Fraction(each["sigma"]), each["records"], each["size"], each.get("count", 1))
        for each in what["cut"]
    ]


def _cut_delta(what: Described, level: Fraction) -> Ends:
    """Of a composition, or of one release in one direction, for any real ε."""
    batches = _cut_batches(what)
    if "relation" not in what:
        return Ends(0.0, float(cut_delta(batches, level)))
    high = sum(
        weight * ShiftedNoise.sampled("gaussian", one.sigma, Fraction(1), one.rate, what["relation"]).delta(level)[1]
        for weight, one in batches[0].groups
    )
    return Ends(0.0, float(high))


def repeated_rdp(what: Described, at: str) -> Ends:
    """The best of several Gaussian runs, or of a Poisson number of Laplace ones, as the theorem has it."""
    order = Fraction(at)
    if "mean" in what:  # the order is the largest at which the run's own ε will do
        one, above = float(what["epsilon"]), float(order - 1)
        laplace = one + math.log1p(math.expm1(-(1 + 2 * above) * one) * above / (1 + 2 * above)) / above
        return Ends(0.0, float(poisson_renyi(order, laplace, what["mean"], (what["epsilon"], 0))))
    rho, gamma = (Fraction(what[name]) for name in ("rho", "gamma"))
    other = Fraction(max(1.0, math.sqrt(-math.log(gamma) / float(rho))))
    found = [repeated_renyi(max(order, _NEAR_ONE), rho * max(order, _NEAR_ONE), gamma, what["shape"], (other, rho * other))]
    if gamma < 1:  # divergences rise with the order, so that a larger one bounds this one
        runs = _mean_runs(float(gamma), float(what["shape"]))
        larger = 1 + Fraction(math.sqrt(math.log(runs) / float(rho)))
        found += [repeated_renyi(larger, rho * larger, gamma, what["shape"], (other, rho * other))] if larger >= order else []
    return Ends(0.0, float(min(found)))


def _mean_runs(gamma: float, shape: float) -> float:
    return (1 / gamma - 1) / -math.log(gamma) if not shape else shape * (1 - gamma) / (gamma * (1 - gamma**shape))


def rdp(what: Described, at: str) -> Ends:
    if "runs" in what:
        return repeated_rdp(what["runs"], at)
    if "larger of" in what:
        return _larger([rdp(each, at) for each in what["larger of"]])
    if "repeated" in what:
        return epsilon(what, at)
    if "releases" in what:
        return _renyi_of_parts([part_of(each) for each in what["releases"]], at)
    pair = pair_of(what)
    try:
        return Ends.of(pair.renyi(None if at == "inf" else Fraction(at))) if isinstance(pair, FinitePair) else Ends(0, math.inf)
    except InvalidValue:
        return Ends(math.inf, math.inf)


def _renyi_of_parts(parts: list[AnyPart], at: str) -> Ends:
    if at == "inf":
        pure = pure_sum(parts)
        return Ends(math.inf, math.inf) if pure is None else Ends(0.0, float(pure))
    order, sampled = max(Fraction(at), _NEAR_ONE), [part for part in parts if isinstance(part, Part) and part.sampling]
    if not sampled:
        return Ends(0.0, float(renyi(parts, order)))
    groups = [SampledGaussian(part.sampling or 1, part.noise.parameters()["sigma"], part.count) for part in sampled]
    return Ends(0.0, float(sampled_moment(groups, order - 1) / (order - 1)))  # of continuous noise, as the test has it


def hit_rate(what: Described, at: str) -> Ends:
    return Ends.of(pair_of(what).true_positive_rate(Fraction(at)))


def mu(what: Described, _: object) -> Ends:
    """Of Gaussian noise without sampling it is sensitivity/σ; of finitely many outcomes what their best tests say."""
    pair = pair_of(what)
    if isinstance(pair, ShiftedNoise):
        exact = Fraction(what["sensitivity"]) / Fraction(what["scale"])
        return Ends.of((exact, exact))
    try:
        return Ends.of(pair.gaussian_mu())
    except InvalidValue:
        return Ends(math.inf, math.inf)


def _larger(found: list[Ends]) -> Ends:
    return Ends(max(each.low for each in found), max(each.high for each in found))


def with_noise(what: Described, size: Fraction) -> Described:
    """The same with noise of another size."""
    if "calibrated" not in what:
        return {**what, "scale": str(size)}
    kind, moved = what["calibrated"], Fraction(what["sensitivity"])
    release = {"count": what["count"], **({"sampling": what["sampling"]} if "sampling" in what else {})}
    match kind:
        case "geometric":
            release |= {"mechanism": "laplace", "scale": str(1 / size), "grid": "1", "sensitivity": str(moved)}
        case "laplace":
            release |= {"mechanism": "laplace", "scale": str(size / moved)}
        case _:
            release |= {"mechanism": "gaussian", "sigma": str(size / moved)}
    return {"releases": [release]}


QUANTITIES: dict[str, Callable[[Described, Any], Ends]] = {
    "delta": delta,
    "epsilon": epsilon,
    "rdp": rdp,
    "hit rate": hit_rate,
    "mu": mu,
}
