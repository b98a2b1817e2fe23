"""The public names: one table, those of the README, the guide and the design, and the same for type checkers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import dpaudit as dp

STUB = Path(dp.__file__).with_suffix(".pyi")
ROOT = Path(dp.__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
# What the design names as results or keeps for later examples, and neither the README nor the guide shows.
DESIGN = {
    "Binomial", "Bound", "DpauditError", "Enclosure", "Exponential", "Gaussian", "KaryResponse", "NoisyMax",
    "OptimizedUnaryResponse", "PermuteAndFlip", "RandomizedResponse", "SparseVector", "ThresholdedLaplace", "UnaryResponse",
    "Verdict", "account", "add_remove", "alive", "amplify", "assert_private", "clip_rows", "invert", "seal_frame",
}  # fmt: skip


def stub() -> str:
    """``__init__.pyi``, as the table of public names makes it."""
    lines = ['"""Made from PUBLIC in __init__.py by tests/dpaudit/test_face.py; do not edit."""', ""]
    for module, names in sorted(dp.PUBLIC.items()):
        lines += [f"from dpaudit.{module} import {name} as {name}" for name in sorted(names)]
    listed = ["__all__ = [", *(f'    "{name}",' for name in dp.__all__), "]", ""]
    return "\n".join(
        [*lines, "", "__version__: str", "PUBLIC: dict[str, tuple[str, ...]]", "FORMER: dict[str, tuple[str, ...]]", *listed]
    )


def test_type_checkers_see_the_public_names() -> None:
    """To renew it: python tests/dpaudit/test_face.py."""
    assert STUB.read_text(encoding="utf-8") == stub()


def test_every_public_name_is_one_of_the_readme_the_guide_or_the_design() -> None:
    shown = set(re.findall(r"\bdp\.(\w+)", "\n".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert set(dp.__all__) == {name for name in shown if hasattr(dp, name)} | DESIGN
    assert not [name for name in shown if not hasattr(dp, name)]


def test_names_of_the_first_version_still_load() -> None:
    former = [name for names in dp.FORMER.values() for name in names]
    assert not set(former) & set(dp.__all__)
    assert all(getattr(dp, name) is not None for name in former)


def test_names_load_from_their_packages_when_they_are_used() -> None:
    program = "import sys, dpaudit; light = 'numpy' not in sys.modules; "
    program += "[getattr(dpaudit, name) for name in dpaudit.__all__]; print(light)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "True"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
