"""Who pays how much: a bar for each range of ε."""

from __future__ import annotations

from dpaudit.accountants.client_shares import Share
from dpaudit.report.charts.clients import clients
from dpaudit.report.formats.markdown import markdown


def test_clients_are_bars_and_everybody_else_has_none() -> None:
    figure = clients([Share(0.5, 0.5, None), Share(1.0, 1.0, 1), Share(2.0, 3.0, 4000)])
    (text,) = markdown(figure.words)
    assert figure.drawing.count('class="bar"') == 2
    assert "ε 2 to 3: 4,000 clients" in figure.drawing
    assert "everybody else" in figure.drawing
    assert "| ε 1 | 1 client | `█░" in text


def test_ends_that_read_alike_are_one_number() -> None:
    figure = clients([Share(1 - 1e-12, 1.0, 3), Share(0.5, 1.0, 2)])
    assert "ε 1: 3 clients" in figure.drawing
    assert "ε 0.5 to 1: 2 clients" in figure.drawing
    assert "ε 1 to 1" not in figure.drawing
