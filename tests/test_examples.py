"""Every example of examples/ is run by its own tests, from its own folder, as somebody who copied it would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(path.parent.name for path in EXAMPLES.glob("*/test_*.py")))
def test_an_example_keeps_its_word(folder: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "."]
    done = subprocess.run(command, cwd=EXAMPLES / folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
