"""Writes docs/reference from the code: every public name with its docstring, every command with its options, every rule, the
paper's claims as they are decided now, the notebooks and the last comparison with peers."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import io
import json
import re
from pathlib import Path

import dpaudit as dp
from dpaudit.channel import Channel
from dpaudit.claims.rules import RULES, WORDS, Rule
from dpaudit.cli import main as run_command
from dpaudit.commands.registry import MODULES, command, fill_parser

PLACE = Path(__file__).parent / "reference"
NOTEBOOKS = Path(__file__).parent / "notebooks"
PEERS = Path(__file__).parents[1] / "benchmarks" / "README.md"
PACKAGES = {  # beside dpaudit itself: what their __all__ names
    "dpaudit.training": "Trainings with Opacus",
    "dpaudit.papers": "Claims of papers",
    "algorithms.online": "Bandits in a service",
}
INNER = {"parameters", "read", "of_size", "at"}  # of a mechanism: for doors and accountants


def main() -> None:
    for folder in ("rules", "notebooks"):
        (PLACE / folder).mkdir(parents=True, exist_ok=True)
    pages = {
        "python.md": python_names(),
        "commands.md": commands(),
        "claims.md": claims(),
        "benchmarks.md": PEERS.read_text("utf-8"),
    }
    for name, text in {**pages, **rules(), **notebooks()}.items():
        (PLACE / name).write_text(text, encoding="utf-8")


def python_names() -> str:
    lines = ["# Python", "", "All of it is at hand as `import dpaudit as dp`.", ""]
    for name in dp.__all__:
        lines += with_members(f"dp.{name}", getattr(dp, name))
    lines += ["## The channel", "", "What `dp.live`, `dp.simulate` and a subject's `channel` offer.", ""]
    for name, member in {**vars(Channel), **vars(Channel.__mro__[1])}.items():
        if not name.startswith("_") and inspect.isfunction(member) and member.__doc__:
            lines += described(f"channel.{name}", member, "###")
    for package, title in PACKAGES.items():
        lines += [f"## {title}", "", f"`from {package} import …`", ""]
        module = importlib.import_module(package)
        for name in module.__all__:
            lines += described(f"{package}.{name}", getattr(module, name), "###")
    return "\n".join(lines)


def with_members(name: str, thing: object) -> list[str]:
    """A name, and under a class the members that are documented."""
    lines = described(name, thing)
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            text = inspect.getdoc(value) or ""
            if member[0] != "_" and text and member not in INNER and (callable(value) or isinstance(value, property)):
                lines += described(f"{name}.{member}", value, "###")
    return lines


def described(name: str, thing: object, level: str = "##") -> list[str]:
    try:
        signature = str(inspect.signature(thing)).replace("(self, ", "(").replace("(self)", "()")  # type: ignore[arg-type]
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    except (TypeError, ValueError):
        signature = ""
    text = inspect.getdoc(thing) or ""
    return [f"{level} {name}", "", "```text", f"{name}{signature}", "```", "", text.replace("``", "`"), ""]


def commands() -> str:
    lines = ["# Commands", "", "Every command takes `--format`, `--output` and `--help`.", ""]
    for described_command in map(command, MODULES):
        parser = argparse.ArgumentParser(prog=f"dpaudit {described_command.name}", description=described_command.help)
        fill_parser(parser, described_command)
        lines += [
            f"## {described_command.name}",
            "",
            described_command.help,
            "",
            "```text",
            parser.format_help().rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines)


def claims() -> str:
    """The paper's claims, decided now with fewer points; the exit code says that some are refuted, as they are."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run_command(["claims", "--quick", "--paper", "bandits", "--format", "markdown"])
    return printed.getvalue()


def notebooks() -> dict[str, str]:
    """Each notebook as a page: text, cells and what they print."""
    pages = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        parts = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
            printed = "".join("".join(output["text"]) for output in cell.get("outputs", []))
            parts += [f"```text\n{printed.rstrip()}\n```"] if printed else []
        pages[f"notebooks/{path.stem}.md"] = "\n\n".join(parts) + "\n"
    return pages


def rules() -> dict[str, str]:
    """A list of all, and a page for each."""
    listed = [*RULES.values(), *WORDS.values()]
    lines = ["# Rules", "", "Ids never change their meaning. `dpaudit explain RULE` says the same on a terminal.", ""]
    lines += [
        "| rule | it says |",
        "| --- | --- |",
        *(f"| [{rule.id}](rules/{rule.id}.md) | {rule.title} |" for rule in listed),
        "",
    ]
    pages = {f"rules/{rule.id}.md": _page(rule) for rule in listed}
    return {"rules.md": "\n".join(lines), **pages}


def _page(rule: Rule) -> str:
    return f"# {rule.id}: {rule.title}\n\n{rule.why}\n\n**What to do.** {rule.remedy}\n\n[All rules](../rules.md)\n"


if __name__ == "__main__":
    main()
