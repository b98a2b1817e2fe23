"""An exact attack on shuffled Laplace reports: the extreme report gives one client away.

n clients report value + discrete Laplace noise on a grid, and the observer sees the multiset. All others hold
``high``; the target holds ``low`` (D) or ``high`` (D'). The smallest and the largest report are functions of
the multiset with elementary laws, so P(S|D) and P(S|D') are exact, and (ε, δ)-DP needs P(S|D) ≤ e^ε P(S|D') +
δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.claims import InvalidValue, Number, exact, exact_delta, positive, show, whole
from dpaudit.claims.balls import ball, decimal, lower, precision

Floats = npt.NDArray[np.float64]
_POINTS = 512  # of the search per round; each round zooms in around the best one


@dataclass(frozen=True)
class ExtremeAttack:
    """A witness: the event S has probability ≥ p on one dataset and ≤ q on its neighbour.

    ``epsilon`` is log((p − δ)/q) rounded down, so nobody's (ε, δ)-DP holds below it; 0 if no event shows
    anything. ``threshold`` is in grid units, counted from the others' value. p and q are decimals, rounded
    against the attack.
    """

    epsilon: Fraction
    threshold: int
    p: str
    q: str
    event: str


# The four events, each as: does it concern the smallest report, is it the one that favours D (target low)?
_EVENTS = {
    "the smallest report is at or below": (True, True),
    "the smallest report is above": (True, False),
    "the largest report is at or below": (False, True),
    "the largest report is above": (False, False),
}


def extreme_report_attack(
    scale: Number, spread: Number, n: object, delta: Number, grid: Number = Fraction(1, 2**20)
) -> ExtremeAttack:
    """The best exact lower bound on ε among the extreme-report events, over all thresholds.

    ``scale`` of the noise and ``spread`` = high − low are in the data's units; ``spread`` must be a multiple
    of ``grid``. Raises ``InvalidValue``.
    """
    size, step = positive(scale, "scale"), positive(grid, "grid")
    clients, failure = whole(n, "n"), exact_delta(delta)
    shift = exact(spread, "spread") / step
    if shift.denominator != 1 or shift < 1:
        raise InvalidValue("spread", spread, f"a positive multiple of the grid {show(step)}")
    rate = step / size
    best: ExtremeAttack | None = None
    for event, (smallest, favours_low) in _EVENTS.items():
        threshold = _search(rate, int(shift), clients, failure, smallest, favours_low)
        attack = _certify(rate, int(shift), clients, failure, threshold, event)
        if best is None or attack.epsilon > best.epsilon:
            best = attack
    assert best is not None
    return best


def _log_below(k: Floats, rate: float) -> tuple[Floats, Floats]:
    """log P(X ≤ k), log P(X > k) for discrete Laplace X, P(X = k) ∝ e^{−rate |k|}."""
    log_end = -math.log1p(math.exp(-rate))  # log 1/(1+t)
    tail = np.where(k < 0, rate * k, -rate * (k + 1)) + log_end
    rest = np.where(tail < -1, np.log1p(-np.exp(np.minimum(tail, -1))), np.log(-np.expm1(np.minimum(tail, -1e-300))))
    return np.where(k < 0, tail, rest), np.where(k < 0, rest, tail)


def _search(rate: Fraction, shift: int, n: int, delta: Fraction, smallest: bool, favours_low: bool) -> int:
    """The threshold with the largest ε in floats: a start for the certificate, never a bound."""
    slope = float(rate)
    log_delta = math.log(delta.numerator) - math.log(delta.denominator) if delta else -math.inf
    loss = _float_loss(slope, shift, n, log_delta, smallest, favours_low)
    reach = (math.log(n) + 40 - max(log_delta, -700.0)) / slope
    low, high = -reach - 2 * shift, reach + shift
    best = 0.0
    while True:
        points = np.unique(np.floor(np.linspace(low, high, _POINTS)))
        best = float(points[int(np.argmax(loss(points)))])
        width = (high - low) / _POINTS
        if width < 1:
            return int(best)
        low, high = best - 2 * width - 2, best + 2 * width + 2


def _float_loss(
    rate: float, shift: int, n: int, log_delta: float, smallest: bool, favours_low: bool
) -> Callable[[Floats], Floats]:
    side = 1 if smallest else 0  # all reports above k, or all at or below k

    def loss(k: Floats) -> Floats:
        others, target = _log_below(k, rate)[side], _log_below(k + shift, rate)[side]
        with_low, with_high = (n - 1) * others + target, n * others
        if smallest == favours_low:  # the event is the complement of "all on that side"
            with_low, with_high = _log_complement(with_low), _log_complement(with_high)
        first, second = (with_low, with_high) if favours_low else (with_high, with_low)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = first + np.log1p(-np.exp(np.minimum(log_delta - first, 0.0))) - second
        return np.where(np.isfinite(value), value, -np.inf)

    return loss


def _log_complement(log_p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(np.minimum(log_p, 0.0))), dtype=np.float64)


def _certify(rate: Fraction, shift: int, n: int, delta: Fraction, threshold: int, event: str) -> ExtremeAttack:
    """Enclose both probabilities in arb and round every figure against the attack."""
    smallest, favours_low = _EVENTS[event]
    with precision(192 + 2 * n.bit_length() + delta.denominator.bit_length()):
        with_low = _probability(rate, shift, n, threshold, smallest, complement=smallest == favours_low)
        with_high = _probability(rate, 0, n, threshold, smallest, complement=smallest == favours_low)
        first, second = (with_low, with_high) if favours_low else (with_high, with_low)
        likelier = first - ball(delta)
        epsilon = Fraction(0)
        if likelier > 0 and second > 0:
            epsilon = max(epsilon, decimal(lower((likelier / second).log()), 15, up=False))
        holder = "low" if favours_low else "high"
        text = f"{event} the others' value {threshold:+d} grid units (likelier when the target holds {holder})"
        return ExtremeAttack(epsilon, threshold, _text(first, up=False), _text(second, up=True), text)


def _text(probability: Any, *, up: bool) -> str:
    """A decimal with 25 digits, rounded in one direction, that ``exact`` reads."""
    if not probability > 0:
        return "1" if up else "0"
    places = 25 - int((probability.log() / flint.arb(10).log()).mid().floor().unique_fmpz())
    scaled = probability * flint.arb(10) ** places
    digits = scaled.upper().ceil() if up else scaled.lower().floor()
    return f"{int(digits.unique_fmpz())}e{-places}"


def _probability(rate: Fraction, shift: int, n: int, threshold: int, smallest: bool, *, complement: bool) -> Any:
    """P(all reports above the threshold), or all at or below it, or the complement; the target's value is ``shift`` lower.

    Through logarithms, so that what is close to 0 or 1 keeps its digits.
    """
    side = 1 if smallest else 0
    log = (n - 1) * _log_tails(rate, threshold)[side] + _log_tails(rate, threshold + shift)[side]
    return -log.expm1() if complement else log.exp()


def _log_tails(rate: Fraction, k: int) -> tuple[Any, Any]:
    """log P(X ≤ k), log P(X > k): P(X ≤ k) = t^{−k}/(1+t) for k < 0, and mirrored above (t = e^{−rate})."""
    tail = ball(rate * k if k < 0 else -rate * (k + 1)) - ball(-rate).exp().log1p()
    rest = (-tail.exp()).log1p()
    return (tail, rest) if k < 0 else (rest, tail)
