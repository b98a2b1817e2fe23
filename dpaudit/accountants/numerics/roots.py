"""Where a monotone curve meets δ: floats find the place, a few enclosures of the curve prove an end on either side of it.

In floats: ``newton`` where the slope is known, ``float_root`` where it is not. Proofs: ``enclosed_root`` where floats are as good
as the enclosures, ``certified_ends`` where they are not and enclosures correct the place, ``bracketed`` where floats lead astray.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

_FIRST_MARGIN, _ONLY_MARGIN = 1e-9, 1e-6
_ATTEMPTS = 6
_ROUGH = 0.02
_HOPELESS = 10**6  # an enclosure this many times wider than δ proves nothing
_ENOUGH = 1e-8  # a proven end this close is not moved any more
_CLOSE = 3e-8
_SMALL = 1e-6  # of the curve; estimates are not smoother than that
_SECANTS = 10  # after so many every other step halves the bracket: the curve is far from a straight line
_NARROW = Fraction(1001, 1000)
_NEWTON_STEPS, _LONGEST, _STILL = 40, 3.0, 1e-13  # the latter in nats of the curve
_SLOWLY, _FAST = 1.3, 3.0  # further from a root, at first and after three attempts
_APART = 1e-3  # points nearer to each other say nothing about the slope


@dataclass(frozen=True)
class Ends:
    """ε is proven to be at most ``upper`` and at least ``lower``."""

    lower: Fraction
    upper: Fraction

    @property
    def width(self) -> float:
        """Relative to ``upper``."""
        return float((self.upper - self.lower) / self.upper) if self.upper else 0.0


@dataclass(frozen=True)
class Root:
    """An uncertified zero of a curve, and the slope there."""

    at: float
    slope: float


def float_root(
    curve: Callable[[float], float], start: float, step: float, slope: float | None = None, small: float = _SMALL
) -> Root:
    """A zero of an increasing curve that is close to a straight line, with slope 2 if none is known: secants, kept in a bracket.

    ``small``: how far from zero the curve may be at the point before the last step.
    """
    (x, u), (low, high), known, slope = (start, curve(start)), (-math.inf, math.inf), slope is not None, slope or 2.0
    y, v = math.nan, math.nan
    for turn in range(80):
        low, high = (x, high) if u < 0 else (low, x)
        if abs(x - y) > _APART and math.isfinite(u - v) and (u - v) / (x - y) > 0:
            slope = (u - v) / (x - y)
        guess = x - u / slope
        if math.isnan(y) and abs(u) > small and not known:  # a second point far enough away to know the slope
            guess = x + math.copysign(max(abs(guess - x), 10 * _APART), guess - x)
        if not abs(guess - x) <= step:
            guess = x + step if u < 0 else x - step
        if (abs(guess - x) <= _CLOSE * max(1.0, abs(x)) and abs(u) < 1) or abs(u) <= small:
            return Root(guess, slope)
        if not low < guess < high or (turn > _SECANTS and turn % 2 and high - low < math.inf):
            guess = (low + high) / 2
        if high - low <= _CLOSE * max(1.0, abs(x)):
            break
        (y, v), x = (x, u), guess
        u = curve(x)
    return Root(x, slope)


def newton(curve: Callable[[float], tuple[float, float]], start: float, target: float, order: float) -> Root:
    """Where a falling curve, given with its slope of about −``order``, passes the target; slope NaN where the curve is lost."""
    at, slope = start, math.nan
    for _ in range(_NEWTON_STEPS):
        value, slope = curve(at)
        if not math.isfinite(value) or not slope < 0:
            return Root(at, math.nan)
        step = (target - value) / slope
        at += max(-_LONGEST / order, min(_LONGEST / order, step))
        if abs(step) * order < _STILL:
            break
    return Root(at, slope)


def step_out(proven: Callable[[float], bool], root: float, first: float, attempts: int = 26) -> float | None:
    """The first place, from root + first on and ever further out, that is proven; None if that is too far, or below 0."""
    away = first
    for attempt in range(attempts):
        at = root + away
        if at <= 0 and first < 0:
            return None
        if proven(at):
            return at
        away *= _SLOWLY if attempt < 3 else _FAST
    return None


def certified(
    upper_end: Callable[[float], Fraction],
    lower_end: Callable[[float], Fraction],
    root: float,
    delta: Fraction,
    first: tuple[float, float],
) -> Ends:
    """Move away from the root, by ``first`` (down, up) and further, until a certified value of δ is on the right side."""
    top = step_out(lambda at: upper_end(at) <= delta, root, first[1])
    if top is None:
        raise ArithmeticError("no ε is proven to meet δ")
    bottom = step_out(lambda at: lower_end(at) > delta, root, -first[0])
    return Ends(Fraction(bottom or 0.0), Fraction(top))


def enclosed_root(curve: Callable[[float], tuple[Fraction, Fraction]], root: Root, delta: Fraction) -> Ends:
    """Both ends around a root that floats found, from (lower, upper) values of δ; their width at the root says how far to go."""
    low, high = curve(root.at)
    steep = abs(root.slope)
    unit = max(1e-15 * root.at * steep, 1e-13)
    first = [max(unit, 1.02 * float(off)) / steep for off in (1 - low / delta, high / delta - 1)]
    return certified(lambda at: curve(at)[1], lambda at: curve(at)[0], root.at, delta, (first[0], first[1]))


def certified_ends(
    curve: Callable[[Fraction], tuple[Fraction, Fraction]],
    point: Callable[[float], Fraction],
    root: Root,
    delta: Fraction,
    *,
    both: bool = True,
) -> tuple[Fraction | None, Fraction | None]:
    """(safe, unsafe): the curve is proven to be at most δ at ``safe``, and above δ at ``unsafe``; None where that fails.

    With ``both`` false only ``unsafe`` is looked for, and with less effort.

    ``point`` maps the coordinate of the root to the curve's argument; ``root.slope`` is that of log δ there, below 0 if it falls.
    """
    target, steep = log(delta), math.copysign(max(abs(root.slope), 1e-3), root.slope)
    ends: list[Fraction | None] = [None, None]
    previous: tuple[float, float] | None = None
    centre = [root.at, root.at]  # where the upper and the lower end of the enclosure seem to meet δ
    margin, blur, growth = (_FIRST_MARGIN if both else _ONLY_MARGIN) * max(1.0, abs(root.at)), 0.0, 1.0
    for side, sign in ((0, -1.0), (1, 1.0))[0 if both else 1 :]:
        for _ in range(_ATTEMPTS):
            at = centre[side] + sign * math.copysign(growth * max(margin, blur), steep)
            x = point(at)
            low, high = curve(x)
            proven = (high <= delta) if side == 0 else (low > delta)
            if proven:
                ends[side] = x
            if side == 1 and low * _HOPELESS < min(high, delta):
                break
            steep = _steepness(steep, previous, at, high, growth * margin)
            previous = (at, log(high)) if high > 0 else previous
            for place, value in enumerate((high, low)):
                if value > 0:
                    centre[place] = at - max(-2.0, min(2.0, (log(value) - target) / steep))
            # an enclosure is not smoother than it is wide
            blur = _ROUGH * (log(high) - log(low)) / abs(steep) if 10 * low > high else blur
            if proven and (abs(centre[side] - at) <= max(10 * growth * max(margin, blur), _ENOUGH) or not both):
                break
            growth *= 1 if proven else 3
    return ends[0], ends[1]


def _steepness(steep: float, previous: tuple[float, float] | None, at: float, high: Fraction, apart: float) -> float:
    """The slope of log δ from the point before to this one, where they are far enough apart and it has the right sign."""
    if high <= 0 or previous is None or abs(at - previous[0]) <= apart:
        return steep
    slope = (log(high) - previous[1]) / (at - previous[0])
    return slope if slope * steep > 0 else steep


def bracketed(
    curve: Callable[[Fraction], tuple[Fraction, Fraction]],
    safe: Fraction,
    unsafe: Fraction,
    delta: Fraction,
    point: Callable[[Fraction], Fraction] = Fraction,
    narrow: Fraction = _NARROW,
) -> tuple[Fraction | None, Fraction | None]:
    """(safe, unsafe) as in ``certified_ends``, by halving between two ends on the scale of log x; neither need be proven.

    ``point`` rounds a place in the middle; ``narrow`` is the ratio of the ends at which the search is over.
    """
    proven: list[Fraction | None] = [None, None]
    while max(safe, unsafe) > min(safe, unsafe) * narrow:
        middle = point(Fraction(math.exp((log(safe) + log(unsafe)) / 2)))
        least, most = curve(middle)
        if most <= delta:
            safe = proven[0] = middle
        else:
            unsafe = middle
            proven[1] = middle if least > delta else proven[1]
    return proven[0], proven[1]


def log(value: Fraction) -> float:
    """log of a fraction that floats may not hold; −inf at 0 and below."""
    return math.log(value.numerator) - math.log(value.denominator) if value > 0 else -math.inf
