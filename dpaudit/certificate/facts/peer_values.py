"""What other accountants say about the same releases, where they are installed; else that they are not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpaudit.accountants.peers.comparison import ask_peers
from dpaudit.accountants.peers.same_releases import of_worst_client, our_enclosure
from dpaudit.claims import InvalidValue, show
from dpaudit.ledger import Release


def peer_values(releases: Sequence[Release], delta: Fraction) -> dict[str, Any]:
    """At the claim's δ, for the client who pays most. No client is named."""
    try:
        same = of_worst_client(releases, delta)
        ours = our_enclosure(same, delta)
    except InvalidValue as error:
        return {"ours": None, "note": str(error), "values": []}
    figures, findings = ask_peers(same.parts, delta, ours, same.pure)
    values = [{name: value for name, value in figure.to_dict().items() if name != "seconds"} for figure in figures]
    return {
        "ours": {"lower": show(ours.lower), "upper": show(ours.upper), "method": ours.method},
        "note": "; ".join(finding.message for finding in findings), "values": values,
    }  # fmt: skip
