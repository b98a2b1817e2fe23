"""The licence that pyproject.toml names is in the repository, word for word, and travels with the package."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # SHA-256 of the foundation's LICENSE-2.0.txt


def test_the_licence_is_the_whole_standard_text_and_is_shipped() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert (pyproject["project"]["license"], pyproject["project"]["license-files"]) == ("Apache-2.0", ["LICENSE"])
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2
    assert "LICENSE" in pyproject["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
