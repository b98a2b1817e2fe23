"""The skeleton is Python, TOML and free of its own placeholders."""

from __future__ import annotations

import ast
import tomllib

from dpaudit.papers.skeleton import skeleton


def test_every_file_can_be_read_and_no_placeholder_is_left() -> None:
    files = skeleton("my-paper")
    assert sorted(files) == ["my_paper/__init__.py", "my_paper/claims.py", "pyproject.toml", "tests/test_my_paper.py"]
    for path, text in files.items():
        assert not {"NAME", "MODULE", "PREFIX"} & set(text.replace('"', " ").replace(".", " ").split())
        if path.endswith(".py"):
            ast.parse(text)
    points = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]["dpaudit.claims"]
    assert points == {"my-paper": "my_paper.claims:checks"}
