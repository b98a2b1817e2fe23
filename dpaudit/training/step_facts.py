"""What one step of a training releases: the noisy sum of clipped gradients, by the facts that an accountant needs.

Removing a record, or replacing its gradient by zero, moves the sum of clipped gradients by at most the clipping norm. Where a
step adds up ``accumulated`` fresh Poisson samples, a record may be in each of them: it moves the sum by that many norms, and is
in one of them with probability 1 − (1 − q)^n. That pair dominates, as the hockey-stick divergence of a sampled release is convex
in the law of what is released when the record is in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.sampling.constant_steps import CONSTANT
from dpaudit.channel.release_cost import Repetition
from dpaudit.claims import DpauditError, InvalidValue, positive, show
from dpaudit.ledger import Release
from dpaudit.noise import Gaussian

NAME = "gradient"
ADJACENCY = "add or remove one record, or replace its gradient by zero"
_FINE = 30  # bits below the clipping norm at which the noise is written down


class CannotRecord(DpauditError):
    """What a ledger cannot express of a training; the message names it and what to do."""

    def __init__(self, what: str, advice: str) -> None:
        self.what = what
        super().__init__(f"cannot record {what}: {advice}")


@dataclass(frozen=True)
class StepFacts:
    """``noise``: standard deviation on the sum; ``clip``: the largest norm of one record's gradient; ``rate``: of one sample."""

    noise: Fraction
    clip: Fraction
    rate: Fraction
    coordinates: int
    clipping: str = "flat"
    accumulated: int = 1

    def __post_init__(self) -> None:
        positive(self.noise, "noise")
        positive(self.clip, "clip")
        if not 0 < self.rate <= 1:
            raise InvalidValue("sampling", self.rate, "a rate above 0 and at most 1")
        if self.accumulated < 1:
            raise InvalidValue("accumulated", self.accumulated, "at least 1")

    @property
    def sensitivity(self) -> Fraction:
        return self.accumulated * self.clip

    @property
    def sampling(self) -> Fraction:
        """How likely a record is in the step at all."""
        return 1 - (1 - self.rate) ** self.accumulated

    @property
    def law(self) -> Gaussian:
        """Its noise, on a grid so fine that the clipping norm is a whole number of steps but for 2^-30 of it."""
        exponent = math.frexp(float(self.clip))[1] - 1 - _FINE
        return Gaussian(self.noise, grid=Fraction(2) ** exponent)

    def repeated(self, count: int) -> Repetition:
        """So many steps, as they are composed."""
        law = self.law
        steps = int(-(-self.sensitivity // law.grid))
        rate = None if self.sampling == 1 else self.sampling
        return Repetition(law, steps, count, self.coordinates, rate)

    def release(self, count: int, epsilon: Fraction | None = None, delta: Fraction = Fraction(0), *, constant: bool) -> Release:
        """So many steps as one entry of a ledger."""
        return Release(
            name=NAME, mechanism="gaussian", sensitivity=self.sensitivity, parameters=self.law.parameters(), epsilon=epsilon,
            delta=delta, count=count, sampling=None if self.sampling == 1 else show(self.sampling), coordinates=self.coordinates,
            theorem=CONSTANT if constant else None, extra=self.notes(),
        )  # fmt: skip

    def notes(self) -> dict[str, str]:
        """For people."""
        return {
            "adjacency": ADJACENCY, "clip": show(self.clip), "clipping": self.clipping, "sample": show(self.rate),
            "accumulated": str(self.accumulated),
        }  # fmt: skip
