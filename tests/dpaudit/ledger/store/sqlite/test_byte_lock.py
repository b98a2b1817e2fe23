"""Two handles of one process keep each other out, and closing a third drops nothing."""

from __future__ import annotations

import os
from pathlib import Path

from dpaudit.ledger.store.sqlite.byte_lock import free_byte, try_byte


def test_a_byte_is_held_by_one_handle_until_it_is_freed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    one, two, three = (os.open(tmp_path / "a", os.O_RDWR) for _ in range(3))
    try:
        assert try_byte(one, 7) is True
        assert try_byte(two, 7) is False
        assert try_byte(two, 8) is True  # another byte
        os.close(three)
        assert try_byte(two, 7) is False
        free_byte(one, 7)
        assert try_byte(two, 7) is True
    finally:
        os.close(one)
        os.close(two)
