"""The least local noise of n reports that a shuffler mixes, so that the batch keeps (ε, δ)."""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants.calibration.least_noise import Calibration, NoiseRule, read_counts
from dpaudit.accountants.calibration.noise_search import NoiseTask
from dpaudit.accountants.shuffle.amplification import amplify, epsilon0_rule
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, positive, whole
from dpaudit.noise import GRID, MECHANISMS

THEOREMS = {
    "laplace": "privacy blanket of Laplace reports, exactly (Balle et al. 2019; Su et al. 2025)",
    "krr": "privacy blanket of k-ary randomised response, exactly (Balle et al. 2019)",
    "unary": "privacy blanket of symmetric unary encoding (RAPPOR), exactly (Balle et al. 2019)",
    "oue": "privacy blanket of optimised unary encoding, exactly (Balle et al. 2019)",
    "same": "one randomiser for all reports, exactly (claim shuffle.same-randomiser; Balle et al. 2019)",
    "clone": "clones, exactly (Feldman–McMillan–Talwar 2021, Thm 3.1), for any randomiser",
    "closed": "closed form (Feldman–McMillan–Talwar 2021), inside its domain, for any randomiser",
    "none": "no amplification: an ε-LDP report is ε-DP, shuffled or not",
}
BLANKETS = ("laplace", "krr", "unary", "oue")  # of one mechanism each


def calibrate_shuffled(
    epsilon: Number,
    delta: Number,
    n: object,
    *,
    mechanism: str = "laplace",
    spread: Number = 2,
    grid: Number = GRID,
    method: str | None = None,
    **counts: object,
) -> Calibration:
    """The least noise of one report among n shuffled ones, for one batch that keeps (ε, δ).

    ``laplace``: reports of values in an interval of length ``spread``; ``randomized-response``: bits. ``method`` is one of
    ``laplace``, ``krr``, ``unary``, ``oue``, ``same``, ``clone``, ``closed``, ``none``; the best of them if left out. ``counts``
    as for ``calibrate``. Raises ``InvalidValue``.
    """
    target, failure, clients = positive(epsilon, "epsilon"), exact_delta(delta), whole(n, "n")
    kind = MECHANISMS.get(mechanism)
    if kind is None or not kind.pure or kind.fails:
        *first, last = (name for name, each in MECHANISMS.items() if each.pure and not each.fails)
        raise InvalidValue("mechanism", mechanism, f"{', '.join(first)} or {last} for shuffled reports")
    unit, whole_numbers = positive(grid, "grid"), read_counts(kind, counts)
    sample = kind.of_size(1, unit, dict(whole_numbers))
    methods = [each for each in THEOREMS if each not in BLANKETS or each == sample.blanket]
    if method not in (None, *methods):
        raise InvalidValue("method", method, "one of " + ", ".join(methods))
    if not failure:
        raise InvalidValue("delta", delta, "greater than 0: shuffling gives nothing at δ = 0")
    answers = kind.stronger < 0
    steps = math.ceil(positive(spread, "range") / unit)
    task = NoiseTask(mechanism, target, failure, 1 if answers else steps, Fraction(1) if answers else unit, 1, whole_numbers)
    found = []
    for name in methods if method is None else [method]:
        k = sample.alphabet if name == "krr" else None
        best = target if name == "none" else epsilon0_rule(target, clients, failure, name, steps=steps, k=k)
        if best > target or name == "none" or method is not None:  # else the theorem gives nothing here
            found.append(_rule(name if best > target else "none", task, best, steps, clients))
    found.sort(key=lambda each: each[0].noise.epsilon(task.steps) or 0, reverse=True)
    (rule, gives), others = found[0], [each[0] for each in found[1:]]
    return Calibration(rule, target, failure, task.steps * task.grid, 1, gives, others, clients)


def _rule(name: str, task: NoiseTask, epsilon0: Fraction, steps: int, n: int) -> tuple[NoiseRule, Enclosure]:
    """ε0 as noise with a short parameter, lowered until the certified ε of the batch is at most the target."""
    cut = Fraction(0)
    while True:
        noise = task.noise(task.rounded(task.steps * task.grid / epsilon0 * (1 + cut)))
        k = noise.alphabet if name == "krr" else None
        gives = _given(name, noise.epsilon(task.steps) or Fraction(0), steps, k, n, task.delta)
        if gives.upper <= task.epsilon:
            return NoiseRule(name, noise, THEOREMS[name], False), gives
        cut = 4 * cut or Fraction(1, 10**11)


def _given(method: str, epsilon0: Fraction, steps: int, k: int | None, n: int, delta: Fraction) -> Enclosure:
    found = amplify(epsilon0, n, delta, method="clone" if method == "none" else method, k=k, steps=steps)
    low = min(found.lower, epsilon0)
    if method == "none" or not found.in_domain:
        return Enclosure(low, epsilon0, True, "none", found.attack)
    return Enclosure(low, min(found.upper, epsilon0), True, method, found.attack)
