"""The tree in figures: ``python -m benchmarks.tree`` prints them, with ``--write`` into ARCHITECTURE.md.

Everything is read from the files; nothing of the packages is imported.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("dpaudit", "algorithms", "proofs_checks")
NOISE = "dpaudit/noise/"  # where a mechanism may be asked who it is
LONGEST = 40  # lines of a function
PAGE, START, END = "ARCHITECTURE.md", "<!-- tree -->", "<!-- /tree -->"


@dataclass(frozen=True)
class Module:
    """One file of one package, parsed."""

    path: str  # from the root, with slashes
    text: str

    @cached_property
    def syntax(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def package(self) -> str:
        return self.path.split("/")[0]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        return Path(self.path).stem

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@dataclass(frozen=True)
class Row:
    """One line of the table; ``now`` must not exceed ``limit`` where there is one."""

    measure: str
    before: str  # the first version as it was counted then, and by this script where that differs
    now: int
    limit: int | None = None
    names: tuple[str, ...] = ()

    def line(self) -> str:
        limit = "" if self.limit is None else f"≤ {self.limit}"
        return f"| {self.measure} | {self.before} | {self.now:,} | {limit} |"


def read_modules(root: Path) -> list[Module]:
    """Every Python file of the three packages, in the order of their paths."""
    files = sorted(file for package in PACKAGES for file in (root / package).rglob("*.py"))
    return [Module(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def count_per_folder(modules: Iterable[Module]) -> Counter[str]:
    """Modules directly in each folder; ``__init__`` is the folder itself."""
    return Counter(module.folder for module in modules if module.stem != "__init__")


def repeated(modules: Iterable[Module], *, classes: bool) -> list[str]:
    """Module stems, or names of classes at the top of a module, that occur more than once in one package."""
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for module in modules:
        inside = [node.name for node in module.syntax.body if isinstance(node, ast.ClassDef)]
        for name in inside if classes else [module.stem]:
            if not name.startswith("__"):
                places[module.package, name].append(module.path)
    return [f"{name}: {', '.join(paths)}" for (_, name), paths in sorted(places.items()) if len(paths) > 1]


def long_functions(modules: Iterable[Module]) -> list[str]:
    """Functions and methods of more than ``LONGEST`` lines, from ``def`` to the last one."""
    found = []
    for module in modules:
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST:
                    found.append(f"{module.path}: {node.name} ({lines})")
    return found


def mechanisms(modules: Iterable[Module]) -> tuple[set[str], set[str]]:
    """The classes of ``dpaudit/noise`` that have a ``name``, and those names as a ledger holds them."""
    classes, names = set(), set()
    for module in modules:
        if not module.path.startswith(NOISE):
            continue
        for owner in (node for node in module.syntax.body if isinstance(node, ast.ClassDef)):
            for node in owner.body:
                target = (
                    node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
                )
                if isinstance(target, ast.Name) and target.id == "name":
                    value = getattr(node, "value", None)
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        classes.add(owner.name)
                        names.add(value.value)
    return classes, names


def mechanism_switches(modules: Iterable[Module]) -> list[str]:
    """Where code outside ``dpaudit/noise`` asks which mechanism it has: by its name, its class, or in a ``match``."""
    modules = list(modules)
    classes, names = mechanisms(modules)
    found = []
    for module in modules:
        if module.path.startswith(NOISE):
            continue
        lines = [node.lineno for node in ast.walk(module.syntax) if isinstance(node, ast.expr) and _asks(node, classes, names)]
        lines += [case.pattern.lineno for case in _cases(module.syntax) if _mentions(case.pattern, classes, names)]
        found += [f"{module.path}:{line}" for line in sorted(lines)]
    return found


def _asks(node: ast.expr, classes: set[str], names: set[str]) -> bool:
    match node:
        case ast.Compare(left=left, comparators=others):
            return any(_mentions(side, classes, names) for side in (left, *others))
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, which]):
            return _mentions(which, classes, set())
    return False


def _mentions(node: ast.AST, classes: set[str], names: set[str]) -> bool:
    """Is it, or does it list, a mechanism's name or class? A call that makes a mechanism is no question."""
    match node:
        case ast.Constant(value=str(text)):
            return text in names
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word in classes
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(_mentions(part, classes, names) for part in parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return any(_mentions(part, classes, names) for part in (left, right))
        case ast.MatchValue(value=value):
            return _mentions(value, classes, names)
        case ast.MatchClass(cls=value):
            return _mentions(value, classes, set())
        case ast.MatchOr(patterns=parts) | ast.MatchSequence(patterns=parts):
            return any(_mentions(part, classes, names) for part in parts)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _mentions(inner, classes, names)
    return False


def _cases(syntax: ast.AST) -> Iterator[ast.match_case]:
    return (case for node in ast.walk(syntax) if isinstance(node, ast.Match) for case in node.cases)


def layers(root: Path) -> list[str]:
    """The layers that import-linter holds the toolkit to, from the top."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    return [layer for contract in contracts if contract["type"] == "layers" for layer in contract["layers"]]


def public_names(root: Path) -> list[str]:
    """What ``import dpaudit as dp`` offers: ``__all__``, or the names of the table that says where each is."""
    body = ast.parse((root / "dpaudit" / "__init__.py").read_text(encoding="utf-8")).body
    tables = {}
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                try:
                    tables[target.id] = ast.literal_eval(node.value)
                except ValueError:
                    continue
    if isinstance(tables.get("__all__"), list | tuple):
        return sorted(tables["__all__"])
    listed = tables.get("PUBLIC", {})
    return sorted({name for names in listed.values() for name in names}) if isinstance(listed, dict) else []


def undocumented_names(root: Path) -> list[str]:
    """Public names that neither the contract's tests nor the README with its guide mention."""
    contract = "\n".join(file.read_text(encoding="utf-8") for file in sorted((root / "tests" / "contract").glob("*.py")))
    pages = [root / "README.md", *sorted((root / "docs" / "guide").glob("*.md"))]
    readme = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return [
        name
        for name in public_names(root)
        if not re.search(rf'\bdp\.{name}\b|"{name}"', contract) and not re.search(rf"\bdp\.{name}\b|`{name}\b", readme)
    ]


def measure(root: Path) -> list[Row]:
    """Every row of the table, for the tree at ``root``."""
    modules = read_modules(root)
    folders, functions, switches = count_per_folder(modules), long_functions(modules), mechanism_switches(modules)
    stems, classes, hidden = repeated(modules, classes=False), repeated(modules, classes=True), undocumented_names(root)
    toolkit = {folder: count for folder, count in folders.items() if not folder.startswith("proofs_checks")}
    papers = {folder: count for folder, count in folders.items() if folder.startswith("proofs_checks")}
    full = tuple(f"{folder} ({count})" for folder, count in folders.most_common() if count == max(folders.values()))
    return [
        Row("loose modules in dpaudit/", "28 (27)", folders["dpaudit"], 8),
        Row("modules in the largest folder", "41 (40)", max(toolkit.values()), 12, full),
        Row("the same in proofs_checks/", "53 (52)", max(papers.values(), default=0), 12),
        Row("layers, held by import-linter", "28", len(layers(root))),
        Row(f"functions of more than {LONGEST} lines", "(22)", len(functions), 9, tuple(functions)),
        Row("mechanism switches outside noise/", "54 (59)", len(switches), None, tuple(switches)),
        Row("module stems twice in one package", "12 (8)", len(stems), None, tuple(stems)),
        Row("class names twice in one package", "23 (19)", len(classes), None, tuple(classes)),
        Row("public names (`dp.…`)", "50", len(public_names(root))),
        Row("of them in neither contract nor README", "30 (29)", len(hidden), None, tuple(hidden)),
        Row("lines in dpaudit/", "27,894", sum(module.lines for module in modules if module.package == "dpaudit")),
    ]


def table(rows: Iterable[Row]) -> str:
    """Markdown: what is measured, the first version, now, the limit that a test holds."""
    return "\n".join(
        [
            "| measured by `make tree` | before (by this script) | now | limit |",
            "| --- | ---: | ---: | ---: |",
            *(row.line() for row in rows),
        ]
    )


def put_into(page: str, text: str) -> str:
    """``page`` with ``text`` between the markers; raises ``ValueError`` where they are missing."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{PAGE} has no {START} … {END}")
    return f"{before}{START}\n{text}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tree", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="FOLDER", help="another checkout to measure")
    options = parser.parse_args()
    rows = measure(options.root)
    print(table(rows))
    for row in rows:
        if row.names:
            print(f"\n{row.measure}:", *row.names, sep="\n  ")
    if options.write:
        page = options.root / PAGE
        text = page.read_text(encoding="utf-8") if page.exists() else f"# Architecture\n\n{START}\n{END}\n"
        page.write_text(put_into(text, table(rows)), encoding="utf-8")
    over = [row.measure for row in rows if row.limit is not None and row.now > row.limit]
    if over:
        print(f"\nover the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
