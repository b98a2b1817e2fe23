"""What a game that did not refute could have refuted, and how many runs it would take."""

from __future__ import annotations

import math

from dpaudit.auditors.binomial import least_count
from dpaudit.auditors.games.guess_bounds import Form, Guesses, bound

POWER = 0.8
FARTHEST = 60.0  # above the claim, in ε: beyond it nothing is said
MOST_TIMES = 10**4  # as many runs: beyond it, more runs are no advice


def detectable(g: Guesses, claim: float, delta: float, alpha: float, form: Form) -> float | None:
    """The least ε' such that this would have been refuted at level α with 80 % power, had these guesses been right as often as
    ε' allows. None without guesses, or where it is out of reach. It says nothing of what these guesses do not see."""
    answered = g.right + g.wrong
    if answered == 0:
        return None

    def refutes(epsilon: float) -> bool:
        right = least_count(POWER, answered, 1 / (1 + math.exp(-epsilon)))
        return bound(Guesses(right, answered - right, g.n, g.sides), alpha, delta, form) > claim

    low, high = claim, claim + 1.0
    while not refutes(high):
        high += 1.0
        if high > claim + FARTHEST or high == high + 1.0:  # beyond 2^53 there is no next one
            return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high


def times_as_many(g: Guesses, claim: float, delta: float, alpha: float, form: Form) -> float | None:
    """How many times as many runs would refute the claim at level α, were their guesses as good as these; None if too many."""

    def refutes(times: float) -> bool:
        n = math.ceil(g.n * times)
        return bound(Guesses(int(g.right * times), math.ceil(g.wrong * times), n, g.sides), alpha, delta, form) > claim

    high = 1.0
    while not refutes(high):
        high *= 2
        if high > MOST_TIMES:
            return None
    low = high / 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high
