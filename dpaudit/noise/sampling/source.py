"""Where random words come from: a secure source for deployments, a seeded one for replays and tests.

Both are AES-256 in counter mode; they differ in the key. Neither can be copied or pickled: two copies would
draw the same noise, and the difference of two releases with the same noise is the private data.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from dpaudit.claims import DpauditError, InvalidValue, whole

_WIDTHS: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_BLOCK = 1 << 16  # bytes drawn ahead, so that a small request costs a slice
_LIFETIME = 1 << 36  # bytes per key; far below the 2^68 at which counter mode becomes distinguishable
_ZEROS = memoryview(bytes(1 << 20))  # encrypted piece by piece; fresh zeros of each size cost six times the encryption


class Source(Protocol):
    """Uniform random words. ``simulated`` says whether the words can be foretold."""

    @property
    def simulated(self) -> bool: ...

    def words(self, count: int, bits: int = 64) -> NDArray[Any]: ...

    def permutation(self, n: int) -> NDArray[np.int64]: ...


class _Keystream:
    """AES-256-CTR over zeros, drawn in blocks."""

    def __init__(self, key: bytes) -> None:
        cipher = Cipher(algorithms.AES(key[:32]), modes.CTR(key[32:48]))
        self._encryptor = cipher.encryptor()
        self._block, self._used, self.total = b"", 0, 0

    def take(self, size: int) -> bytes:
        self.total += size
        if size >= _BLOCK:
            return b"".join(self._encryptor.update(_ZEROS[: size - start]) for start in range(0, size, len(_ZEROS)))
        if self._used + size > len(self._block):
            self._block, self._used = self._encryptor.update(_ZEROS[:_BLOCK]), 0
        self._used += size
        return self._block[self._used - size : self._used]


def _read(data: bytes, bits: int) -> NDArray[Any]:
    return np.frombuffer(data, dtype=np.dtype(_WIDTHS[bits]).newbyteorder("<"))


def _size(count: int, bits: int) -> int:
    if bits not in _WIDTHS:
        raise InvalidValue("bits", bits, "8, 16, 32 or 64")
    return whole(count, "count", least=0) * bits // 8


def _shuffle(source: Source, n: int) -> NDArray[np.int64]:
    """A uniform permutation: the order of n words, drawn again unless they are all different."""
    size = whole(n, "n", least=0)
    while True:
        words = source.words(size)
        order = np.argsort(words)
        if not (words[order[1:]] == words[order[:-1]]).any():
            return order.astype(np.int64)


def _refuse(kind: str) -> NoReturn:
    raise DpauditError(f"a {kind} cannot be copied or pickled: two copies draw the same noise; create one where it is used")


class SecureSource:
    """AES-256-CTR keyed by the operating system, and keyed anew in a forked child. Threads may share one."""

    simulated = False

    def __init__(self) -> None:
        self._key_anew()
        _secure_sources.add(self)

    def _key_anew(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._stream = _Keystream(os.urandom(48))

    def words(self, count: int, bits: int = 64) -> NDArray[Any]:
        """``count`` uniform unsigned words of 8, 16, 32 or 64 bits, read-only."""
        size = _size(count, bits)
        if self._process != os.getpid():  # forked without Python's fork hooks
            self._key_anew()
        with self._lock:
            if self._stream.total + size > _LIFETIME:
                self._stream = _Keystream(os.urandom(48))
            return _read(self._stream.take(size), bits)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniform permutation of 0..n−1."""
        return _shuffle(self, n)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse("SecureSource")


class ReplaySource:
    """The same words for the same seed, on every machine. For tests and replays, never for a deployment."""

    simulated = True

    def __init__(self, seed: int) -> None:
        key = hashlib.sha512(b"dpaudit replay source:" + str(whole(seed, "seed", least=0)).encode()).digest()
        self._lock = threading.Lock()
        self._stream = _Keystream(key)

    def words(self, count: int, bits: int = 64) -> NDArray[Any]:
        """``count`` uniform unsigned words of 8, 16, 32 or 64 bits, read-only."""
        size = _size(count, bits)
        with self._lock:
            return _read(self._stream.take(size), bits)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniform permutation of 0..n−1."""
        return _shuffle(self, n)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse("ReplaySource")


_secure_sources: weakref.WeakSet[SecureSource] = weakref.WeakSet()


def _key_all_anew() -> None:
    for source in list(_secure_sources):
        source._key_anew()


os.register_at_fork(after_in_child=_key_all_anew)
