"""``make libraries``: the functions of other libraries, each attacked against the claim that its documentation makes.

Writes one page on this machine. A finding is for the library's maintainers first: SECURITY.md says how to report it. Nothing of
the page belongs into this repository.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the repository, for the environments of peers

from attack import Result, attack_all
from page import page

from benchmarks.peers.environments import environment
from dpaudit.commands import progress
from dpaudit.report.formats.html import render

HERE = Path(__file__).parent
LIBRARIES = {  # where the lock of each lies: two are the ones that their accountants are measured with
    "diffprivlib": None,
    "opendp": None,
    "python-dp": HERE / "locks" / "python-dp.txt",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python examples/libraries/libraries.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)} (default: all)")
    parser.add_argument("--output", type=Path, default=Path("libraries.html"), help="the page (default libraries.html)")
    parser.add_argument("--samples", type=int, default=5000, help="runs on each side (default 5000)")
    options = parser.parse_args(arguments)
    results: list[Result] = []
    for name in options.names or LIBRARIES:
        place = environment(name, LIBRARIES[name])
        cases = HERE / "cases" / f"{name.replace('-', '_')}.py"
        with progress(name) as tell:
            results += attack_all(name, place, cases, options.samples, tell)
    options.output.write_text(render(page(results)), encoding="utf-8")
    print(f"{options.output}: {len(results)} functions; for their maintainers first, see SECURITY.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
