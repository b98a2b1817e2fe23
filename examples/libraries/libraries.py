"""``make libraries``: the functions of other libraries, each attacked against the claim that its documentation makes.

Writes one page on this machine. A finding is for the library's maintainers first: SECURITY.md says how to report it. Nothing of
the page belongs into this repository. Results are kept in .peers: a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the repository, for the environments of peers

from attack import WORKER, Effort, Process, Result, attack
from case import Case
from page import Row, page
from results import Results, key_of
from worker import load

from benchmarks.peers.environments import CACHE, Environment, environment, lock_of, version_of
from dpaudit.commands import progress
from dpaudit.report.formats.html import render

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Library:
    """``lock``: of its environment; two are those that their accountants are measured with."""

    name: str
    lock: Path

    @property
    def cases(self) -> Path:
        return HERE / "cases" / f"{self.name.replace('-', '_').replace('.', '_')}.py"

    @property
    def version(self) -> str:
        return version_of(self.name, self.lock)


LIBRARIES = {
    name: Library(name, lock_of(name) if name in ("diffprivlib", "opendp") else HERE / "locks" / f"{name}.txt")
    for name in ("diffprivlib", "opendp", "python-dp", "tmlt.core", "smartnoise-sql")
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    effort = Effort(options.samples, options.seconds)
    store = CACHE / "libraries.jsonl"
    if options.again:
        store.unlink(missing_ok=True)
    results = Results(store)
    rows: list[Row] = []
    chosen = [LIBRARIES[name] for name in options.names or LIBRARIES]
    known = {library.name: load(library.cases) for library in chosen}
    with progress("libraries", sum(map(len, known.values()))) as tell:
        for library in chosen:
            title = f"{library.name} {library.version}"
            for case, result in attack_all(library, known[library.name], effort, results, tell):
                rows.append(Row(title, case, result))
                options.output.write_text(render(page(rows)), encoding="utf-8")
    print(f"{options.output}: {len(rows)} functions; for their maintainers first, see SECURITY.md")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python examples/libraries/libraries.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)} (default: all)")
    parser.add_argument("--output", type=Path, default=Path("libraries.html"), help="the page (default libraries.html)")
    parser.add_argument("--samples", type=int, default=5000, help="runs on each side (default 5000)")
    parser.add_argument("--seconds", type=float, default=15, help="about this long for a function, with fewer runs (default 15)")
    parser.add_argument("--again", action="store_true", help="forget what an earlier run found")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in LIBRARIES:
            parser.error(f"{name} is none of {', '.join(LIBRARIES)}")
    return options


def attack_all(
    library: Library, cases: dict[str, Case], effort: Effort, results: Results, tell: Callable[[str], None] = lambda _: None,
    place: Callable[[str, Path], Environment] = environment,
) -> Iterator[tuple[Case, Result]]:  # fmt: skip
    """Every case of a library, one after another; what does not run stops no other, and what is known is not run again."""
    files = [library.cases, library.lock, WORKER]
    keys = {name: key_of(library.name, name, effort, files) for name in cases}
    where = None if all(results.find(key) for key in keys.values()) else place(library.name, library.lock)
    process = None if where is None or where.python is None else Process(where.python, library.cases)
    try:
        for name, case in cases.items():
            tell(f"{library.name} {name}")
            found = results.find(keys[name])
            if found is None and process is None:
                assert where is not None
                found = Result("not run", 0.0, where.failure)
            elif found is None:
                assert process is not None
                found = attack(process, case, effort)
                results.keep(keys[name], found)
            yield case, found
    finally:
        if process is not None:
            process.close()


if __name__ == "__main__":
    raise SystemExit(main())
