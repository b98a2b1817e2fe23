"""What a program writes to a terminal: read from the other end until it has ended."""

from __future__ import annotations

import os
import subprocess


def shown_on(master: int, process: subprocess.Popen[bytes]) -> str:
    """Everything that the terminal shows; the program must end well. The end that it writes to is closed here already."""
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(60) == 0
    os.close(master)
    return shown.decode()
