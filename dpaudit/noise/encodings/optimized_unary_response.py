"""Optimised unary encoding (Wang, Blocki, Li, Jha 2017): the own bit is a fair coin, every other is 1 with probability
1/(1 + e^ε)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpaudit.claims import Number, WrittenForm, exact_epsilon, whole
from dpaudit.noise.encodings.unary_encoding import UnaryEncoding, written_form
from dpaudit.noise.loss_facts import FiniteFact, LossAtom
from dpaudit.noise.parameter import Parameter
from dpaudit.noise.sampling.bernoulli import Probability, logistic
from dpaudit.noise.sampling.probability_bits import Ball, ball, enclose

_COIN = Probability(lambda: ball(Fraction(1, 2)))


@dataclass(frozen=True, eq=False, init=False)
class OptimizedUnaryResponse(UnaryEncoding):
    """A category as k bits of which few are 1: estimated counts vary less than with symmetric bits at the same ε."""

    answer_epsilon: Parameter
    k: int

    name: ClassVar[str] = "optimized-unary-response"
    words: ClassVar[str] = "optimised unary encoding (OUE)"
    size_words: ClassVar[str] = "optimised unary encoding with ε0 ="
    theorem: ClassVar[str] = "optimised unary encoding (Wang et al. 2017)"
    curve_theorem: ClassVar[str] = "δ(ε) of K optimised unary encodings, exactly"
    blanket: ClassVar[str] = "oue"
    most_changes: ClassVar[int] = 200  # its δ(ε) is a double sum
    forms: ClassVar[dict[str, WrittenForm]] = {"optimized-unary-response": written_form("optimized-unary-response")}

    def own_bit(self) -> Ball:
        return ball(Fraction(1, 2))

    def other_bit(self) -> Ball:
        return 1 / (1 + ball(self.exact_size()).exp())

    def _probabilities(self) -> tuple[Probability, Probability]:
        return _COIN, logistic(self.exact_size())

    def _floats(self, epsilon: Any) -> tuple[Any, Any]:
        odds = np.exp(-np.asarray(epsilon))  # cannot overflow
        return np.full_like(odds, 0.5), odds / (1 + odds)

    def loss(self, steps: int) -> FiniteFact:
        """Of the two bits that differ, 10 has probability e^ε/(2 + 2e^ε) and loss ε, 01 has 1/(2 + 2e^ε) and −ε; 00 has
        e^ε/(2 + 2e^ε), 11 has 1/(2 + 2e^ε), and both have none."""
        epsilon, none = self.exact_size(), Fraction(0)
        shown = LossAtom(epsilon, 1, none), LossAtom(none, 1, none), LossAtom(none, 1, -epsilon), LossAtom(-epsilon, 1, -epsilon)
        return FiniteFact(shown, steps)

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        """Exact when ``sensitivity_units`` categories of the release differ."""
        budget, changed = exact_epsilon(epsilon), whole(sensitivity_units, "sensitivity_units", least=0)
        one = self.exact_size()
        if budget >= changed * one:
            return Fraction(0)

        def hockey_stick() -> Ball:
            # i show 10, j show 01: loss (i − j)ε, P = n!/(i! j! r!) 2^−n e^(iε)/(1 + e^ε)^(i + j)
            lie, total = 1 / (1 + ball(one).exp()), ball(0)
            for i in range(changed + 1):
                for j in range(changed - i + 1):
                    if (i - j) * one > budget:
                        ways = math.comb(changed, i) * math.comb(changed - i, j)
                        total += ways * (1 - lie) ** i * lie**j * -ball(budget - (i - j) * one).expm1()
            return total / 2**changed

        return enclose(hockey_stick, 20)[1]
