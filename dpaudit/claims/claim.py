"""What is claimed: (ε,δ) for an observer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.claims.decimals import show
from dpaudit.claims.errors import InvalidValue
from dpaudit.claims.numbers import Number, exact_delta, exact_epsilon

OBSERVERS = ("server", "actions", "shuffled", "others-actions")


@dataclass(frozen=True)
class Claim:
    """ "This is (ε,δ)-DP for that observer." Numbers are read exactly."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    observer: str = "server"

    def __init__(self, epsilon: Number, delta: Number = "0", observer: str = "server") -> None:
        if observer not in OBSERVERS:
            raise InvalidValue("observer", observer, "one of " + ", ".join(OBSERVERS))
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "observer", observer)

    def to_dict(self) -> dict[str, str]:
        return {"epsilon": show(self.epsilon), "delta": show(self.delta)}

    def __str__(self) -> str:
        return f"ε={show(self.epsilon)}" + (f", δ={show(self.delta)}" if self.delta else "")
