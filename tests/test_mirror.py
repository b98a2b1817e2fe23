"""tests/ mirrors the packages: a module has its test at the same place, or mirror.txt says which test covers it and how.

``python tests/test_mirror.py`` (``make mirror``) renews the list: true rows stay, stale ones go, missing ones are derived from
the imports. A module that no test reaches gets no row, and the check below fails until somebody writes its test.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from os.path import commonpath
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("dpaudit", "algorithms", "proofs_checks")
CLI = "dpaudit/cli.py"
FACES = (CLI, "dpaudit/__main__.py")  # they use everything
RUNNERS = ("dpaudit_cli", "shared_cli")  # fixtures of the contract that run the console script
LIST = Path("tests/mirror.txt")
HEAD = """\
# Renewed by `make mirror`; a test holds every row to the tree.
# module: the test that covers it [through the module that this test imports and that uses it]
# test: what it is about, where it belongs to no single module
"""


class Tree:
    """Modules, tests, and which module imports which, at ``root``; all paths are relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        files = sorted(file.relative_to(root) for package in PACKAGES for file in (root / package).rglob("*.py"))
        self.names = {".".join(file.with_suffix("").parts).removesuffix(".__init__"): file.as_posix() for file in files}
        self.modules = [file.as_posix() for file in files if file.name != "__init__.py" or self._defines(file)]
        self.tests = sorted(file.relative_to(root).as_posix() for file in (root / "tests").rglob("test_*.py"))
        self.imports = cache(self._imports)

    def _defines(self, file: Path) -> bool:
        """An ``__init__`` that only hands on names needs no test."""
        return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in self.parse(file.as_posix()).body)

    def parse(self, path: str) -> ast.Module:
        return ast.parse((self.root / path).read_text(encoding="utf-8"), path)

    def _imports(self, path: str) -> frozenset[str]:
        """The modules whose names this file uses: by import, as ``dp.name``, by place, or by a dotted name in a string."""
        uses = set()
        for node in ast.walk(self.parse(path)):
            match node:
                case ast.Import(names=aliases):
                    uses |= {self.names.get(alias.name) for alias in aliases}
                case ast.ImportFrom(module=str(module), names=aliases, level=0):
                    uses |= {self.resolve(module, alias.name) for alias in aliases}
                case ast.Attribute(value=ast.Name(id="dp"), attr=name):
                    uses.add(self.resolve("dpaudit", name))
                case ast.arg(arg=name) if name in RUNNERS:
                    uses.add(CLI)
                case ast.Constant(value=str(text)) if "." in text:
                    uses.add(self.names.get(text.partition(":")[0]))
        uses |= {module for module in self.modules if mirror(module) == path}
        return frozenset(use for use in uses if use is not None and use != path)

    def resolve(self, module: str, name: str) -> str | None:
        """The file in which ``from module import name`` is written, as far as packages hand it on."""
        if f"{module}.{name}" in self.names:
            return self.names[f"{module}.{name}"]
        home = self.names.get(module)
        if home is None or not home.endswith("__init__.py"):
            return home
        for node in ast.walk(self.parse(home)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module != module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.resolve(node.module, alias.name)
        return home

    def calls(self, test: str, module: str) -> bool:
        """Does a test say what a command line needs to come to this module: one of its commands, or each part of its name?"""
        constants = (node.value for node in ast.walk(self.parse(test)) if isinstance(node, ast.Constant))
        words = {value for value in constants if isinstance(value, str)}
        functions = (node.name for node in self.parse(module).body if isinstance(node, ast.FunctionDef))
        commands = {name.removesuffix("_command") for name in functions if name.endswith("_command")}
        return bool(commands & words) if commands else words.issuperset(Path(module).stem.split("_"))

    def reaches(self, start: str, goal: str) -> bool:
        waiting, known = deque([start]), {start}
        while waiting:
            module = waiting.popleft()
            if module == goal:
                return True
            waiting.extend(self.imports(module) - known)
            known |= self.imports(module)
        return False


def mirror(module: str) -> str:
    """Where the test of a module belongs."""
    folder, _, name = module.rpartition("/")
    if name == "__init__.py":
        folder, _, name = folder.rpartition("/")
    return "/".join(part for part in ("tests", folder, f"test_{name.removesuffix('.py').strip('_')}.py") if part)


def read_rows(text: str) -> dict[str, str]:
    rows = [line.partition(": ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len({path for path, _, _ in rows}) == len(rows), "a row stands twice"
    return {path: reason for path, _, reason in rows}


def complaints(tree: Tree, rows: dict[str, str]) -> Iterator[str]:
    """Whatever is missing in the list or is not true in it."""
    mirrored = {mirror(module) for module in tree.modules}
    for module in tree.modules:
        if mirror(module) not in tree.tests and module not in rows:
            yield f"{module}: no {mirror(module)}, and no row"
    for test in tree.tests:
        if test not in mirrored and test not in rows:
            yield f"{test}: no module at its place, and no row"
    for path, reason in rows.items():
        if path in tree.tests:
            if path in mirrored:
                yield f"{path}: stands at its module's place and needs no row"
            elif not reason.strip():
                yield f"{path}: its row gives no reason"
        elif path not in tree.modules:
            yield f"{path}: no such module or test"
        elif mirror(path) in tree.tests:
            yield f"{path}: has its own test and needs no row"
        elif not covers(tree, path, reason):
            yield f"{path}: not covered by {reason}"


def covers(tree: Tree, module: str, reason: str) -> bool:
    """The test is there, imports the module or the one it goes ``through``, and that one uses the module.

    The command line uses everything: a test that goes through it must also call the module.
    """
    test, _, through = reason.partition(" through ")
    middle = through or module
    if test not in tree.tests or middle not in tree.imports(test) or not tree.reaches(middle, module):
        return False
    return through not in FACES or tree.calls(test, module)


def derive(tree: Tree, module: str) -> str | None:
    """A row for a module without a test of its own: the nearest test that imports it, or imports what uses it."""
    users: dict[str, list[str]] = {}
    for path in (*tree.names.values(), *tree.tests):
        for use in tree.imports(path):
            users.setdefault(use, []).append(path)
    waiting, known, place = deque([module]), {module}, mirror(module)
    while waiting:
        middle = waiting.popleft()
        tests = [path for path in users.get(middle, []) if path in tree.tests]
        if middle in FACES and middle != module:
            tests = [each for each in tests if tree.calls(each, module)]
        if tests:
            test = max(tests, key=lambda each: (each == mirror(middle), len(commonpath([each, place]))))
            return test if middle == module else f"{test} through {middle}"
        more = [path for path in users.get(middle, []) if path not in known]
        waiting.extend(more)
        known |= set(more)
    return None


def about(tree: Tree, test: str) -> str:
    """The first sentence of a test file's docstring."""
    text = " ".join((ast.get_docstring(tree.parse(test)) or "").split())
    return re.split(r"(?<=[.:;]) ", text)[0].rstrip(".:;")


def renew(tree: Tree, rows: dict[str, str]) -> dict[str, str]:
    wrong = {line.partition(": ")[0] for line in complaints(tree, rows)}
    true = {path: reason for path, reason in rows.items() if path not in wrong}
    for path in wrong & {*tree.modules, *tree.tests}:
        if path in tree.modules and mirror(path) not in tree.tests and (reason := derive(tree, path)):
            true[path] = reason
        if path in tree.tests and path not in {mirror(module) for module in tree.modules}:
            true[path] = about(tree, path)
    return true


def write_rows(rows: dict[str, str]) -> str:
    def part(paths: Iterable[str]) -> str:
        return "".join(f"{path}: {rows[path]}\n" for path in sorted(paths))

    tests = {path for path in rows if path.startswith("tests/")}
    return f"{HEAD}\n{part(rows.keys() - tests)}\n{part(tests)}"


def test_every_module_has_its_test_or_a_true_row_and_every_test_its_module_or_a_reason() -> None:
    rows = read_rows((ROOT / LIST).read_text(encoding="utf-8"))
    assert list(complaints(Tree(ROOT), rows)) == [], "write the missing tests, or run `make mirror`"


SMALL = {
    "dpaudit/__init__.py": "from dpaudit.door import live\n",
    "dpaudit/door.py": "from dpaudit.inner import draw\ndef live(): ...\n",
    "dpaudit/inner/__init__.py": "from dpaudit.inner.drawing import draw\n",
    "dpaudit/inner/drawing.py": "def draw(): ...\n",
    "dpaudit/inner/alone.py": "",
    "dpaudit/named.py": "",
    "tests/dpaudit/test_door.py": "import dpaudit as dp\ndp.live\n",
    "tests/dpaudit/test_behaviour.py": '"""Doors open. Always."""\nCOMMAND = ["-m", "dpaudit.named"]\n',
}
ROWS = {
    "dpaudit/inner/drawing.py": "tests/dpaudit/test_door.py through dpaudit/door.py",
    "dpaudit/named.py": "tests/dpaudit/test_behaviour.py",
    "tests/dpaudit/test_behaviour.py": "Doors open",
}
UNREACHED = "dpaudit/inner/alone.py: no tests/dpaudit/inner/test_alone.py, and no row"


@pytest.fixture
def small(tmp_path: Path) -> Tree:
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Tree(tmp_path)


def test_the_list_is_derived_from_imports_and_a_module_that_no_test_reaches_stays_open(small: Tree) -> None:
    assert renew(small, {}) == ROWS
    assert read_rows(write_rows(ROWS)) == ROWS
    assert list(complaints(small, ROWS)) == [UNREACHED]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (("dpaudit/gone.py", "tests/dpaudit/test_door.py"), "no such module or test"),
        (("dpaudit/door.py", "tests/dpaudit/test_door.py"), "has its own test"),
        (("dpaudit/named.py", "tests/dpaudit/test_door.py"), "not covered by"),
        (("dpaudit/named.py", "tests/dpaudit/test_gone.py"), "not covered by"),
        (("dpaudit/inner/drawing.py", "tests/dpaudit/test_behaviour.py through dpaudit/named.py"), "not covered by"),
        (("tests/dpaudit/test_door.py", "doors"), "needs no row"),
        (("tests/dpaudit/test_behaviour.py", ""), "gives no reason"),
    ],
)
def test_a_row_that_is_not_true_is_named_and_renewed(small: Tree, row: tuple[str, str], complaint: str) -> None:
    rows = {**ROWS, row[0]: row[1]}
    told = [line for line in complaints(small, rows) if line != UNREACHED]
    assert len(told) == 1
    assert told[0].startswith(f"{row[0]}: ")
    assert complaint in told[0]
    assert renew(small, rows) == ROWS


if __name__ == "__main__":
    tree = Tree(ROOT)
    file = ROOT / LIST
    renewed = renew(tree, read_rows(file.read_text(encoding="utf-8")) if file.exists() else {})
    file.write_text(write_rows(renewed), encoding="utf-8")
    left = list(complaints(tree, renewed))
    print(f"{len(renewed)} rows in {LIST}", *left, sep="\n")
    sys.exit(1 if left else 0)
