"""The picture of the demo: the table in SVG, the verdicts in their colours, nothing from elsewhere."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.demo_picture import PAPER, PLACE, picture, table

TABLE = "model    verdict\n───────  ─────────\ncentral  refuted\nlocal    certified\n"
SHOWN = f"<!-- demo -->\n```\nthe title\n\n{TABLE}\ncentral: why it is so\n```\n"


def test_it_shows_the_table_and_loads_nothing() -> None:
    svg = picture(table(SHOWN))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    text = "".join(root.itertext())
    assert "refuted" in text
    assert "certified" in text
    assert "why" not in text
    assert "url(" not in svg.replace("url(#", "")
    assert "href" not in svg


def test_the_picture_is_that_of_the_readme() -> None:
    """To renew it: make picture."""
    assert PLACE.read_text(encoding="utf-8") == picture(table(PAPER.read_text(encoding="utf-8"))) + "\n"
