"""The probability of a transcript of the sparse vector technique, in closed form: a sum of exponentials between breakpoints.

A query i answers ⊤ if q_i + ν_i ≥ ρ (thresholds are 0), ρ ~ Lap(b_1), ν_i ~ Lap(b_2), else ⊥. Given ρ the answers do not depend
on each other, so that P = ∫ p(ρ)·Π_i P(answer i | ρ) dρ, where every factor is c_0 + c_1·e^{±ρ/b_2} between 0 and the q_i.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_checks.shared.laplace_tails import MP

Answer = bool | Fraction  # ⊤ and ⊥; a number: ⊤ with q_i + ν_i itself
LEAST = MP.mpf(10) ** -30
Sum = dict[Fraction, Any]  # rate → coefficient of e^{rate·ρ}


class TooFewDigits(ArithmeticError):
    """A probability so small that rounding may have eaten it."""


@dataclass(frozen=True)
class Variant:
    """``threshold``, ``query``: Laplace scales, 0 for no noise. ``refresh``: the threshold's noise is drawn anew after each ⊤.

    ``cutoff``: it stops after so many ⊤; None: never.
    """

    threshold: Fraction
    query: Fraction
    cutoff: int | None = 1
    refresh: bool = False


def probability(variant: Variant, answers: Sequence[Answer], queries: Sequence[int]) -> Any:
    """Of these answers to these queries, in 50 digits; a density where an answer is a number."""
    if not variant.refresh:
        return _run(variant, answers, queries)
    total, start = MP.mpf(1), 0
    for stop in [i + 1 for i, answer in enumerate(answers) if answer is not False] + [len(answers)]:
        total *= _run(variant, answers[start:stop], queries[start:stop]) if stop > start else 1
        start = stop
    return total


def _run(variant: Variant, answers: Sequence[Answer], queries: Sequence[int]) -> Any:
    """With one draw of the threshold's noise."""
    points = sorted({Fraction(0), *map(Fraction, queries), *(a for a in answers if isinstance(a, Fraction))})
    total = MP.mpf(0)
    for low, high in itertools.pairwise([None, *points, None]):
        middle = _inside(low, high)
        rate = 1 / variant.threshold
        product: Sum = {(-rate if middle > 0 else rate): _number(rate) / 2}
        for answer, query in zip(answers, queries, strict=True):
            product = _times(product, _factor(variant, answer, query, middle))
        total += sum((_integral(rate, coefficient, low, high) for rate, coefficient in product.items()), MP.mpf(0))
    return total


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A place between two breakpoints."""
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _factor(variant: Variant, answer: Answer, query: int, middle: Fraction) -> Sum:
    """P(answer | ρ) around ``middle``."""
    if not isinstance(answer, bool):
        density = MP.exp(-_number(abs(answer - query) / variant.query)) * _number(1 / variant.query) / 2
        return {Fraction(0): density} if middle < answer else {}
    if variant.query == 0:
        return {Fraction(0): MP.mpf(1)} if (query > middle) is answer else {}
    rate, above = 1 / variant.query, middle > query
    part = MP.exp(_number(query * rate) * (1 if above else -1)) / 2  # of e^{∓ρ·rate}: P(ν ≥ ρ − q) above, P(ν < ρ − q) below
    tail = {-rate if above else rate: part}
    return tail if answer is above else {Fraction(0): MP.mpf(1), **{key: -value for key, value in tail.items()}}


def _times(one: Sum, other: Sum) -> Sum:
    product: Sum = {}
    for (a, x), (b, y) in itertools.product(one.items(), other.items()):
        product[a + b] = product.get(a + b, MP.mpf(0)) + x * y
    return product


def _integral(rate: Fraction, coefficient: Any, low: Fraction | None, high: Fraction | None) -> Any:
    if rate == 0:
        if low is None or high is None:
            raise ArithmeticError("a threshold without noise")
        return coefficient * _number(high - low)
    ends = [MP.mpf(0) if end is None else MP.exp(_number(rate * end)) for end in (low, high)]
    return coefficient * (ends[1] - ends[0]) / _number(rate)


def _number(value: Fraction) -> Any:
    return MP.mpf(value.numerator) / value.denominator


def loss(variant: Variant, answers: Sequence[Answer], queries: Sequence[int], others: Sequence[int]) -> float:
    """log P(answers | queries)/P(answers | others); ∞ where only the second is 0. Raises TooFewDigits."""
    one, other = probability(variant, answers, queries), probability(variant, answers, others)
    if any(value != 0 and value < LEAST for value in (one, other)):
        raise TooFewDigits("a probability below 10^-30 is lost in the rounding of 50 digits")
    if one == 0:
        return -math.inf
    return math.inf if other == 0 else float(MP.log(one / other))


@dataclass(frozen=True)
class Worst:
    """The transcript that loses most, and the neighbouring queries it does so on."""

    loss: float
    answers: str
    queries: str
    others: str


def stops(variant: Variant, answers: Sequence[Answer]) -> bool:
    """Can this be a transcript? It ends with the last ⊤ that is allowed."""
    above = [place for place, answer in enumerate(answers) if answer is not False]
    if variant.cutoff is None or len(above) < variant.cutoff:
        return True
    return len(above) == variant.cutoff and above[-1] == len(answers) - 1


def search(variant: Variant, length: int, repeats: Sequence[int], monotone: bool = False) -> Worst:
    """The largest loss over short lists of queries near the threshold, and over m queries of one kind before c of another.

    Transcripts too unlikely for the digits are passed over: what is found is lost, and more may be.
    """
    pairs = [(0, 1), (1, 0), (0, 0), (-2, -1), (-1, -2)]
    cases = list(itertools.product(pairs, repeat=length))
    cutoff = variant.cutoff or 0
    for m in repeats:
        for one, other in itertools.product(pairs[:3], repeat=2):
            cases.append((one,) * m + (other,) * (cutoff or m))
    worst = Worst(-math.inf, "", "", "")
    for case in cases:
        queries, others = [pair[0] for pair in case], [pair[1] for pair in case]
        if monotone and not (all(a <= b for a, b in case) or all(a >= b for a, b in case)):
            continue
        for answers in _transcripts(variant, len(case), length):
            try:
                found = loss(variant, answers, queries, others)
            except TooFewDigits:
                continue
            if found > worst.loss:
                shown = "".join("⊤" if answer else "⊥" for answer in answers)
                worst = Worst(found, shown, str(tuple(queries)), str(tuple(others)))
    return worst


def _transcripts(variant: Variant, count: int, length: int) -> list[tuple[bool, ...]]:
    """All of a short list; of a long one ⊥ … ⊥ ⊤ … ⊤."""
    if count <= length:
        every = [t for n in range(1, count + 1) for t in itertools.product((False, True), repeat=n) if n == count]
        return [answers for answers in every if stops(variant, answers)]
    above = variant.cutoff or count // 2
    return [(False,) * (count - above) + (True,) * above]
