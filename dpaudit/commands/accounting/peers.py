"""``dpaudit peers``."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

from dpaudit.claims import DpauditError, InvalidValue, exact_delta, positive, show, whole
from dpaudit.commands import HOLDS, Answer, Command, write_report
from dpaudit.commands.options import add_peers_options

if TYPE_CHECKING:
    from dpaudit.ledger import Release

DELTA = "1e-6"  # at δ = 0 the peers have little to say


def peers_command(options: argparse.Namespace) -> Answer:
    from dpaudit.accountants.peers.comparison import PEERS, ask_peers
    from dpaudit.accountants.peers.same_releases import of_worst_client, our_enclosure
    from dpaudit.report.content.comparisons import peers_report

    releases, count = _releases(options)
    delta = exact_delta(DELTA if options.delta is None else options.delta)
    same = of_worst_client(releases, delta, count)
    ours, pure = our_enclosure(same, delta), same.pure
    figures, findings = ask_peers(same.parts, delta, ours, pure)
    document = {
        "schema": "dpaudit.peers/1", "epsilon": {"lower": show(ours.lower), "upper": show(ours.upper)},
        "delta": show(delta), "pure": None if pure is None else show(pure), "method": ours.method, "releases": same.described,
        "peers": [figure.to_dict() for figure in figures], "findings": [finding.to_dict() for finding in findings],
        "cannot": {peer.name: {what: why for what, why in peer.cannot.items() if what in same.features} for peer in PEERS},
    }  # fmt: skip
    return HOLDS, write_report(options, peers_report(document))


def _releases(options: argparse.Namespace) -> tuple[list[Release], int]:
    """Releases from a file, or one release of a named mechanism and how often."""
    from dpaudit.accountants.sampling.constant_steps import join_steps
    from dpaudit.accountants.sampling.groups import read_rate
    from dpaudit.ledger import Release, load_releases
    from dpaudit.noise import MECHANISMS, written_forms

    if (options.ledger is None) == (options.mechanism is None):
        raise DpauditError("give a ledger or --mechanism, one of the two (see dpaudit peers --help)")
    named = {name: getattr(options, name) for name in ("scale", "sigma", "epsilon", "k", "sensitivity", "count", "sampling")}
    if options.ledger is not None:
        given = [name for name, value in named.items() if value is not None]
        if given:
            raise DpauditError(f"--{given[0]} goes with --mechanism")
        return join_steps(load_releases(options.ledger, written_forms()))[0], 1
    form = MECHANISMS[options.mechanism].forms[options.mechanism]
    needed = [*form.sizes, *form.counts]
    wrong = [name for name in ("scale", "sigma", "epsilon", "k") if name not in needed and named[name] is not None]
    if wrong or any(named[name] is None for name in needed):
        takes = " and ".join(f"--{name}" for name in needed)
        raise DpauditError(f"--mechanism {options.mechanism} takes {takes}" + (f", not --{wrong[0]}" if wrong else ""))
    count = whole("1" if named["count"] is None else named["count"], "count")
    if count > 10**12:
        raise InvalidValue("count", named["count"], "at most 10^12")
    return [Release(
        name=options.mechanism, mechanism=options.mechanism,
        sensitivity=Fraction(1) if named["sensitivity"] is None else positive(named["sensitivity"], "sensitivity"),
        parameters={name: show(positive(named[name], name)) for name in form.sizes}
        | {name: str(whole(named[name], name, least=least)) for name, least in form.counts.items()},
        sampling=None if named["sampling"] is None else show(read_rate(named["sampling"])),
    )], count  # fmt: skip


COMMANDS = (
    Command(
        "peers",
        "Opacus and dp-accounting on the same releases: value, time, agreement, what they cannot express",
        peers_command,
        add_peers_options,
    ),
)
