"""The document model: lines with and without their styles."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from dpaudit.report.document import Badge, Heading, Link, Styled, facts, parts_of, plain_text, with_code


def test_a_line_without_its_styles_is_its_text_and_leaves_the_way_back_out() -> None:
    assert (
        plain_text(("a ", Badge("b", "bad"), Styled(" c_1", "formula"), Link("d", "x"), Link("top", "top", back=True)))
        == "a b c_1d"
    )
    assert parts_of("a") == ("a",)


def test_what_stands_between_backquotes_is_code() -> None:
    assert with_code("run `dpaudit check` now") == ("run ", Styled("dpaudit check", "code"), " now")
    assert with_code("plain") == ("plain",)


def test_facts_keep_their_order_and_blocks_cannot_be_changed() -> None:
    assert facts({"b": "1", "a": "2"}).pairs == (("b", "1"), ("a", "2"))
    with pytest.raises(FrozenInstanceError):
        Heading("a").level = 2  # type: ignore[misc]
