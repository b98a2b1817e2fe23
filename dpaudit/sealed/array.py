"""Sealed data: arrays that carry how each value depends on each private record.

The door derives sensitivity and cohort from that trace, for every neighbouring pair at once. Turning sealed data into
plain numbers raises ``Leak`` (DPA002) at that line. An operation that is not known gives an *untraced* value: still sealed,
but its sensitivity can at best be tested by search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpaudit.claims import InvalidValue, Leak, exact, float_down, float_up
from dpaudit.claims.errors import bare
from dpaudit.claims.leak_watch import audit_watches, notice_change_in_place
from dpaudit.sealed import operations as known
from dpaudit.sealed import untraced
from dpaudit.sealed.callers import asking_library, caller, foreign_kind
from dpaudit.sealed.dependence import Dependence, common_width, dependence_of, distinct
from dpaudit.sealed.origins import origin_of, origin_of_part
from dpaudit.sealed.runs import Run, current_run, run_of
from dpaudit.sealed.trace import ANY_BITS, ANYONE, TYPE, Elements, Intervals, Precision, Private, Untraced, snap

__all__ = [
    "Dependence",
    "Sealed",
    "Untraced",
    "caller",
    "dependence",
    "gathered",
    "living_seals",
    "one_record_each",
    "relation_of",
    "seal",
    "seal_raw",
    "seal_sums",
    "seal_whole",
    "snap",
    "unseal",
]

REPLACE_ONE, ADD_REMOVE = "replace-one", "add-remove"  # what a record of a release says of the data it was made from
_TEXT = "print what the channel returns instead"
_COUNT = 'release the count instead: channel.release("count", np.isfinite(x).sum(), noise, sensitivity=1)'
_LENGTH = "how many entries it has depends on private values: count (x == value).sum() for each value of a public list"
_CONVERSION = (
    "stay with numpy functions of the sealed data: np.stack([a, b]) for a list of sealed numbers, x[:, None] == np.arange(k) for "
    "one-hot rows, np.bincount(labels, weights, minlength=k) for sums by group; convert what the channel returns"
)
_RELEASE = "release it through the channel"
_BLACK_BOX = "nothing traces the code of others: audit it as a black box, a function of data, rng, or write it with numpy"
_MOST_BITS = 45  # products of two records need 40; noise of any usual size is still narrow enough for such a grid
_GRID_BITS = 20  # records lie on the grid 2^-20, so that sums of them are exact in float64


@bare
def seal(values: Any, low: Any, high: Any, *, first: int = 0, removal: bool = False) -> Sealed:
    """Seal records, one number or one row of numbers each, in [low, high], which may be one number per column.

    Bounds may be exact texts, such as "0.1". ``first`` is the id of the first record. ``removal``: neighbours lack a record, so
    their number is private. Inside a subject that is being audited the bounds are only declared, as they may come from the data:
    what is sealed there has no trace.
    """
    sealed = seal_declared(values, low, high, first=first, removal=removal)
    if current_run() is None:
        return sealed
    reason = "dp.seal inside the subject: its bounds are only declared; those of neighbours=dp.replace_one(n, low, high) are not"
    return Sealed(sealed._private.lost(reason, sealed._private.value))


def seal_declared(values: Any, low: Any, high: Any, *, first: int = 0, removal: bool = False) -> Sealed:
    """The same for the bounds that a declaration of neighbours gives."""
    low, high = _ends(low, float_up), _ends(high, float_down)
    snapped = snap(values, low, high)
    if snapped.ndim not in (1, 2):
        raise InvalidValue("values", f"an array of {snapped.ndim} dimensions", "one number or one row of numbers per record")
    if first < 0:
        raise InvalidValue("first", first, "0 or more")
    ids = np.array(ANYONE) if removal else (first + np.arange(len(snapped))).reshape(-1, *([1] * (snapped.ndim - 1)))
    trace = Elements(ids, snap(low, low, high), snap(high, low, high), axis=-snapped.ndim)
    return Sealed(Private(snapped, trace, Precision(_GRID_BITS, trace.size), removal))


def _ends(end: Any, rounded: Callable[[Fraction], float]) -> Any:
    """Bounds in numbers: exact texts are rounded inward."""
    if isinstance(end, list | tuple):
        return [_ends(one, rounded) for one in end]
    return rounded(exact(end, "low, high")) if isinstance(end, str | Fraction) else end


def seal_whole(values: Any, low: Any, high: Any, *, removal: bool = False) -> Sealed:
    """Seal records that are whole numbers or truth values, one each or one row of them, in [low, high]."""
    raw = np.asarray(values)
    if raw.dtype.kind not in "biuf" or raw.ndim not in (1, 2):
        raise InvalidValue("values", f"{raw.dtype.type.__name__} of {raw.ndim} dimensions", "one number or one row per record")
    if raw.dtype != bool:
        raw = np.clip(np.rint(np.nan_to_num(raw, nan=np.min(low))), low, high).astype(np.int64)
    ids = np.array(ANYONE) if removal else np.arange(len(raw)).reshape(-1, *([1] * (raw.ndim - 1)))
    trace = Elements(ids, np.asarray(low, dtype=float), np.asarray(high, dtype=float), axis=-raw.ndim)
    return Sealed(Private(raw, trace, Precision(0, trace.size), removal))


def seal_raw(values: Any, *, removal: bool = False) -> Sealed:
    """Seal records of which nothing is known, NaN and the infinities included: one float64 each."""
    raw = np.asarray(values)
    if raw.dtype.kind not in "biuf" or raw.ndim != 1:
        raise InvalidValue("values", f"{raw.dtype.type.__name__} of {raw.ndim} dimensions", "one number per record")
    ids = np.array(ANYONE) if removal else np.arange(len(raw))
    trace = Elements(ids, np.array(-np.inf), np.array(np.inf), nan=True)
    return Sealed(Private(raw.astype(float), trace, Precision(ANY_BITS, np.inf), removal))


def seal_sums(sums: np.ndarray, start: np.ndarray, stop: np.ndarray, width: float, size: float) -> Sealed:
    """Seal exact sums over the records start … stop−1 of each coordinate (``size`` bounds the sums)."""
    trace = Intervals(np.asarray(start), np.asarray(stop), width)
    return Sealed(Private(np.array(sums), trace, Precision(_GRID_BITS, size), False))


def unseal(sealed: Sealed) -> np.ndarray:
    """For the door alone: the plain value."""
    return sealed._private.value


def relation_of(sealed: Sealed) -> str:
    """Which neighbours its trace is about: data sets that differ in one record, or in whether it is there."""
    return ADD_REMOVE if sealed._private.removal else REPLACE_ONE


def weighted_sum(sealed: Sealed) -> tuple[Sealed, Fraction, Fraction] | None:
    """For the door: exact numbers, the weight whose product with them it is, and the grid that they lie on; None for what lies
    on the grid of the records itself, or is not exact."""
    source, weight = sealed._private.multiple_of or (sealed._private, Fraction(1))
    bits = max(source.precision.bits, _GRID_BITS)
    if isinstance(source.trace, Untraced) or source.precision.slop or bits > _MOST_BITS or (weight == 1 and bits == _GRID_BITS):
        return None
    return Sealed(source, sealed._run), weight, Fraction(1, 2**bits)


def dependence(sealed: Sealed) -> Dependence | Untraced:
    """For the door: how far one record can move each coordinate, and whose records they are."""
    return dependence_of(sealed._private)


def one_record_each(sealed: Sealed) -> bool:
    """Does every value depend on one record of its own, as far as is known?"""
    private = sealed._private
    if isinstance(private.trace, Elements) and not private.removal:
        return distinct(np.broadcast_to(private.trace.ids, private.value.shape).ravel())
    return isinstance(private.trace, Elements | Untraced)


def of_this_run(sealed: Sealed) -> bool:
    """May a door take it? Not while a subject runs, if its data was sealed before, or for another run."""
    return current_run() in (None, sealed._run)


def in_one_interval(sealed: Sealed, width: float) -> bool:
    """Do all values lie in one interval of that width? Else a value may tell whose it is, shuffled or not."""
    return common_width(sealed._private) <= width


_LIVING: WeakValueDictionary[int, Sealed] = WeakValueDictionary()


def living_seals() -> dict[int, Sealed]:
    """Every sealed value that somebody holds, by its id; holding them here keeps their ids from being used again."""
    return dict(_LIVING.items())


class Sealed(NDArrayOperatorsMixin):
    """A private array. Known operations keep the trace; nothing turns it back into numbers but the door."""

    __slots__ = ("__weakref__", "_private", "_run")

    def __new__(cls, *arguments: object, **more: object) -> Sealed:
        made = super().__new__(cls)
        _LIVING[id(made)] = made
        return made

    def __init__(self, private: Private, run: Run | None = None) -> None:
        self._private, self._run = private, current_run() if run is None else run

    # What may be known: the layout, unless it depends on the data.
    @property
    def shape(self) -> tuple[int, ...]:
        if self._private.hidden:
            self._leak("its length", _LENGTH if isinstance(self._private.trace, Untraced) else _COUNT)
        return self._private.value.shape

    @property
    def ndim(self) -> int:
        if self._private.hidden and isinstance(self._private.trace, Untraced):
            self._leak("its number of axes")
        return self._private.value.ndim

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        if self._private.hidden == TYPE:
            self._leak("its type")
        return self._private.value.dtype

    def __len__(self) -> int:
        if not self.shape:
            if foreign_kind():  # which asks every number whether it is a list
                self._leak(f"conversion to {foreign_kind()}", _CONVERSION)
            raise TypeError("len() of a sealed number")
        return self.shape[0]

    def __iter__(self) -> Iterator[Sealed]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if audit_watches():
            Leak("text", caller(), _TEXT)
        return "<sealed private data>"

    def __str__(self) -> str:
        Leak("text", caller(), _TEXT)  # noticed, not raised: the text tells nothing, but that of plain data would
        return "<sealed private data>"

    def __format__(self, _: str) -> str:
        return str(self)

    def copy(self, *_: Any) -> Sealed:
        return self  # nothing can change it

    __copy__ = __deepcopy__ = copy

    # What may not be known.
    def _leak(self, operation: str, rewrite: str = _RELEASE) -> NoReturn:
        raise Leak(operation, caller(), rewrite)

    def __bool__(self) -> bool:
        self._leak("a branch")

    def __int__(self) -> int:
        self._leak("int()")

    def __float__(self) -> float:
        kind = foreign_kind()
        self._leak(f"conversion to {kind}" if kind else "float()", _CONVERSION if kind else _RELEASE)

    def __complex__(self) -> complex:
        self._leak("complex()")

    def __round__(self, _: Any = None) -> int:
        self._leak("round()")

    def __index__(self) -> int:
        self._leak("an index")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """np.array([a, b]) of sealed numbers is an array of objects, which stay sealed; nothing else can become an array."""
        kind = foreign_kind()
        if kind or self._private.hidden or self._private.value.ndim or np.dtype(dtype or object) != object:
            self._leak(f"conversion to {kind or 'a plain array'}", _CONVERSION)
        held = np.empty((), dtype=object)
        held[()] = self
        return held

    def __hash__(self) -> int:
        if self._private.hidden or self._private.value.ndim:
            raise TypeError("unhashable type: sealed array")
        self._leak("a set, a dict or a Counter", "count by value: (x == value).sum() for each value of a public list")

    def __reduce_ex__(self, _: Any) -> NoReturn:
        self._leak("pickling")

    def __setitem__(self, *_: Any) -> NoReturn:
        raise TypeError("sealed data cannot be changed in place; np.where(…) and the like give new sealed data")

    # What keeps the trace, as far as it is known.
    def __getitem__(self, index: Any) -> Sealed:
        parts = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, Sealed)]
        if any(part._private.value.dtype.kind in "iu" for part in parts):
            self._leak(
                "which entries an index chooses", "release the index first, as channel.release(…) of scores and np.argmax of it"
            )
        if parts:
            self._leak("how many entries a mask or an index leaves", "np.where(mask, x, 0) keeps every record in its place")
        part = known.index(self._private, index)
        return Sealed(part.named(origin_of_part(self._private.origin, index)), self._run)

    def __pow__(self, exponent: Any) -> Any:
        """numpy computes x**2 and the like by other functions than np.power, and so do we, to the last bit."""
        if isinstance(exponent, int | float) and self._private.value.dtype.kind == "f" and exponent in (2, 0.5, -1):
            return np.square(self) if exponent == 2 else np.sqrt(self) if exponent == 0.5 else 1.0 / self
        return np.power(self, exponent)

    @property
    def T(self) -> Any:
        return self.transpose()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if _same(kwargs.get("out"), inputs[0]):
            if audit_watches():
                notice_change_in_place(caller())
            kwargs = {key: value for key, value in kwargs.items() if key != "out"}
        operation = known.UFUNCS.get((ufunc, method)) if all(key in ("axis", "keepdims") for key in kwargs) else None
        args, options = _privates(inputs), _privates_of(kwargs)
        result = _known(operation, args, options, (ufunc, method))
        result = untraced.call_ufunc(ufunc, method, args, options) if result is None else result
        return _seal(result, run_of([*inputs, *kwargs.values()]))

    def __array_function__(self, func: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.shape, np.ndim, np.size) and args and isinstance(args[0], Sealed) and len(args) == 1 and not kwargs:
            return getattr(args[0], func.__name__)
        opened, options = _privates(args), _privates_of(kwargs)
        result = _known(known.FUNCTIONS.get(func), opened, options, func)
        name = f"{func.__module__}.{func.__name__}"
        return _seal(untraced.call(name, func, opened, options) if result is None else result, run_of([*args, *kwargs.values()]))

    @classmethod
    def __torch_function__(cls, function: Callable[..., Any], _: Any, arguments: Any = (), options: Any = None) -> Any:
        from dpaudit.sealed.foreign.torch_functions import call

        return call(function, arguments, options or {})

    def __getattr__(self, name: str) -> Any:
        """Any other attribute or method of an array. What is not known is untraced, and sealed again."""
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"sealed data has no attribute {name!r}")
        private = self._private
        if name in ("real", "imag", "flat"):
            return Sealed(private.lost(name, np.array(getattr(private.value, name))), self._run)
        if name not in known.PURE_METHODS and not callable(getattr(np.ndarray, name)):
            library = asking_library()
            self._leak(f"its {name}{f', which {library} asks for,' if library else ''}", _BLACK_BOX if library else _RELEASE)

        def apply(value: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(value, name)(*args, **kwargs)

        def method(*args: Any, **kwargs: Any) -> Any:
            if name not in known.PURE_METHODS:
                self._leak(f"{name}(), which hands it out or changes it in place,")
            opened, options = (private, *_privates(args)), _privates_of(kwargs)
            result = _known(known.METHODS.get(name), opened, options, name)
            result = untraced.call(name, apply, opened, options) if result is None else result
            return _seal(result, run_of([self, *args, *kwargs.values()]))

        return method


def gathered(value: Any) -> Any:
    """Sealed numbers in a list, a tuple or an array of objects, public ones among them, as one sealed array; else as it is."""
    nested = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object and value.ndim)
    if nested and any(isinstance(part, Sealed | list | tuple | np.ndarray) for part in value):
        parts = [gathered(part) for part in value]
        return np.stack(parts) if any(isinstance(part, Sealed) for part in parts) else value
    held = value[()] if isinstance(value, np.ndarray) and value.dtype == object else value
    return held if isinstance(held, Sealed) else value


def _same(out: Any, first: Any) -> bool:
    """``x += …`` asks for the result in x itself: it gets a new sealed value under the same name."""
    return isinstance(out, tuple) and len(out) == 1 and out[0] is first and isinstance(first, Sealed)


def _known(operation: Callable[..., Any] | None, args: Any, options: dict[str, Any], name: Any) -> Any:
    """What a known operation of that name gives; None where there is none, or where it cannot say."""
    if operation is None or not args:
        return None
    try:
        with np.errstate(all="ignore"):  # a warning would tell
            result = operation(*args, **options)
            return result.named(origin_of(name, args, options)) if isinstance(result, Private) else result
    except Leak:
        raise
    except Exception:  # wrong arguments, or numbers too large: numpy's own function says so, or shows that they are right
        return None


def _privates(values: Any) -> Any:
    """Sealed data, also in lists and tuples, as what is inside the seal."""
    values = gathered(values) if isinstance(values, np.ndarray) else values
    if isinstance(values, Sealed):
        return values._private
    if isinstance(values, list):
        return [_privates(value) for value in values]
    return tuple(_privates(value) for value in values) if isinstance(values, tuple) else values


def _privates_of(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: _privates(value) for key, value in kwargs.items()}


def _seal(result: Any, run: Run | None) -> Any:
    if isinstance(result, Private):
        return Sealed(result, run)
    if isinstance(result, np.ndarray):  # public, as the edges of a histogram are
        return result
    return untraced.rebuilt(result, [_seal(part, run) for part in result])
