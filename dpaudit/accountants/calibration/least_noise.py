"""The least noise that keeps (ε, δ): for one release, for K of them (and calibration_shuffled.py for a shuffled batch).

Whatever is found is rounded to the side of more privacy, to a short exact number, and held against the certified bound again:
a parameter leaves here only after the bound at that very number was seen to be at most ε.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.calibration.noise_search import CLOSE, NoiseTask, least, least_size
from dpaudit.accountants.calibration.safe_sizes import GaussianTask, safe_size
from dpaudit.accountants.losses.numerical import compose, composed_delta
from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.sampling.groups import read_rate
from dpaudit.channel.release_cost import LARGEST_EPSILON, epsilon_at, gaussian_epsilon, rho, zcdp_delta
from dpaudit.claims import DpauditError, Enclosure, InvalidValue, Number, exact_delta, exact_epsilon, positive, whole
from dpaudit.claims.balls import ball, lower, precision
from dpaudit.noise import GRID, MECHANISMS, Noise, python_code

WORTH = Fraction(999, 1000)  # less noise than this part of a pure rule's is worth a δ; an account decides likewise
MOST_RELEASES = 10**12
_BITS = 256
NUMERICAL = "numerical composition, certified (Zhu, Dong, Wang 2022, Thm 10)"
METHODS = ("pure", "zcdp", "exact", "numerical")


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
    the noise does. ``sampling``: each release of Gaussian or Laplace noise is computed from a fresh Poisson sample with
    this rate; neighbours then add or remove one record, and ``numerical`` serves, for Laplace noise ``pure`` too.
    ``counts``: whole-number parameters of the mechanism, such as ``k``. Raises ``InvalidValue``.
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
        if task.kind.stronger < 0:
            raise InvalidValue(
                "sampling", sampling, "left out: on samples, noise is calibrated, Gaussian or Laplace, not answers"
            )
    if not task.kind.pure and not task.delta:
        raise InvalidValue("delta", delta, f"greater than 0: {task.kind.words} has no finite ε at δ = 0")
    if task.epsilon > LARGEST_EPSILON:
        raise InvalidValue("epsilon", epsilon, f"at most {LARGEST_EPSILON:.0e}")
    if task.count > MOST_RELEASES:
        raise InvalidValue("count", count, f"at most {MOST_RELEASES:.0e}")
    rules = [rule for rule in _rules(task) if method in (None, rule.method)]
    if not rules:
        asked = f"{task.count} {mechanism} release(s) at this ε, δ and grid"
        if method is None:
            raise DpauditError(f"no rule finds noise for {asked}: a larger ε or δ, or a finer grid, may have some")
        raise InvalidValue("method", method, f"another: it does not serve {asked}")
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
    found = [_pure(task)] if task.kind.pure else []
    if task.sampling is not None:
        return [*found, *([_sampled(task)] if task.delta else [])]
    exact = task.count <= task.kind.most_changes
    more = [_exact if exact else _numerical, *([_zcdp] if task.count > 1 else [])]
    for make in more if task.delta else []:
        with suppress(InvalidValue, ArithmeticError):
            found.append(make(task))
    return found


def _pure(task: NoiseTask) -> NoiseRule:
    """ε/K for each release, exactly; from a sample, the largest ε0 with ln(1 + q(e^{ε0} − 1)) ≤ ε/K, rounded down."""
    if task.sampling is None:
        return NoiseRule("pure", task.noise(_pure_size(task)), "Σε, exactly (Dwork & Roth 2014, Thm 3.16)", True)
    with precision(_BITS):
        one = lower((ball(task.epsilon / task.count).expm1() / ball(task.sampling)).log1p())
    noise = task.noise(task.rounded(task.steps * task.grid / one))
    return NoiseRule("pure", noise, "Σ ln(1 + q(e^ε − 1)) (Li, Qardaji, Su 2012)", True)


def _pure_size(task: NoiseTask) -> Fraction:
    return task.steps * task.grid * task.count / task.epsilon


def _sampled(task: NoiseTask) -> NoiseRule:
    """By ε(δ), which is enclosed more closely than δ(ε) where samples are rare; it falls as noise grows."""

    def excess(size: Fraction) -> float:
        try:
            found = compose([task.part(task.noise(size))], task.delta).upper
        except InvalidValue:  # too little noise, or too few steps of its grid, to be accounted for
            if size >= task.steps * task.grid:
                raise
            return math.inf
        ratio = log(found) - log(task.epsilon) if found else -math.inf
        return min(ratio, 0.0) if found <= task.epsilon else max(ratio, 1e-300)

    return NoiseRule("numerical", least_size(task, excess), NUMERICAL, False)


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

    return NoiseRule("numerical", _safe(task, least(task, curve)), NUMERICAL, False)


def _safe(task: NoiseTask, noise: Noise) -> Noise:
    """At least this noise, and such that every larger one keeps δ too."""
    if noise.spread is None:
        return noise
    goal = GaussianTask(task.epsilon, task.delta, task.steps, task.count)
    size = safe_size(goal, noise.spread)
    return noise if size == noise.spread else task.noise(task.rounded(size * task.grid))


def _settle(task: NoiseTask, rule: NoiseRule) -> tuple[NoiseRule, Enclosure]:
    """The rule with the ε that the accountant gives for it; a little more noise if rounding puts that above ε."""
    if rule.method == "pure" and not task.delta:
        cost = task.part(rule.noise).pure() or Fraction(0)
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
        high = task.part(noise).pure() or Fraction(0)
    elif method == "zcdp":
        high = epsilon_at(task.delta, lambda epsilon: zcdp_delta(task.count * rho(noise, task.steps), epsilon) <= task.delta)
    elif not task.kind.pure and task.count == 1 and task.sampling is None:
        high = gaussian_epsilon(noise, task.steps, task.delta)  # as an account rounds it
    return Enclosure(min(low, high), high, True, method)
