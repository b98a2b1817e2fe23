"""Runs the notebooks of docs/notebooks, and writes what their cells print into them: `make notebooks`.

A cell is Python, or `%%writefile NAME` with a file's text; a line that begins with `!` is a command of the shell, as in
Jupyter. The last expression of a cell is shown. Jupyter runs them alike; this needs nothing but Python.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parent / "notebooks"


def main() -> None:
    for path in sorted(PLACE.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, (cell, text) in enumerate(zip(code, outputs(path), strict=True), 1):
            lines = text.splitlines(keepends=True)
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
            cell["execution_count"] = number
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(code)} cells run")


def outputs(path: Path) -> list[str]:
    """What each code cell prints, run in order in one fresh process and folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(Path(__file__).resolve()), str(path.resolve())]
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        environment = {name: value for name, value in environment.items() if not name.startswith(("GITHUB", "PYTEST"))}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False
        )
    if done.returncode:
        raise RuntimeError(f"{path.name}: {done.stderr[-2000:]}")
    return list(json.loads(done.stdout))


def run_here(path: Path) -> list[str]:
    """The same in this process and folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    sys.path.insert(0, "")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [run_cell("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, names: dict[str, Any]) -> str:
    if source.startswith("%%writefile "):
        name, text = source.removeprefix("%%writefile ").split("\n", 1)
        Path(name).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        return f"Writing {name}\n"
    if source.startswith("!"):
        done = [subprocess.run(line[1:], shell=True, capture_output=True, text=True, check=False) for line in source.splitlines()]
        return "".join(each.stdout + each.stderr for each in done)
    tree, printed = ast.parse(source), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if isinstance(last, ast.Expr) else None
    return printed.getvalue() + ("" if shown is None else f"{shown!r}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_here(Path(sys.argv[1])), ensure_ascii=False))
    else:
        main()
