"""Records that are one of a few public texts: the list that a subject is handed, and its sealed form.

Sealed texts hold a sealed whole number each, the place in the public list, and questions about a text are questions about that
number: ``x == "a"``, ``x.count("a")``, ``np.isin(x, […])``, ``x[:, None] == np.array([…])``, and functions of one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from dpaudit.claims import InvalidValue, Leak
from dpaudit.claims.leak_watch import audit_watches
from dpaudit.sealed.array import Sealed, seal_whole
from dpaudit.sealed.callers import caller

_COUNTS = 'count by value: (x == "a").sum() or x.count("a") for each value of a public list'
_TEXT = "print what the channel returns instead"


class Texts(list[str]):
    """The records of a run on plain data: a list, which compares with a text, and takes an index, as an array does too."""

    __hash__ = None

    def __eq__(self, other: object) -> Any:
        return list.__eq__(self, other) if isinstance(other, list) else np.asarray(self, dtype=str) == other

    def __ne__(self, other: object) -> Any:
        return list.__ne__(self, other) if isinstance(other, list) else np.asarray(self, dtype=str) != other

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Texts(list.__getitem__(self, index))
        if hasattr(index, "__index__") and not isinstance(index, np.ndarray):
            return list.__getitem__(self, index)
        return np.asarray(self, dtype=str)[index]


def seal_texts(data: Any, texts: Sequence[str], *, removal: bool) -> SealedTexts:
    """Seal records that are texts of a public list; any other text equals none of them."""
    if isinstance(data, str | bytes | dict) or np.ndim(data) != 1:
        raise InvalidValue("values", f"{type(data).__name__} of {np.ndim(data)} dimensions", "a list with one text per record")
    places = {text: place for place, text in enumerate(texts)}
    codes = [places.get(one, len(texts)) if isinstance(one, str) else len(texts) for one in data]
    return SealedTexts(seal_whole(np.array(codes, dtype=np.int64), 0, len(texts), removal=removal), tuple(texts))


class SealedTexts:
    """Private texts: a list of them or, where an index chose it, one."""

    __slots__ = ("_codes", "_texts")
    __array_ufunc__ = None  # so that numpy leaves comparisons to this class

    def __init__(self, codes: Sealed, texts: tuple[str, ...]) -> None:
        self._codes, self._texts = codes, texts

    @property
    def codes(self) -> Sealed:
        """The place of each text in the public list, one beyond its end for any other text; sealed."""
        return self._codes

    def decode(self, codes: np.ndarray) -> list[str | None]:
        """Texts from places, for the door alone; None for a text that is not in the list."""
        return [self._texts[code] if code < len(self._texts) else None for code in codes.tolist()]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._codes.shape

    @property
    def ndim(self) -> int:
        return self._codes.ndim

    @property
    def size(self) -> int:
        return self._codes.size

    def __len__(self) -> int:
        if self.ndim == 0:
            _leak("the length of a text")
        return len(self._codes)

    def __iter__(self) -> Iterator[SealedTexts]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, index: Any) -> SealedTexts:
        return SealedTexts(self._codes[index], self._texts)

    def __eq__(self, other: object) -> Any:
        return self._codes == self._code_of(other)

    def __ne__(self, other: object) -> Any:
        return self._codes != self._code_of(other)

    def _code_of(self, other: Any) -> Any:
        """Public texts, or private ones of the same list, as places in it; −1, which is no place, for all else."""
        if isinstance(other, SealedTexts):
            if other._texts == self._texts:
                return other._codes
            _leak("a comparison with texts of another list")
        if isinstance(other, list) and self.ndim:
            _leak("a comparison of whole lists")
        places = {text: place for place, text in enumerate(self._texts)}
        public = np.asarray(other, dtype=object)
        codes = [places.get(one, -1) if isinstance(one, str) else -1 for one in public.ravel().tolist()]
        return np.array(codes, dtype=np.int64).reshape(public.shape)

    def count(self, text: Any, *ends: Any) -> Any:
        """How many records are this text; sealed. Of one text: how often it holds another."""
        if self.ndim == 0:
            return self._mapped([one.count(text, *ends) for one in self._texts])
        return (self == text).sum()

    def tolist(self) -> NoReturn:
        _leak("a plain list")

    def __contains__(self, text: object) -> bool:
        _leak("whether it holds a text")

    def __hash__(self) -> int:
        _leak("a set, a dict or a Counter")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        _leak("conversion to a plain array", 'x == "a", x.count("a") and np.isin(x, texts) take it as it is')

    def __array_function__(self, function: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.shape, np.ndim, np.size) and len(args) == 1 and not kwargs:
            return getattr(self, function.__name__)
        if function is np.isin and args[0] is self and len(args) == 2 and not kwargs and not isinstance(args[1], SealedTexts):
            return np.isin(self._codes, self._code_of(np.asarray(args[1], dtype=object)))
        _leak(f"numpy.{function.__name__}")

    def __str__(self) -> str:
        Leak("text", caller(), _TEXT)  # noticed, not raised: this text tells nothing, but that of plain data would
        return "<sealed private data>"

    def __format__(self, _: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self) if audit_watches() else "<sealed private data>"

    def __getattr__(self, name: str) -> Any:
        """A method of one text: a function of one record, computed for every text of the list."""
        if name.startswith("_") or self.ndim or not hasattr(str, name):
            raise AttributeError(f"sealed texts have no attribute {name!r}")
        return lambda *args, **kwargs: self._mapped([getattr(text, name)(*args, **kwargs) for text in self._texts])

    def _mapped(self, results: list[Any]) -> Any:
        """What each text becomes; a record that is none of them becomes what the first does."""
        if all(type(one) in (bool, int, float) for one in results):
            return self._chosen(results)
        if not all(isinstance(one, str) for one in results):
            _leak("a function of a text that gives neither texts nor numbers")
        texts = tuple(dict.fromkeys(results))
        return SealedTexts(self._chosen([texts.index(one) for one in results]), texts)

    def _chosen(self, numbers: list[Any]) -> Sealed:
        chosen: Any = numbers[0]
        for place, number in enumerate(numbers[1:], start=1):
            chosen = np.where(self._codes == place, number, chosen)
        return chosen if isinstance(chosen, Sealed) else self._codes * 0 + chosen


def _leak(operation: str, rewrite: str = _COUNTS) -> NoReturn:
    raise Leak(operation, caller(), rewrite)
