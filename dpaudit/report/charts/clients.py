"""Who pays how much: the worst client, and how many clients spend what."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.accountants.client_shares import Share
from dpaudit.report.charts.svg_shapes import bar
from dpaudit.report.document import Figure, Styled, Table
from dpaudit.report.markup import element
from dpaudit.report.rounding import at_most


def clients(shares: Sequence[Share]) -> Figure:
    """A bar for each range of ε, as long as the share of clients in it."""
    most = max((share.clients or 0 for share in shares), default=0) or 1
    cells = []
    for share in shares:
        size = 100 * (share.clients or 0) / most
        drawn = element("div", element("div", class_="bar", style=f"width: {size:.1f}%")) if share.clients else element("div")
        cells += [element("div", _range(share)), drawn, element("div", _count(share))]
    description = "; ".join(f"{_range(share)}: {_count(share)}" for share in shares)
    rows = [(_range(share), _count(share), _blocks(share, most)) for share in shares]
    words = Table(("a client's ε", "clients", ""), rows)
    return Figure(element("div", *cells, class_="bars", role="img", aria_label=description), words=(words,))


def _blocks(share: Share, most: int) -> Styled | str:
    return Styled(bar(share.clients, most), "code") if share.clients else ""


def _range(share: Share) -> str:
    """Ends that read alike are one number: the upper."""
    low, high = at_most(share.low), at_most(share.high)
    return f"ε {high}" if low == high else f"ε {low} to {high}"


def _count(share: Share) -> str:
    if share.clients is None:
        return "everybody else"
    return f"{share.clients:,} client{'' if share.clients == 1 else 's'}"
