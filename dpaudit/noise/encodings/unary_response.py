"""Symmetric unary encoding (basic one-time RAPPOR; Erlingsson, Pihur, Korolova 2014): each of k bits tells the truth with
probability e^(ε/2)/(1 + e^(ε/2))."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpaudit.claims import Number, WrittenForm, whole
from dpaudit.noise.encodings.unary_encoding import UnaryEncoding, written_form
from dpaudit.noise.loss_facts import FiniteFact, LossAtom
from dpaudit.noise.parameter import Parameter
from dpaudit.noise.randomized_response import RandomizedResponse
from dpaudit.noise.sampling.bernoulli import Probability, logistic
from dpaudit.noise.sampling.probability_bits import Ball, ball


@dataclass(frozen=True, eq=False, init=False)
class UnaryResponse(UnaryEncoding):
    """A category as k bits, each randomised response with ε/2: two of them differ between any two categories."""

    answer_epsilon: Parameter
    k: int

    name: ClassVar[str] = "unary-response"
    words: ClassVar[str] = "symmetric unary encoding (RAPPOR)"
    size_words: ClassVar[str] = "symmetric unary encoding with ε0 ="
    theorem: ClassVar[str] = "symmetric unary encoding: randomised response on the two bits that differ"
    curve_theorem: ClassVar[str] = "δ(ε) of 2K randomised responses, exactly (Kairouz, Oh, Viswanath 2015)"
    blanket: ClassVar[str] = "unary"
    most_changes: ClassVar[int] = 10_000  # its δ(ε) is summed term by term
    forms: ClassVar[dict[str, WrittenForm]] = {"unary-response": written_form("unary-response")}

    def own_bit(self) -> Ball:
        return 1 / (1 + ball(-self.exact_size() / 2).exp())

    def other_bit(self) -> Ball:
        return 1 / (1 + ball(self.exact_size() / 2).exp())

    def _probabilities(self) -> tuple[Probability, Probability]:
        half = self.exact_size() / 2
        return logistic(-half), logistic(half)

    def _floats(self, epsilon: Any) -> tuple[Any, Any]:
        odds = np.exp(-np.asarray(epsilon) / 2)  # cannot overflow
        return 1 / (1 + odds), odds / (1 + odds)

    def loss(self, steps: int) -> FiniteFact:
        """Each category that differs has two bits that do: both show the truth, loss ε, one does, 0, or none, −ε."""
        epsilon, none = self.exact_size(), Fraction(0)
        atoms = LossAtom(epsilon, 1, none), LossAtom(none, 2, -epsilon / 2), LossAtom(-epsilon, 1, -epsilon)
        return FiniteFact(atoms, steps)

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        """Exact when ``sensitivity_units`` categories of the release differ."""
        changed = whole(sensitivity_units, "sensitivity_units", least=0)
        return RandomizedResponse(self.exact_size() / 2).delta(epsilon, 2 * changed)
