"""Functions of one record each: every entry of the result depends on one record alone, and its range is enclosed.

Each operation gives None where it cannot say: the result is then untraced. numpy computes an entry from its own operands alone,
so that a function of one record is the same number wherever it stands. Only sums and matrix products, whose order of addition
may follow the shape, leave a ``slop`` where records can be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.sealed.origins import Origin
from dpaudit.sealed.row_facts import NOTHING, Facts, Powers
from dpaudit.sealed.trace import ANY_BITS, NOBODY, Elements, Precision, Private, Range, Told, bits_of, fits
from dpaudit.sealed.traces import ranges
from dpaudit.sealed.traces.entry_facts import facts_of_clip, facts_of_extreme
from dpaudit.sealed.traces.ranges import HUGE

KINDS = (np.dtype(float), np.dtype(np.int64), np.dtype(bool))


@dataclass(frozen=True)
class Operand:
    """Entries of one record each, or public numbers, which are nobody's."""

    value: np.ndarray
    trace: Elements
    bits: int
    slop: float = 0.0
    removal: bool = False
    public: bool = False
    origin: Origin | None = None

    @property
    def facts(self) -> Facts:
        return self.trace.facts

    @property
    def stable(self) -> bool:
        """Is it computed alike wherever it stands? Else a jump or a steep function could blow up a rounding error."""
        return self.slop == 0.0


def operand(value: Any) -> Operand | None:
    """What was given as entries of one record each; None where it is something else, or public and not a number."""
    if isinstance(value, Private):
        if not isinstance(value.trace, Elements):
            return None
        return Operand(value.value, value.trace, value.precision.bits, value.precision.slop, value.removal, origin=value.origin)
    array = public(value)
    if array is None or np.isnan(array).any():
        return None
    ends = array.astype(float)
    return Operand(array, Elements(np.array(NOBODY), ends, ends), bits_of(ends), public=True)


def public(value: Any) -> np.ndarray | None:
    """A public operand as plain numbers, so that no foreign type is handed private values; None if it is private."""
    if isinstance(value, Private):
        return None
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return np.asarray(array, dtype=float)
    return array if array.dtype.kind in "biuf" else None


def entrywise(
    function: Callable[..., Any],
    operands: Sequence[Operand],
    given: Range,
    bits: int,
    *,
    slop: float = 0.0,
    told: Told | None = None,
    facts: Facts = NOTHING,
) -> Private | None:
    """function(operands), whose entries lie in the range ``given``; None unless each depends on one record alone."""
    shared = shared_records(operands)
    if shared is None:
        return None
    value = np.asarray(function(*(o.value for o in operands)))
    low, high, nan = given
    ids, axis, removal = shared
    trace = Elements(ids, np.asarray(low, dtype=float), np.asarray(high, dtype=float), nan, axis, told, facts=facts)
    size = trace.size
    if not exact_kind(value, size):
        return None
    bits = bits if value.dtype == float else 0
    slop += 2.0**-52 * size if slop else 0.0  # close numbers may be rounded apart
    return Private(value, trace, Precision(bits if fits(bits, size) else ANY_BITS, size, slop), removal)


def exact_kind(value: np.ndarray, size: float) -> bool:
    """Is it of a type that is computed as traces assume: float64, bool, or whole numbers that neither wrap nor are rounded?"""
    return value.dtype in KINDS and (value.dtype != np.int64 or size < 2**53)


def shared_records(operands: Sequence[Operand]) -> tuple[np.ndarray, int, bool] | None:
    """The records behind each entry of a result; the axis of those that can be removed, and whether they can be."""
    private = [o for o in operands if not o.public]
    if not private:
        return None
    ids, axis, removal = private[0].trace.ids, private[0].trace.axis, private[0].removal
    if any(o.removal != removal for o in private):
        return None
    if removal:
        reaching = any(o.public and o.value.ndim >= -axis and o.value.shape[axis] != 1 for o in operands)
        return None if reaching or any(o.trace.axis != axis for o in private) else (ids, axis, removal)
    for other in (o.trace.ids for o in private[1:]):
        if other is ids or (other.shape == ids.shape and np.array_equal(other, ids)):
            continue
        if bool(((other != ids) & (other != NOBODY) & (ids != NOBODY)).any()):
            return None
        ids = np.where(ids == NOBODY, other, ids)
    return ids, -1, False


def function_of(ufunc: np.ufunc) -> Callable[[Any], Private | None]:
    """The known operation for a function in ``ranges.FUNCTIONS``."""

    def operation(a: Any) -> Private | None:
        source = operand(a)
        if source is None or not source.stable:
            return None
        bits = ANY_BITS
        if ufunc in (np.absolute, np.fabs, np.positive):
            bits = source.bits
        elif ufunc in ranges.STEPS:
            bits = 0
        elif ufunc is np.square:
            bits = 2 * source.bits
        facts = _facts_of(ufunc, source)
        return entrywise(ufunc, [source], ranges.FUNCTIONS[ufunc](source.trace.range), bits, facts=facts)

    return operation


def _facts_of(ufunc: np.ufunc, source: Operand) -> Facts:
    """What |x|, x² and √x keep of what is known of x."""
    before = source.facts
    if ufunc in (np.absolute, np.fabs):
        powers = None if source.origin is None else Powers(source.origin, 1)
        return Facts(before.joint, before.regions, powers=powers, norm=before.norm, factor=before.factor)
    if ufunc is np.square and source.origin is not None:
        return Facts(regions=before.regions, powers=Powers(source.origin, 2))
    if ufunc is np.sqrt:
        return Facts(regions=before.regions, norm=None if before.norm is None else before.norm.root())
    return before if ufunc is np.positive else NOTHING


def extreme(ufunc: np.ufunc) -> Callable[[Any, Any], Private | None]:
    """The known operation for np.minimum, np.maximum (NaN if one is) and np.fmin, np.fmax (the other if one is NaN)."""
    monotone: np.ufunc = np.minimum if ufunc is np.fmin else np.maximum if ufunc is np.fmax else ufunc

    def operation(a: Any, b: Any) -> Private | None:
        one, other = operand(a), operand(b)
        if one is None or other is None:
            return None
        first, second = one.trace.range, other.trace.range
        limits = ranges.corners(monotone, first, second)
        if limits is None:
            return None
        if ufunc is not monotone:
            limits = ranges.hull(limits, second) if first[2] else limits
            limits = ranges.hull(limits, first) if second[2] else limits
            limits = limits[0], limits[1], first[2] and second[2]
        facts = NOTHING if first[2] or second[2] else facts_of_extreme(monotone, one, other)
        slop = max(one.slop, other.slop)
        return entrywise(ufunc, [one, other], limits, max(one.bits, other.bits), slop=slop, facts=facts)

    return operation


def raised(a: Any, b: Any) -> Private | None:
    """np.power with a public exponent."""
    base, exponent = operand(a), operand(b)
    if base is None or exponent is None or base.public or not exponent.public or not base.stable:
        return None
    limits = ranges.power(base.trace.range, exponent.trace.low)
    return None if limits is None else entrywise(np.power, [base, exponent], limits, ANY_BITS)


def rounded(a: Any, decimals: Any = 0, **more: Any) -> Private | None:
    """np.round to public places: scaled, rounded and scaled back, each of which is monotone."""
    source = operand(a)
    if more or source is None or not source.stable or not isinstance(decimals, int | np.integer):
        return None
    low, high, nan = source.trace.range
    ends = np.round(low, int(decimals)), np.round(high, int(decimals)), nan
    return entrywise(lambda value: np.round(value, int(decimals)), [source], ends, 0 if decimals <= 0 else ANY_BITS)


def binned(a: Any, bins: Any, right: Any = False) -> Private | None:
    """np.digitize with public bins in rising order: which of them a value falls into."""
    source, edges = operand(a), operand(bins)
    if source is None or source.public or edges is None or not edges.public or not source.stable or not source.trace.finite:
        return None
    if edges.value.ndim != 1 or bool((np.diff(edges.value) < 0).any()):
        return None

    def operate(value: np.ndarray) -> Any:
        return np.digitize(value, edges.value, bool(right))

    return entrywise(operate, [source], (operate(source.trace.low), operate(source.trace.high), False), 0)


def floored(a: Any, b: Any) -> Private | None:
    """a // b for a public divisor above 0. The remainder is exact and the quotient is rounded to a whole number, so that below
    2^50 it is the floor of the true one: monotone."""
    source, divisor = operand(a), operand(b)
    if source is None or source.public or divisor is None or not divisor.public or not source.stable or not source.trace.finite:
        return None
    if not bool((divisor.value > 0).all()):
        return None
    low, high = (np.floor_divide(end, divisor.trace.low) for end in (source.trace.low, source.trace.high))
    if not bool((np.maximum(np.abs(low), np.abs(high)) < 2.0**50).all()):
        return None
    return entrywise(np.floor_divide, [source, divisor], (low, high, False), 0)


def remainder(a: Any, b: Any) -> Private | None:
    """a % b for a public divisor above 0: from 0 up to the divisor."""
    source, divisor = operand(a), operand(b)
    if source is None or source.public or divisor is None or not divisor.public or not source.stable or not source.trace.finite:
        return None
    if not bool((divisor.value > 0).all()):
        return None
    whole = source.value.dtype.kind == divisor.value.dtype.kind == "i"
    most = divisor.trace.low - 1.0 if whole else divisor.trace.low
    return entrywise(np.remainder, [source, divisor], (np.zeros(()), most, False), ANY_BITS)


def clip(a: Any, low: Any = None, high: Any = None, **more: Any) -> Private | None:
    """np.clip with public ends. NaN stays NaN."""
    wanted = more.pop("a_min", more.pop("min", low)), more.pop("a_max", more.pop("max", high))
    source, ends = operand(a), [None if end is None else operand(end) for end in wanted]
    known = [end for end in ends if end is not None and end.public]
    if more or source is None or not known or len(known) < sum(end is not None for end in wanted):
        return None
    plain: list[Any] = [None if end is None else end.value for end in ends]
    first, last, nan = source.trace.range
    limits: Range = np.clip(first, *plain), np.clip(last, *plain), nan
    bits = max(source.bits, *(end.bits for end in known))
    facts = NOTHING if nan else facts_of_clip(source, *plain)
    return entrywise(lambda value, *_: np.clip(value, *plain), [source, *known], limits, bits, slop=source.slop, facts=facts)


def numbers_for(a: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Private | None:
    """np.nan_to_num: public numbers in place of NaN and the infinities."""
    source, ends = operand(a), (HUGE if posinf is None else posinf, -HUGE if neginf is None else neginf)
    if source is None or copy is not True or not all(isinstance(number, int | float | np.number) for number in (nan, *ends)):
        return None
    low, high, may_be_nan = source.trace.range
    limits: Range = np.maximum(low, -HUGE), np.minimum(high, HUGE), bool(np.isnan((float(nan), *map(float, ends))).any())
    instead = [(np.isinf(high).any(), ends[0]), (np.isinf(low).any(), ends[1]), (may_be_nan, nan)]
    for needed, number in instead:
        limits = ranges.hull(limits, (np.array(float(number)), np.array(float(number)), False)) if needed else limits
    bits = source.bits if source.trace.finite else ANY_BITS

    def operate(value: np.ndarray) -> Any:
        return np.nan_to_num(value, nan=nan, posinf=posinf, neginf=neginf)

    return entrywise(operate, [source], limits, bits, slop=source.slop)


def retyped(a: Any, dtype: Any = float, **more: Any) -> Private | None:
    """x.astype(dtype) for float64, and int64, which cuts off."""
    source = operand(a)
    if more or source is None or isinstance(dtype, Private):
        return None
    kind, (low, high, nan) = np.dtype(dtype), source.trace.range
    if kind == np.float64:
        facts = replace(source.facts, powers=None)
        return entrywise(
            lambda value: value.astype(kind), [source], source.trace.range, source.bits, slop=source.slop, facts=facts
        )
    if kind == np.int64 and source.trace.finite and source.stable:
        facts = Facts(source.facts.joint, source.facts.regions, source.facts.zeros)  # cutting off brings a number closer to 0
        return entrywise(lambda value: value.astype(kind), [source], (np.trunc(low), np.trunc(high), nan), 0, facts=facts)
    return None
