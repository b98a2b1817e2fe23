"""The least noise that keeps (ε, δ): for one release, for K of them (and calibration_shuffled.py for a shuffled batch).

Whatever is found is rounded to the side of more privacy, to a short exact number, and held against the certified bound again:
a parameter leaves here only after the bound at that very number was seen to be at most ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.calibration.safe_sizes import GaussianTask, safe_size
from dpaudit.accountants.losses.numerical import compose, composed_delta
from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.numerics.search import log
from dpaudit.accountants.sampling.groups import read_rate
from dpaudit.channel.release_cost import LARGEST_EPSILON, epsilon_at, gaussian_epsilon, rho, zcdp_delta
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, exact_epsilon, positive, whole
from dpaudit.claims.balls import decimal
from dpaudit.noise import GRID, MECHANISMS, Noise, python_code

DIGITS = 12  # significant ones of a parameter
CLOSE = Fraction(1, 10**10)  # relative width to which the least noise is found
WORTH = Fraction(999, 1000)  # less noise than this part of a pure rule's is worth a δ; an account decides likewise
MOST_RELEASES = 10**12
METHODS = ("pure", "zcdp", "exact", "numerical")

Curve = Callable[[Noise], Fraction]  # δ at the ε asked for, rounded up


@dataclass(frozen=True)
class NoiseRule:
    """One way to account for the releases, and the least noise by it."""

    method: str
    noise: Noise
    theorem: str
    adaptive: bool  # does it hold for noise that is chosen on the way, too?

    @property
    def value(self) -> Fraction:
        return Fraction(self.noise.parameters()[self.noise.size_name])


@dataclass(frozen=True)
class Calibration:
    """The least noise for (ε, δ), what it gives, and the other rules that were tried."""

    rule: NoiseRule
    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction
    count: int
    gives: Enclosure
    others: Sequence[NoiseRule] = ()
    n: int | None = None  # reports of a shuffled batch
    sampling: Fraction | None = None

    @property
    def python(self) -> str:
        """The noise as one writes it."""
        return python_code(self.rule.noise)


@dataclass(frozen=True)
class NoiseTask:
    """What is asked for: ``count`` releases of a query that moves by at most ``steps`` of the grid."""

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    steps: int
    grid: Fraction
    count: int
    counts: tuple[tuple[str, int], ...] = ()  # whole-number parameters that are not chosen
    sampling: Fraction | None = None  # rate of the Poisson sample that each release is computed from

    @property
    def kind(self) -> type[Noise]:
        return MECHANISMS[self.mechanism]

    def noise(self, size: Fraction) -> Noise:
        """Noise of this size: scale, sigma, or 1/ε0 of a response. More is more private."""
        return self.kind.of_size(size if self.kind.stronger > 0 else 1 / size, self.grid, dict(self.counts))

    def part(self, noise: Noise) -> Part:
        """All releases, as what is composed."""
        return Part(noise, self.steps, self.count, sampling=self.sampling)

    def rounded(self, size: Fraction) -> Fraction:
        """Up, until the parameter is a short decimal."""
        return decimal(size, DIGITS, up=True) if self.kind.stronger > 0 else 1 / decimal(1 / size, DIGITS, up=False)


def calibrate(
    mechanism: str,
    epsilon: Number,
    delta: Number = 0,
    *,
    sensitivity: Number = 1,
    count: object = 1,
    grid: Number = GRID,
    method: str | None = None,
    sampling: Number | None = None,
    **counts: object,
) -> Calibration:
    """The least noise with which ``count`` releases keep (ε, δ); for randomised response the largest ε0 per answer.

    ``sensitivity`` is L1 for Laplace and L2 for Gaussian noise, rounded up to whole steps of the grid, as the door does.
    ``method``: one of ``pure``, ``zcdp``, ``exact`` (one release, or randomised responses), ``numerical`` (several); the best
    of those that hold if left out. All hold for queries that depend on earlier answers; ``pure`` and ``zcdp`` also when
    the noise does. ``sampling``: each release of Gaussian noise is computed from a fresh Poisson sample with this rate;
    neighbours then add or remove one record, and only ``numerical`` serves. ``counts``: whole-number parameters of the
    mechanism, such as ``k``. Raises ``InvalidValue``.
    """
    if mechanism not in MECHANISMS or MECHANISMS[mechanism].fails:
        raise InvalidValue(
            "mechanism", mechanism, "one of " + ", ".join(name for name, each in MECHANISMS.items() if not each.fails)
        )
    if method is not None and method not in METHODS:
        raise InvalidValue("method", method, "one of " + ", ".join(METHODS))
    task, moved = _task(mechanism, epsilon, delta, sensitivity, count, grid, counts)
    if sampling is not None:
        task = replace(task, sampling=read_rate(sampling))
        if task.kind.pure:
            raise InvalidValue("sampling", sampling, "left out: calibration on samples knows Gaussian noise only")
    if not task.kind.pure and not task.delta:
        raise InvalidValue("delta", delta, f"greater than 0: {task.kind.words} has no finite ε at δ = 0")
    if task.epsilon > LARGEST_EPSILON:
        raise InvalidValue("epsilon", epsilon, f"at most {LARGEST_EPSILON:.0e}")
    if task.count > MOST_RELEASES:
        raise InvalidValue("count", count, f"at most {MOST_RELEASES:.0e}")
    rules = [rule for rule in _rules(task) if method in (None, rule.method)]
    if not rules:
        reason = "another: it does not serve" if method else "left out; no rule serves"
        raise InvalidValue("method", method, f"{reason} {task.count} {mechanism} release(s) at this ε, δ and grid")
    rules.sort(key=lambda rule: _size(rule) * (WORTH if rule.method == "pure" else 1))
    best, gives = _settle(task, rules[0])
    return Calibration(best, task.epsilon, task.delta, moved, task.count, gives, rules[1:], sampling=task.sampling)


def _task(
    mechanism: str, epsilon: Number, delta: Number, sensitivity: Number, count: object, grid: Number, counts: Mapping[str, object]
) -> tuple[NoiseTask, Fraction]:
    """What is asked for, read strictly; and the sensitivity. An answer is an answer: it has neither sensitivity nor grid."""
    kind, moved = MECHANISMS[mechanism], positive(sensitivity, "sensitivity")
    answers = kind.stronger < 0
    unit = Fraction(1) if answers else positive(grid, "grid")
    steps = 1 if answers else math.ceil(moved / unit)
    task = NoiseTask(
        mechanism, positive(exact_epsilon(epsilon), "epsilon"), exact_delta(delta), steps, unit, whole(count, "count"),
        read_counts(kind, counts),
    )  # fmt: skip
    return task, moved


def read_counts(kind: type[Noise], counts: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """The whole-number parameters that this mechanism has, all of them and no others. Raises ``InvalidValue``."""
    least = kind.forms[kind.name].counts
    for name in counts:
        if name not in least:
            raise InvalidValue(name, counts[name], f"left out: {kind.words} has no such parameter")
    for name in least:
        if name not in counts:
            raise InvalidValue(name, None, f"given: {kind.words} has no size without it")
    return tuple((name, whole(counts[name], name, least=at_least)) for name, at_least in least.items())


def _rules(task: NoiseTask) -> list[NoiseRule]:
    """The rules that serve this task; one that cannot be evaluated (δ too small, a grid too coarse) is left out."""
    if task.sampling is not None:
        return [_numerical(task)]
    found = [_pure(task)] if task.kind.pure else []
    exact = task.count <= task.kind.most_changes
    more = [_exact if exact else _numerical, *([_zcdp] if task.count > 1 else [])]
    for make in more if task.delta else []:
        with suppress(InvalidValue, ArithmeticError):
            found.append(make(task))
    return found


def _pure(task: NoiseTask) -> NoiseRule:
    """ε/K for each release, exactly."""
    return NoiseRule("pure", task.noise(_pure_size(task)), "Σε, exactly (Dwork & Roth 2014, Thm 3.16)", True)


def _pure_size(task: NoiseTask) -> Fraction:
    return task.steps * task.grid * task.count / task.epsilon


def _zcdp(task: NoiseTask) -> NoiseRule:
    """The mechanism's own ρ, or ε0²/2 for a pure release."""

    def curve(noise: Noise) -> Fraction:
        return zcdp_delta(task.count * rho(noise, task.steps), task.epsilon)

    theorem = "Σρ (Bun & Steinke 2016, Prop. 1.4, Lemma 1.7), to (ε,δ) by Canonne et al. 2020, Cor. 13"
    return NoiseRule("zcdp", least(task, curve), theorem, True)


def _exact(task: NoiseTask) -> NoiseRule:
    """δ(ε) of the noise on its grid; K randomised responses are one of K bits."""

    def curve(noise: Noise) -> Fraction:
        return noise.delta(task.epsilon, task.steps * task.count)

    return NoiseRule("exact", _safe(task, least(task, curve)), task.kind.curve_theorem, False)


def _numerical(task: NoiseTask) -> NoiseRule:
    def curve(noise: Noise) -> Fraction:
        return composed_delta([task.part(noise)], task.epsilon)[1]

    theorem = "numerical composition, certified (Zhu, Dong, Wang 2022, Thm 10)"
    return NoiseRule("numerical", _safe(task, least(task, curve)), theorem, False)


def _safe(task: NoiseTask, noise: Noise) -> Noise:
    """At least this noise, and such that every larger one keeps δ too; on samples the bound falls by itself."""
    if noise.spread is None or task.sampling is not None:
        return noise
    goal = GaussianTask(task.epsilon, task.delta, task.steps, task.count)
    size = safe_size(goal, noise.spread)
    return noise if size == noise.spread else task.noise(task.rounded(size * task.grid))


def _settle(task: NoiseTask, rule: NoiseRule) -> tuple[NoiseRule, Enclosure]:
    """The rule with the ε that the accountant gives for it; a little more noise if rounding puts that above ε."""
    if rule.method == "pure" and not task.delta:
        cost = (rule.noise.epsilon(task.steps) or Fraction(0)) * task.count
        return rule, Enclosure(cost, cost, True, "pure sum")
    size, margin = _size(rule), CLOSE
    while (ours := _accounted(task, rule.method, rule.noise)).upper > task.epsilon:
        size, margin = size * (1 + margin), 4 * margin
        rule = replace(rule, noise=task.noise(task.rounded(size)))
    return rule, ours


def _size(rule: NoiseRule) -> Fraction:
    return rule.value if rule.noise.stronger > 0 else 1 / rule.value


def _accounted(task: NoiseTask, method: str, noise: Noise) -> Enclosure:
    """What K such releases cost at δ: the least ε by this rule, above the least ε by any.

    Where the numerical composition has no answer (noise of few steps of its grid) the lower end is 0, and the upper one the ε
    at which the rule's δ was checked.
    """
    low, high = Fraction(0), task.epsilon
    with suppress(InvalidValue, ArithmeticError):
        tight = compose([task.part(noise)], task.delta)
        low, high = tight.lower, tight.upper
    if method == "pure":
        high = (noise.epsilon(task.steps) or Fraction(0)) * task.count
    elif method == "zcdp":
        high = epsilon_at(task.delta, lambda epsilon: zcdp_delta(task.count * rho(noise, task.steps), epsilon) <= task.delta)
    elif not task.kind.pure and task.count == 1 and task.sampling is None:
        high = gaussian_epsilon(noise, task.steps, task.delta)  # as an account rounds it
    return Enclosure(min(low, high), high, True, method)


def least(task: NoiseTask, curve: Curve) -> Noise:
    """The least noise whose certified δ(ε) is at most δ, rounded up, and seen to hold at the rounded number."""

    def excess(size: Fraction) -> float:
        """log δ(ε)/δ; its sign is exact."""
        delta = curve(task.noise(size))
        ratio = log(delta) - log(task.delta)
        return min(ratio, 0.0) if delta <= task.delta else max(ratio, 1e-300)

    reach = Fraction(math.sqrt(2 * task.count * log(2 / task.delta))) / task.epsilon
    reach = min(reach, task.count / task.delta)  # enough at ε = 0: each release moves the law by less than Δ over its scale
    safe = unsafe = task.rounded(task.steps * task.grid * reach)
    while excess(safe) > 0:
        unsafe, safe = safe, 2 * safe
    while excess(unsafe) <= 0:
        safe, unsafe = unsafe, unsafe / 2
    size = _narrowed(excess, unsafe, safe)
    margin = CLOSE
    while excess(task.rounded(size)) > 0:
        size, margin = size * (1 + margin), 4 * margin
    return task.noise(task.rounded(size))


def _narrowed(excess: Callable[[Fraction], float], unsafe: Fraction, safe: Fraction) -> Fraction:
    """The safe end of a bracket of relative width CLOSE: false position after Illinois, bisection where it does not help."""
    above, below = excess(unsafe), excess(safe)
    for step in range(200):
        if safe - unsafe <= CLOSE * safe:
            break
        share = above / (above - below) if math.isfinite(above - below) and step % 4 < 3 else 0.5
        middle = decimal(unsafe + (safe - unsafe) * Fraction(min(max(share, 1e-6), 1 - 1e-6)), DIGITS + 4, up=True)
        found = excess(middle)
        if found > 0:
            unsafe, above, below = middle, found, below / 2
        else:
            safe, below, above = middle, found, above / 2
    return safe
