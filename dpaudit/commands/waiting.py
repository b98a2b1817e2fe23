"""A line on a terminal while a command is at work that shows no bar of its own."""

from __future__ import annotations

import sys
from threading import Lock, Timer

AFTER = 1.5  # seconds: whoever waits for two has been told
_CLEAR = "\r\x1b[K"
_current: list[waiting] = []


class waiting:
    """Says on stderr that ``title`` is at work, once that takes a while; the line is gone afterwards. Only on a terminal."""

    def __init__(self, title: str, after: float = AFTER) -> None:
        self.title = title
        self._timer, self._lock = Timer(after, self._show), Lock()
        self._shown = self._over = False

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            self._timer.daemon = True
            self._timer.start()
            _current.append(self)

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Nothing is shown from now on."""
        self._timer.cancel()
        with self._lock:
            if self._shown and not self._over:
                sys.stderr.write(_CLEAR)
                sys.stderr.flush()
            self._over = True
        if self in _current:
            _current.remove(self)

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                sys.stderr.write(f"{self.title}: at work …")
                sys.stderr.flush()
                self._shown = True


def end_waiting() -> None:
    """A bar is shown instead."""
    for each in list(_current):
        each.end()
