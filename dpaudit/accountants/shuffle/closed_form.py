"""The closed-form shuffle bound f, its domain and its inverse, as enclosures by interval arithmetic.

Feldman, McMillan, Talwar 2021 ("Hiding among the clones"), Theorem 3.1: n reports of an ε0-LDP randomiser,
shuffled, are (f(ε0), δ)-DP **if** ε0 ≤ log(n / (16 log(2/δ))). f is a function outside that domain too, but a
value there proves nothing, which is why every caller asks ``in_domain``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.ctx_mp import MPContext

from dpaudit.claims import InvalidValue, Number, exact, whole

LEAST_EPSILON = Fraction(1, 10**100)
LARGEST_EPSILON = Fraction(10**6)
LARGEST_DIGITS = 10_000
LARGEST_N = 10**18
_DOMAIN_BITS = 1 << 14  # where an undecided comparison gives up, and counts as out of domain


def privacy_parameter(value: Number, name: str) -> Fraction:
    """ε or ε0 for a shuffle bound: between 1e-100 and 1e6. Raises ``InvalidValue``."""
    epsilon = exact(value, name)
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InvalidValue(name, value, "greater than 0 (between 1e-100 and 1e6)")
    return epsilon


def failure_probability(value: Number, name: str = "delta") -> Fraction:
    """δ for a shuffle bound: strictly between 0 and 1. Raises ``InvalidValue``."""
    delta = exact(value, name)
    if not 0 < delta < 1:
        raise InvalidValue(name, value, "greater than 0 and below 1")
    return delta


def number_of_reports(value: object) -> int:
    """n for a shuffle bound: 1 to 10^18. Raises ``InvalidValue``."""
    n = whole(value, "n")
    if n > LARGEST_N:
        raise InvalidValue("n", value, "at most 10^18")
    return n


def significant_digits(value: object) -> int:
    """The number of significant digits of an enclosure: 1 to 10000. Raises ``InvalidValue``."""
    digits = whole(value, "digits")
    if digits > LARGEST_DIGITS:
        raise InvalidValue("digits", value, f"at most {LARGEST_DIGITS}")
    return digits


def f(epsilon0: Number, n: object, delta: Number, digits: int = 50) -> tuple[Fraction, Fraction]:
    """Enclose f_{n,δ}(ε0) to ``digits`` significant digits, in or out of the theorem's domain.

    Raises ``InvalidValue`` unless 1e-100 ≤ ε0 ≤ 1e6, 1 ≤ n ≤ 10^18 is whole, 0 < δ < 1 and 1 ≤ digits ≤ 10000.
    """
    local, clients, failure = (
        privacy_parameter(epsilon0, "epsilon0"),
        number_of_reports(n),
        failure_probability(delta),
    )
    places = significant_digits(digits)
    bits = _working_bits(local, clients, failure, places)
    lower, upper = _ends(_f_interval(local, clients, failure, bits))
    return _decimal(lower, places, up=False), _decimal(upper, places, up=True)


def domain(n: object, delta: Number, digits: int = 50) -> tuple[Fraction, Fraction] | None:
    """Enclose log(n / (16 log(2/δ))), the largest ε0 for which f is proven; None if n ≤ 16 log(2/δ)."""
    clients, failure = number_of_reports(n), failure_probability(delta)
    bits = 4 * significant_digits(digits) + 64
    while True:
        context = _interval_context(bits)
        ratio = _mpi(context, Fraction(clients)) / (16 * context.log(_mpi(context, 2 / failure)))
        low, high = _ends(ratio)
        if high < 1:
            return None
        if low > 1:  # n = 16 log(2/δ) is impossible: log of a rational other than 1 is irrational (Lindemann)
            return _ends(context.log(ratio))
        bits *= 2


def in_domain(epsilon0: Number, n: object, delta: Number) -> bool:
    """Is ε0 ≤ log(n / (16 log(2/δ)))? True only if an enclosure proves it."""
    local = exact(epsilon0, "epsilon0")
    digits = 30
    while 4 * digits <= _DOMAIN_BITS:
        limit = domain(n, delta, digits)
        if limit is None or local > limit[1]:
            return False
        if local <= limit[0]:
            return True
        digits *= 4
    return False


def inverse(epsilon: Number, n: object, delta: Number, digits: int = 50) -> tuple[Fraction, Fraction]:
    """Enclose f^{-1}(ε): returns (a, b) with f(a) ≤ ε ≤ f(b) proven, and b − a below 10^-digits of a.

    Raises ``InvalidValue`` as ``f`` does.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    digits = significant_digits(digits)
    root = _newton(target, clients, failure, digits)
    places = digits + 1 - _magnitude(root)
    while True:
        below = Fraction(math.floor(_scaled(root, places)) - 1, 1) * Fraction(10) ** -places
        above = below + 3 * Fraction(10) ** -places
        bits = _working_bits(below, clients, failure, digits + 2)
        if (
            _ends(_f_interval(below, clients, failure, bits))[1] <= target
            and _ends(_f_interval(above, clients, failure, bits))[0] >= target
        ):
            return below, above
        root = _newton(target, clients, failure, 2 * digits)


def _interval_context(bits: int) -> Any:
    context = MPIntervalContext()  # local: mpmath's global contexts are not thread-safe
    context.prec = bits
    return context


def _mpi(context: Any, value: Fraction) -> Any:
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _f_interval(epsilon0: Fraction, n: int, delta: Fraction, bits: int) -> Any:
    context = _interval_context(bits)
    p = context.exp(_mpi(context, epsilon0))
    blanket = 8 * context.sqrt(p * context.log(_mpi(context, 4 / delta)) / n) + 8 * p / n
    return context.log(1 + (p - 1) / (p + 1) * blanket)


def _working_bits(epsilon0: Fraction, n: int, delta: Fraction, digits: int) -> int:
    """Bits that survive the cancellations in e^ε0 − 1 and log(1 + x) for small arguments."""
    lost = abs(_log(epsilon0)) + max(0.0, -_log_excess(float(epsilon0), *_log_coefficients(n, delta)))
    return 4 * digits + 64 + math.ceil(1.5 * lost)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _log_coefficients(n: int, delta: Fraction) -> tuple[float, float]:
    """log a, log b of e^f − 1 = tanh(ε0/2) (a e^{ε0/2} + b e^ε0)."""
    return math.log(8) + (math.log(_log(4 / delta)) - math.log(n)) / 2, math.log(8) - math.log(n)


def _log_excess(epsilon0: float, log_a: float, log_b: float) -> float:
    """log(e^f − 1) in floats, without overflow."""
    first, second = log_a + epsilon0 / 2, log_b + epsilon0
    largest = max(first, second)
    total = largest + math.log(math.exp(first - largest) + math.exp(second - largest))
    return (math.log(math.tanh(epsilon0 / 2)) if epsilon0 > 1e-8 else math.log(epsilon0 / 2)) + total


def _newton(epsilon: Fraction, n: int, delta: Fraction, digits: int) -> Fraction:
    """An accurate, uncertified root of f = ε: bisection in floats, then Newton steps on log(e^f − 1)."""
    log_a, log_b = _log_coefficients(n, delta)
    target = float(epsilon) + math.log(-math.expm1(-float(epsilon)))
    low, high = -650.0, math.log(2e6 + abs(log_b))  # of log ε0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_excess(math.exp(middle), log_a, log_b) < target else (low, middle)
    context = MPContext()
    context.prec = 4 * digits + 64 + math.ceil(1.5 * (abs(low) + max(0.0, -target)))
    x = context.mpf(math.exp(low))
    a = 8 * context.sqrt(context.log(context.mpf(4) / _mpf(context, delta)) / n)
    b = context.mpf(8) / n
    goal = context.log(context.expm1(_mpf(context, epsilon)))
    for _ in range(2 + math.ceil(math.log2(digits / 14 + 1))):  # each step doubles the digits
        p = context.exp(x)
        half = context.sqrt(p)
        linear, square = a * half, b * p
        gap = context.log((p - 1) / (p + 1) * (linear + square)) - goal
        x -= gap / (2 * p / (p * p - 1) + (linear / 2 + square) / (linear + square))
    _, mantissa, exponent, _ = x._mpf_
    return Fraction(mantissa) * Fraction(2) ** exponent


def _mpf(context: Any, value: Fraction) -> Any:
    return context.mpf(value.numerator) / value.denominator


def _ends(interval: Any) -> tuple[Fraction, Fraction]:
    """Both ends of an interval, exactly."""
    low, high = ((-1) ** sign * Fraction(mantissa) * Fraction(2) ** exponent for sign, mantissa, exponent, _ in interval._mpi_)
    return low, high


def _magnitude(value: Fraction) -> int:
    """floor(log10(value)) or one more: the place of the first digit."""
    return math.floor(_log(value) / math.log(10) + 1e-9)


def _scaled(value: Fraction, places: int) -> Fraction:
    return value * Fraction(10) ** places


def _decimal(value: Fraction, digits: int, *, up: bool) -> Fraction:
    """Round outward to a short decimal with two digits to spare."""
    if value <= 0:
        return Fraction(0) if up else value
    places = digits + 1 - _magnitude(value)
    scaled = _scaled(value, places)
    return Fraction(math.ceil(scaled) if up else math.floor(scaled)) * Fraction(10) ** -places
