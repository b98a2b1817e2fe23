"""What is claimed: (ε,δ) for an observer, of the code as it runs or of its ideal arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.claims.decimals import show
from dpaudit.claims.errors import InvalidValue
from dpaudit.claims.numbers import Number, exact_delta, exact_epsilon

OBSERVERS = ("server", "actions", "shuffled", "others-actions")
ARITHMETICS = ("float", "ideal")  # the code as it runs, to the last bit; or as if its numbers were real ones


@dataclass(frozen=True)
class Claim:
    """ "This is (ε,δ)-DP for that observer." Numbers are read exactly.

    ``arithmetic``: "float" is about the outputs as they are; "ideal" about real numbers, so that outputs are rounded before they
    are attacked and what their last bits tell (DPA006) refutes nothing. It is said wherever the claim is.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    observer: str = "server"
    arithmetic: str = "float"

    def __init__(self, epsilon: Number, delta: Number = "0", observer: str = "server", arithmetic: str = "float") -> None:
        if observer not in OBSERVERS:
            raise InvalidValue("observer", observer, "one of " + ", ".join(OBSERVERS))
        if arithmetic not in ARITHMETICS:
            raise InvalidValue("arithmetic", arithmetic, " or ".join(ARITHMETICS))
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "observer", observer)
        object.__setattr__(self, "arithmetic", arithmetic)

    @property
    def ideal(self) -> bool:
        """Is it about real numbers, not about floats?"""
        return self.arithmetic == "ideal"

    def to_dict(self) -> dict[str, str]:
        """As in JSON; the arithmetic only where it is not that of the code as it runs."""
        return {"epsilon": show(self.epsilon), "delta": show(self.delta)} | ({"arithmetic": "ideal"} if self.ideal else {})

    def __str__(self) -> str:
        delta = f", δ={show(self.delta)}" if self.delta else ""
        return f"ε={show(self.epsilon)}{delta}" + (", ideal arithmetic" if self.ideal else "")
