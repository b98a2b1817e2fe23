"""Writes docs/reference from the code: every public name with its docstring, every command with its options, every rule."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

import dpaudit as dp
from dpaudit.channel import Channel
from dpaudit.claims.rules import RULES, WORDS, Rule
from dpaudit.commands.registry import MODULES, command, fill_parser

PLACE = Path(__file__).parent / "reference"


def main() -> None:
    (PLACE / "rules").mkdir(parents=True, exist_ok=True)
    for name, text in {"python.md": python_names(), "commands.md": commands(), **rules()}.items():
        (PLACE / name).write_text(text, encoding="utf-8")


def python_names() -> str:
    lines = ["# Python", "", "All of it is at hand as `import dpaudit as dp`.", ""]
    for name in dp.__all__:
        lines += described(f"dp.{name}", getattr(dp, name))
    lines += ["## The channel", "", "What `dp.live`, `dp.simulate` and a subject's `channel` offer.", ""]
    for name, member in {**vars(Channel), **vars(Channel.__mro__[1])}.items():
        if not name.startswith("_") and inspect.isfunction(member) and member.__doc__:
            lines += described(f"channel.{name}", member, "###")
    return "\n".join(lines)


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
