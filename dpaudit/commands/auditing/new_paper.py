"""``dpaudit new-paper``: the skeleton of a package that decides a paper's claims, with one check and its test."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from dpaudit.claims import InvalidValue
from dpaudit.commands import HOLDS, Answer, Command, as_json
from dpaudit.commands.options import add_new_paper_options

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_paper_command(options: argparse.Namespace) -> Answer:
    """Write it; nothing that is there already is touched."""
    from dpaudit.papers.skeleton import skeleton

    name, folder = options.name, Path(options.folder) / options.name
    if NAME.fullmatch(name) is None:
        raise InvalidValue("name", name, "small letters, digits and hyphens, such as my-paper")
    if folder.exists():
        raise InvalidValue("name", name, f"another one: {folder.name} is there already")
    files = skeleton(name)
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if options.format == "json":
        return HOLDS, as_json({"schema": "dpaudit.new-paper/1", "paper": name, "files": sorted(files)})
    after = ["", "What comes next:", f"  pip install -e {name}", f"  dpaudit claims --paper {name}", f"  pytest {name}"]
    return HOLDS, "\n".join([*(f"{name}/{path}" for path in files), *after])


COMMANDS = (Command("new-paper", "start a package that decides a paper's claims", new_paper_command, add_new_paper_options),)
