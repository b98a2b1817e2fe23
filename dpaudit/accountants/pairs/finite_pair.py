"""A pair of laws with finitely many outcomes: everything that can be asked about it is a finite sum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import flint

from dpaudit.accountants.pairs.normal_quantile import normal_quantile
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import Ball, ball, lower, precision, upper

BITS = 256
_FEWEST = Fraction(1, 10**60)  # a failure probability below it is that of rounding

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class FinitePair:
    """Outcomes with their probabilities (p, q) under P and Q, as balls. δ and the rest are about P against Q."""

    outcomes: tuple[tuple[Any, Any], ...]

    @classmethod
    def of_laws(cls, first: Mapping[Any, Fraction], second: Mapping[Any, Fraction]) -> FinitePair:
        """Two laws given by exact probabilities. Raises ``InvalidValue`` where they do not add up to 1."""
        for law in (first, second):
            if sum(law.values()) != 1 or min(law.values()) < 0:
                raise InvalidValue("probabilities", "a law", "not negative, and 1 together")
        with precision(BITS):
            keys = dict.fromkeys([*first, *second])
            return cls(tuple((ball(first.get(key, Fraction(0))), ball(second.get(key, Fraction(0)))) for key in keys))

    def swapped(self) -> FinitePair:
        return FinitePair(tuple((q, p) for p, q in self.outcomes))

    def sampled(self, rate: Fraction) -> FinitePair:
        """(1 − rate)Q + rate·P against Q: the record enters by its own coin, and is removed."""
        with precision(BITS):
            share = ball(rate)
            return FinitePair(tuple(((1 - share) * q + share * p, q) for p, q in self.outcomes))

    def beside(self, other: FinitePair) -> FinitePair:
        """Both pairs, independently."""
        with precision(BITS):
            pairs = product(self.outcomes, other.outcomes)
            return FinitePair(tuple((a * c, b * d) for (a, b), (c, d) in pairs))

    def delta(self, epsilon: Fraction) -> Ends:
        """(lower, upper) around Σ(p − e^ε q)_+, for any real ε."""
        with precision(BITS):
            grown = ball(epsilon).exp()
            excess = [p - grown * q for p, q in self.outcomes]
            low = sum((lower(each) for each in excess if each > 0), Fraction(0))
            high = sum((max(upper(each), Fraction(0)) for each in excess), Fraction(0))
        return max(low, Fraction(0)), min(high, Fraction(1))

    def renyi(self, order: Fraction | None) -> Ends:
        """(lower, upper) around D_α; None is α = ∞. Raises ``InvalidValue`` where it is infinite."""
        with precision(BITS):
            pairs = [(p, q) for p, q in self.outcomes if p > 0]
            if any(not q > 0 for _, q in pairs):
                raise InvalidValue("order", order, "of a pair without certain outcomes: it has no finite Rényi divergence")
            if order is None:
                losses = [(p / q).log() for p, q in pairs]
                return max(lower(loss) for loss in losses), max(upper(loss) for loss in losses)
            total = sum((p * (p / q).log() for p, q in pairs), start=flint.arb(0)) if order == 1 else _divergence(pairs, order)
            return lower(total), upper(total)

    def roc(self) -> Iterator[tuple[Ball, Ball]]:
        """The corners (false, true positive rate) of the best tests of Q against P, from (0, 0) on (Neyman & Pearson 1933)."""
        rated = sorted(((_ratio(p, q), p, q) for p, q in self.outcomes), key=lambda each: -each[0])
        false, true = flint.arb(0), flint.arb(0)
        yield false, true
        for _, p, q in rated:
            false, true = false + q, true + p
            yield false, true

    def true_positive_rate(self, false_rate: Fraction) -> Ends:
        """(lower, upper) around the largest true positive rate at this false positive rate."""
        with precision(BITS):
            at, corners = ball(false_rate), list(self.roc())
            for (x, y), (right, above) in pairwise(corners):
                if not right < at:
                    value = above if not right > x else y + (at - x) * (above - y) / (right - x)
                    return max(lower(value), Fraction(0)), min(upper(value), Fraction(1))
        return Fraction(1), Fraction(1)

    def gaussian_mu(self) -> Ends:
        """(lower, upper) around the least μ for which the pair is μ-Gaussian-DP; raises ``InvalidValue`` where there is none.

        The trade-off curve of N(μ, 1) is concave as a hit rate, so it lies above the segments between corners that it is above.
        """
        low = high = Fraction(0)
        with precision(BITS):
            for false, true in self.roc():
                if (lower(false) <= _FEWEST and lower(true) <= _FEWEST) or (_is_one(false) and _is_one(true)):
                    continue
                if lower(false) <= _FEWEST or _is_one(true):
                    raise InvalidValue("pair", "with certain outcomes", "without them: it is not Gaussian-DP for any μ")
                gap = normal_quantile(true) - normal_quantile(false)
                low, high = max(low, lower(gap)), max(high, upper(gap))
        return low, high


def _is_one(value: Ball) -> bool:
    return upper(1 - value) <= _FEWEST


def _ratio(p: Ball, q: Ball) -> float:
    return float(p.mid()) / float(q.mid()) if q > 0 else math.inf


def _divergence(pairs: Sequence[tuple[Ball, Ball]], order: Fraction) -> Ball:
    c = ball(order - 1)
    total = sum((p * (c * (p / q).log()).exp() for p, q in pairs), start=flint.arb(0))
    return total.log() / c


def response_pair(keep: Fraction, categories: int) -> FinitePair:
    """k-ary randomised response that is kept with probability ``keep`` and else is any category, for two different answers."""
    if categories == 1:
        return FinitePair.of_laws({0: Fraction(1)}, {0: Fraction(1)})
    other = (1 - keep) / categories
    law = {0: keep + other, 1: other, **({2: other * (categories - 2)} if categories > 2 else {})}
    return FinitePair.of_laws(law, {**law, 0: law[1], 1: law[0]})


def response_against_none(keep: Fraction, categories: int) -> FinitePair:
    """The same for an answer against a uniformly drawn category: a record that is zeroed out."""
    other = (1 - keep) / categories
    return FinitePair.of_laws(
        {0: keep + other, 1: other * (categories - 1)}, {0: Fraction(1, categories), 1: Fraction(categories - 1, categories)}
    )


def geometric_pair(rate: Fraction, steps: int) -> FinitePair:
    """Noise P(k) ∝ e^{−rate·|k|} on whole numbers that is moved by ``steps``: outcomes on one side of both are one outcome."""
    with precision(BITS):
        t = ball(-rate).exp()
        scale = (1 - t) / (1 + t)
        tail = 1 / (1 + t)  # of k ≤ 0
        inner = [scale * t**k for k in range(1, steps)]
        stayed = [tail, *inner, tail * t**steps]
        return FinitePair(tuple(zip(reversed(stayed), stayed, strict=True)))


def gaussian_steps_pair(sigma: Fraction, steps: int, largest: int) -> FinitePair:
    """Noise P(k) ∝ e^{−k²/2σ²} on |k| ≤ ``largest`` that is moved by ``steps``."""
    with precision(BITS):
        weights = [ball(-Fraction(k * k) / (2 * sigma * sigma)).exp() for k in range(-largest, largest + 1)]
        total = sum(weights, start=flint.arb(0))
        law, none = [weight / total for weight in weights], [flint.arb(0)] * steps
        return FinitePair(tuple(zip(none + law, law + none, strict=True)))


def together(pairs: Iterable[FinitePair]) -> FinitePair:
    """All of them, independently."""
    joint = FinitePair(((flint.arb(1), flint.arb(1)),))
    for pair in pairs:
        joint = joint.beside(pair)
    return joint


def loss_pair(losses: Mapping[Fraction, Fraction], infinite: Fraction = Fraction(0)) -> FinitePair:
    """The pair whose loss under P has these values with these probabilities, and is infinite with the rest."""
    with precision(BITS):
        outcomes = [(ball(mass), ball(mass) * ball(-loss).exp()) for loss, mass in losses.items()]
        rest = 1 - sum((q for _, q in outcomes), start=flint.arb(0))
        alone = ((flint.arb(0), rest),) if rest > 0 else ()  # what only Q shows
        return FinitePair((*outcomes, (ball(infinite), flint.arb(0)), *alone))
