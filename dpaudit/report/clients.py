"""Who pays how much: the worst client, and how many clients spend what."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.accountants.client_shares import Share
from dpaudit.report.charts import at_most
from dpaudit.report.markdown import bar, table
from dpaudit.report.page import Html, element


def clients_html(shares: Sequence[Share]) -> Html:
    """A bar for each range of ε, as long as the share of clients in it."""
    most = max((share.clients or 0 for share in shares), default=0) or 1
    cells = []
    for share in shares:
        size = 100 * (share.clients or 0) / most
        drawn = element("div", element("div", class_="bar", style=f"width: {size:.1f}%")) if share.clients else element("div")
        cells += [element("div", _range(share)), drawn, element("div", _count(share))]
    return element("div", *cells, class_="bars", role="img", aria_label="; ".join(f"{_range(s)}: {_count(s)}" for s in shares))


def clients_markdown(shares: Sequence[Share]) -> str:
    most = max((share.clients or 0 for share in shares), default=0) or 1
    rows = [[_range(share), _count(share), f"`{bar(share.clients, most)}`" if share.clients else ""] for share in shares]
    return table(("a client's ε", "clients", ""), rows)


def _range(share: Share) -> str:
    return f"ε {at_most(share.high)}" if share.low == share.high else f"ε {at_most(share.low)} to {at_most(share.high)}"


def _count(share: Share) -> str:
    if share.clients is None:
        return "everybody else"
    return f"{share.clients:,} client{'' if share.clients == 1 else 's'}"
