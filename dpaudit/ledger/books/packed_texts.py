"""Many short texts in one piece of memory: a million names take their letters and eight bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np


class PackedTexts:
    """Texts in their order, as UTF-8. Only ever longer."""

    def __init__(self, letters: bytes = b"", ends: Iterable[int] = ()) -> None:
        self.letters, self.ends = bytearray(letters), array("q", ends)

    def append(self, text: bytes) -> None:
        self.letters += text
        self.ends.append(len(self.letters))

    def extend(self, texts: Iterable[bytes]) -> None:
        texts = list(texts)
        self.ends.extend(list(accumulate(map(len, texts), initial=len(self.letters)))[1:])
        self.letters += b"".join(texts)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> str:
        return self.bytes_at(place).decode()

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    def bytes_at(self, place: int) -> bytes:
        """Places count from 0 on; there is no last one by -1."""
        start = self.ends[place - 1] if place else 0
        return bytes(self.letters[start : self.ends[place]])

    def digests(self) -> np.ndarray[Any, Any]:
        """64 bits of each text's BLAKE2b: equal for equal texts."""
        hashed = b"".join(blake2b(self.bytes_at(place), digest_size=8).digest() for place in range(len(self)))
        return np.frombuffer(hashed, np.int64)
