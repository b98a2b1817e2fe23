"""Every public function and method of numpy, called with sealed data: nothing that comes of it tells one data set from another.

Each call is made on data sets of the same shapes. What can be seen afterwards must be the same for all of them: plain results,
the layout of sealed ones, errors, and what was written into the plain arrays that took part. A call that fails on some data and
not on other must have been noticed on all, failed or not. The twins plant ways out, and the same search must find them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Leak
from dpaudit.claims.leak_watch import watching
from dpaudit.sealed import Sealed, operations, unseal, untraced
from dpaudit.sealed.array import seal_raw
from dpaudit.sealed.traces import shapes
from dpaudit.sealed.traces.layout import rearranged

Call = Callable[..., Any]

# They read or write files, print, change settings, or show memory that nobody filled.
_APART = """test show_config show_runtime info memmap fromfile load loadtxt genfromtxt savetxt save savez savez_compressed
    set_printoptions seterr setbufsize seterrcall DataSource fromregex printoptions errstate get_include
    empty empty_like nested_iters"""
APART = frozenset(_APART.split())
MODULES = [
    np,
    np.linalg,
    np.fft,
    np.emath,
    np.lib.stride_tricks,
    np.polynomial.polynomial,
]
METHODS = [name for name in dir(np.ndarray) if not name.startswith("_")]
DATA = [[0.5, 0.5, 0.5], [-0.5, 0.75, 0.25], [1.0, -1.0, 0.0]]


LENGTHS = [[0.5, 0.5, 0.5], [-0.5, 0.75], [1.0, -1.0, 0.0, 0.25]]  # of records that can be removed


def views(values: list[float], removal: bool = False) -> dict[str, Any]:
    """Sealed data of several kinds, and lists of it."""
    x = dp.seal(values, -1, 1, removal=removal)
    raw = seal_raw([np.nan if v == 0.5 else np.inf if v == -1 else v for v in values], removal=removal)
    return {
        "x": x,
        "n": (x * 2).astype(int),
        "m": x > 0,
        "t": x[:, None] * (np.ones(3) if removal else np.tri(3)),  # which has no inverse where a record is 0
        "s": x.sum(),
        "i": (x[0] * 2).astype(int),
        "raw": raw,
        "u": np.unique(x),
        "e": np.emath.sqrt(x),
        "list": [x, x],
    }


def arguments(d: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], list[np.ndarray]]]:
    """Positional arguments, options, and the plain arrays among them."""
    for name in d:
        yield (d[name],), {}, []
    for name in ("x", "n"):
        for option in ("out", "where", "dtype", "axis", "weights", "casting"):
            b = np.zeros(3)
            value = {"out": b, "where": d["m"], "dtype": np.int8, "axis": d["i"], "weights": d["x"], "casting": "same_value"}
            yield (d[name],), {option: value[option]}, [b]
            yield (d[name], d[name]), {option: value[option]}, [b]
        for other in (1, [0, 1, 2], None, list):
            yield (d[name], other), {}, []
            yield (other, d[name]), {}, []
        b, k = np.zeros(3), np.arange(3)
        yield (b, d[name]), {}, [b]
        yield (d[name], b), {}, [b]
        yield (d[name], k, 0, b), {}, [b, k]
        yield (d[name], None, None, b), {}, [b]
        yield (k, d[name]), {}, [k]
        yield (b, k, d[name]), {}, [b, k]
        yield (d[name], b, b), {}, [b]
        yield (np.median, 0, d[name]), {}, []
        yield (d[name], d["n"]), {}, []
        yield (d[name], d["i"]), {}, []
    yield ([d["x"], d["x"]], 0, np.zeros(6)), {}, []
    yield (d["t"], d["x"]), {}, []
    yield ("i,i", d["x"], d["x"]), {}, []
    yield (d["u"], d["x"]), {}, []
    yield (d["m"], d["x"], 0.0), {}, []


def seen(result: Any) -> Any:
    """What can be seen of a result."""
    if isinstance(result, Sealed):
        return ("sealed", *(attempt(lambda a=a: getattr(result, a)) for a in ("shape", "ndim", "dtype")))
    if isinstance(result, tuple | list):
        return type(result).__name__, [seen(part) for part in result]
    if isinstance(result, np.ndarray):
        return (
            result.dtype,
            result.shape,
            result.tobytes() if not result.dtype.hasobject else [seen(part) for part in result.flat],
        )
    return type(result).__name__, repr(result) if isinstance(result, int | float | complex | str | np.generic) else ""


def attempt(ask: Call) -> str:
    try:
        return str(ask())
    except Leak:
        return "leak"


def outcome(function: Call, args: Any, kwargs: dict[str, Any], buffers: list[np.ndarray]) -> tuple[Any, Any]:
    """What can be seen after a call, and whether it was noticed that it may fail."""
    with watching() as watch, warnings.catch_warnings(action="ignore"):
        try:
            told: Any = seen(function(*args, **kwargs))
        except Leak as leak:
            context = leak.__context__  # of numpy looking for another way to treat an unknown object
            told = "leak" if isinstance(context, AttributeError | Leak | TypeError | None) else repr(context)
        except Exception as error:
            told = type(error).__name__, str(error), "leak" if watch.leaks else ""
    return told, ([buffer.tobytes() for buffer in buffers], bool(watch.doubts))


def apart(outcomes: list[tuple[Any, tuple[Any, bool]]]) -> bool:
    """Can outcomes be told apart? Where it was noticed that a call may fail, some may be leaks."""
    afterwards = {str(after) for _, after in outcomes}
    doubted = all(after[1] for _, after in outcomes)
    return len(afterwards) > 1 or len({str(told) for told, _ in outcomes if not (doubted and told == "leak")}) > 1


def differing(function: Call, pick: Callable[[dict[str, Any]], Iterator[Any]] = arguments, *, removal: bool = False) -> list[str]:
    """The calls that tell data sets apart."""
    runs = [[outcome(function, *case) for case in pick(views(values, removal))] for values in (LENGTHS if removal else DATA)]
    places = [place for place, outcomes in enumerate(zip(*runs, strict=True)) if apart(list(outcomes))]
    cases = list(pick(views(DATA[0])))
    return [f"{cases[place][:2]}: {[run[place] for run in runs]}" for place in places]


def method(name: str) -> Call:
    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        asked = getattr(first, name)
        return asked(*args, **kwargs) if callable(asked) and not isinstance(asked, Sealed) else asked

    return call


def functions(module: Any) -> dict[str, Call]:
    """What can be called in a module, and the methods of its universal functions."""
    found: dict[str, Call] = {}
    for name in dir(module):
        member = getattr(module, name)
        if name.startswith("_") or name in APART or not callable(member) or isinstance(member, type):
            continue
        found[name] = member
        if isinstance(member, np.ufunc):
            found |= {f"{name}.{way}": getattr(member, way) for way in ("reduce", "accumulate", "reduceat", "outer", "at")}
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_function_of_numpy_tells_data_sets_apart(module: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = {name: found for name, function in functions(module).items() if (found := differing(function))}
    assert not told
    assert not list(tmp_path.iterdir())


COUNTING: list[Call] = [
    *functions(np.linalg).values(), np.add, np.bincount, np.choose, np.clip, np.concatenate, np.dot, np.histogram, np.matmul,
    np.maximum, np.mean, np.quantile, np.searchsorted, np.sort, np.split, np.squeeze, np.stack, np.take, np.unique, np.unstack,
    np.where, np.maximum.reduce, np.add.reduceat,
]  # fmt: skip


def test_no_call_tells_how_many_records_there_are_where_they_can_be_removed() -> None:
    assert not [(function, found) for function in COUNTING if (found := differing(function, removal=True))]


@pytest.mark.parametrize("removal", [False, True])
def test_no_method_of_an_array_tells_data_sets_apart(removal: bool) -> None:
    def on_sealed(d: dict[str, Any]) -> Iterator[Any]:
        return (case for case in arguments(d) if isinstance(case[0][0], Sealed))

    told = {name: found for name in METHODS if (found := differing(method(name), on_sealed, removal=removal))}
    assert not told


# Ways out: (what is planted where, the function by which data then leave)
def _unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options are passed on as they come, an output array among them."""

    def operation(private: Any, *args: Any, **kwargs: Any) -> Any:
        value = np.take(private.value, *args, **kwargs)
        return rearranged(np.ravel, ())(private.with_trace(value, private.trace))

    monkeypatch.setitem(operations.FUNCTIONS, np.take, operation)


def _no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "may_fail", lambda *_: False)


def _no_doubts_of_ufuncs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "ufunc_may_fail", lambda *_: False)


def _all_shapes_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "hidden", lambda *_: 0)


def _errors_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untraced, "_same_for_all", lambda function, args, kwargs, failed: failed)
    _no_doubts(monkeypatch)


PLANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], Call]] = [
    (_unguarded, np.take),
    (_no_doubts, np.bincount),
    (_no_doubts, np.quantile),
    (_no_doubts, np.digitize),
    (_no_doubts, np.linalg.inv),
    (_no_doubts_of_ufuncs, np.power),
    (_all_shapes_shown, np.unique),
    (_all_shapes_shown, np.emath.log),
    (_errors_shown, np.bincount),
]


@pytest.mark.parametrize(("plant", "function"), PLANTS)
def test_a_planted_way_out_is_found(plant: Callable[[pytest.MonkeyPatch], None], function: Call, monkeypatch: Any) -> None:
    assert not differing(function)
    plant(monkeypatch)
    assert differing(function)


def test_a_planted_change_in_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PURE_METHODS", operations.PURE_METHODS | {"setflags"})
    assert differing(method("setflags"), lambda d: iter([((d["x"],), {"write": True}, [])])) == []
    x = dp.seal([0.5, 0.25], -1, 1)
    with pytest.raises(Leak):
        x.setflags(write=True)  # numpy gives None, which is no number
    assert not unseal(x).flags.writeable
