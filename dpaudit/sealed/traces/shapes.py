"""What is known of numpy's functions whose trace is not: can values change the result's shape or type, or make them fail?

A name stands here only if, for numbers (no objects, no text), neither the shape nor the type of the result depends on values in
the given leading arguments. Everything else hides its shape and type, and is taken to fail on some data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.sealed.trace import SHAPE, TYPE, Private, Untraced

# Of one array, and public options. They never fail because of a value …
_ONE = """abs all amax amin angle any argmax argmin argpartition argsort around array_split astype atleast_1d atleast_2d
    atleast_3d average broadcast_to conj conjugate copy corrcoef count_nonzero cumprod cumsum cumulative_prod cumulative_sum
    diag diagflat diagonal diff digitize dsplit ediff1d empty_like expand_dims fix flatten flip fliplr flipud full_like gradient
    hsplit i0 imag isneginf isposinf matrix_transpose max mean median min moveaxis nan_to_num nancumprod nancumsum nanmax
    nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ones_like pad partition percentile
    permute_dims prod ptp quantile ravel real repeat reshape resize rollaxis rot90 round sinc sort split squeeze std sum
    swapaxes take tile trace transpose tril triu unwrap vander var vsplit zeros_like"""
# … nor these, of so many arrays, or of one list of arrays.
_SEVERAL = {
    "allclose": 2, "append": 2, "array_equal": 2, "array_equiv": 2, "broadcast_arrays": 99, "clip": 3, "column_stack": 1,
    "concatenate": 1, "convolve": 2, "correlate": 2, "cov": 2, "cross": 2, "dot": 2, "dstack": 1, "hstack": 1, "inner": 2,
    "interp": 3, "isclose": 2, "kron": 2, "meshgrid": 99, "outer": 2, "roll": 2, "searchsorted": 2, "select": 3, "stack": 1,
    "tensordot": 2, "trapezoid": 2, "vdot": 2, "vstack": 1, "where": 3,
}  # fmt: skip
# These can fail because of a value.
_FALLIBLE = {
    "cholesky": 1, "choose": 2, "cond": 1, "det": 1, "digitize": 2, "eigh": 1, "eigvalsh": 1, "full_like": 2, "gradient": 99,
    "histogram": 1, "inv": 1, "isin": 2, "matrix_power": 1, "matrix_rank": 1, "nanargmax": 1, "nanargmin": 1,
    "nanpercentile": 2, "nanquantile": 2, "norm": 1, "percentile": 2, "pinv": 1, "polyval": 2, "qr": 1, "quantile": 2,
    "slogdet": 1, "solve": 2, "svd": 1, "take": 2, "take_along_axis": 2,
}  # fmt: skip
# Options that are values: neither the shape nor the type follows them …
_VALUES = frozenset(("where", "initial", "min", "max", "a_min", "a_max", "nan", "posinf", "neginf"))
_FALLIBLE_VALUES = _VALUES | {"weights", "q"}  # … nor these, which may make a call fail.
# These give numbers of one type, as many as the data say.
_COUNTED = """argwhere bincount compress delete extract flatnonzero insert intersect1d nonzero lstsq setdiff1d setxor1d trim_zeros
    union1d unique unique_values where"""
# One number of any array, unless an axis is given; of an empty one, too.
_NUMBERS = "all any average count_nonzero mean median nanmean nanmedian nanprod nanstd nansum nanvar prod std sum var"
# The same, but of an empty one they fail; and, at a public place between 0 and 1 or 100, these.
_EXTREMES = "amax amin argmax argmin max min nanmax nanmin ptp"
_QUANTILES = frozenset(("quantile", "percentile", "nanquantile", "nanpercentile"))
# They need no certain number of entries.
_LENGTHLESS = """abs angle around argsort argwhere astype conj conjugate copy cumprod cumsum fix flatnonzero flatten flip imag
    isneginf isposinf nan_to_num nonzero ones_like ravel real round sort squeeze unique unique_values zeros_like"""

COUNTED, NUMBERS, EXTREMES, LENGTHLESS = (frozenset(names.split()) for names in (_COUNTED, _NUMBERS, _EXTREMES, _LENGTHLESS))
SURE: dict[str, int] = {**dict.fromkeys(_ONE.split(), 1), **_SEVERAL}
SHAPED: dict[str, int] = {**SURE, **_FALLIBLE}


def hidden(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], before: int) -> int:
    """What of the result besides its values depends on data; ``before``: what does so of the arguments."""
    if not _leading(name, args, kwargs, SHAPED, _FALLIBLE_VALUES):
        return max(before, SHAPE) if name in COUNTED else TYPE
    return 0 if before == SHAPE and _one_number(name, args, kwargs) else before


def may_fail(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], before: int) -> bool:
    """Can the call fail on some data and not on other?"""
    if before == TYPE or _choosy(args, kwargs):
        return True
    if before or name in COUNTED:
        return not (name in NUMBERS | LENGTHLESS and _alone(args, kwargs))
    return not _leading(name, args, kwargs, SURE, _VALUES)


def parts_tell(args: tuple[Any, ...], kwargs: dict[str, Any], hidden: int) -> bool:
    """Can the number of arrays in a result depend on data? It follows the number of axes, or of records, or an option."""
    vague = [value for value in (*args, *kwargs.values()) if isinstance(value, Private) and value.hidden]
    if hidden == TYPE:
        return bool(vague) or private_in([args[1:], *kwargs.values()])
    return any(isinstance(value.trace, Untraced) for value in vague)


def ufunc_may_fail(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], before: int) -> bool:
    """The same for a universal function. numpy's own fail on no numbers but whole ones to negative powers."""
    if before == TYPE or getattr(np, ufunc.__name__, None) is not ufunc or _choosy(args, kwargs):
        return True
    if ufunc is np.power and (kwargs or all(_kind(arg) in "biu" for arg in args)) and (len(args) == 1 or private_in(args[1:])):
        return True
    if _steering(kwargs) or (method == "reduceat" and private_in(args[1:])):
        return True
    return bool(before) and (method != "__call__" or sum(_dimensions(arg) > 0 for arg in args) > 1)


def ufunc_hidden(kwargs: dict[str, Any], before: int) -> int:
    """What of its result besides the values depends on data: what did so before, and all where an axis does."""
    return TYPE if _steering(kwargs) else before


def _steering(kwargs: dict[str, Any]) -> bool:
    return private_in([value for key, value in kwargs.items() if key not in _VALUES])


def private_in(values: Any) -> bool:
    """Is anything in these lists and tuples private?"""
    return isinstance(values, Private) or (isinstance(values, list | tuple) and any(private_in(value) for value in values))


def _leading(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], known: dict[str, int], values: frozenset[str]) -> bool:
    """Is private data only where arrays belong: among the leading arguments, and in options that are values?"""
    options = [value for key, value in kwargs.items() if key not in values]
    if name == "einsum":
        return not private_in([args[:1], *options])
    if name == "bincount":  # private weights under public labels
        return not private_in([args[:1], args[2:], *options])
    if name == "where" and len(args) != 3:
        return False
    if name == "histogram" and any(isinstance(value, str) for value in (*args, *kwargs.values())):
        return False  # the number of bins is chosen from the data
    return name in known and not private_in([args[known[name] :], *options])


def _one_number(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if name in _QUANTILES:
        return len(args) == 2 and not kwargs and isinstance(args[1], int | float)
    return name in NUMBERS | EXTREMES and _alone(args, kwargs)


def _choosy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Is a cast asked for that refuses some values?"""
    return any(isinstance(value, str) and str.__eq__(value, "same_value") for value in (*args, *kwargs.values()))


def _alone(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return len(args) == 1 and not kwargs


def _kind(value: Any) -> str:
    return value.value.dtype.kind if isinstance(value, Private) else np.asarray(value).dtype.kind


def _dimensions(value: Any) -> int:
    return value.value.ndim if isinstance(value, Private) else np.ndim(value)
