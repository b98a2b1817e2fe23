"""The options of commands that have many."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

MECHANISMS = ("laplace", "gaussian", "randomized-response")


def add_algorithm_options(command: ArgumentParser, calibration: bool = True) -> None:
    command.add_argument("--epsilon", help="ε of the claim, exact: 1, 0.1, 1/2")
    command.add_argument("--delta", help="δ of the claim, exact: 0, 1e-6")
    command.add_argument("--horizon", metavar="T", help="number of rounds")
    command.add_argument("--actions", metavar="K", help="number of actions (default 10)")
    command.add_argument("--dim", metavar="d", help="dimension (default 2; 1: the actions +1 and -1)")
    if calibration:
        command.add_argument("--calibration", choices=("printed", "corrected", "tight"), help="noise and widths (default tight)")
    command.set_defaults(calibration=None)


def add_peers_options(command: ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER|releases.jsonl", nargs="?")
    command.add_argument("--mechanism", choices=MECHANISMS, help="instead of a ledger")
    command.add_argument("--scale", help="of laplace noise")
    command.add_argument("--sigma", help="of gaussian noise")
    command.add_argument("--epsilon", help="of randomised response, per bit")
    command.add_argument("--sensitivity", help="how far one record moves the query (default 1)")
    command.add_argument("--count", metavar="K", help="number of releases about the same records (default 1)")
    command.add_argument("--delta", help="δ to account at (default 1e-6)")
    _examples(
        command,
        "dpaudit peers today.ledger --delta 1e-6",
        "dpaudit peers --mechanism laplace --scale 10 --count 100",
        "dpaudit peers --mechanism gaussian --sigma 10 --count 10000",
    )


def add_calibrate_options(command: ArgumentParser) -> None:
    command.add_argument("--mechanism", choices=MECHANISMS, help="with --shuffled: laplace")
    command.add_argument("--epsilon", help="ε to keep, exact: 1, 0.1, 1/2")
    command.add_argument("--delta", help="δ to keep (default 0)")
    command.add_argument("--sensitivity", help="how far one record moves the query (default 1): L1, or L2 for gaussian")
    command.add_argument("--count", metavar="K", help="number of releases about the same records (default 1)")
    command.add_argument("--shuffled", action="store_true", help="noise of one report among n that a shuffler mixes")
    command.add_argument("--n", help="number of honest shuffled reports")
    command.add_argument("--range", help="length of the interval that a report's value lies in (default 2: [-1, 1])")
    command.add_argument("--grid", help="grid of the noise (default 2^-20)")
    command.add_argument(
        "--method",
        choices=("pure", "zcdp", "exact", "numerical", "laplace", "clone", "closed", "none"),
        help="rule to use; the last four with --shuffled (default: the best that holds)",
    )
    _examples(
        command,
        "dpaudit calibrate --mechanism laplace --epsilon 1 --sensitivity 2",
        "dpaudit calibrate --mechanism gaussian --epsilon 1 --delta 1e-6 --count 100",
        "dpaudit calibrate --shuffled --n 10000 --epsilon 1 --delta 1e-6",
    )


def add_compare_options(command: ArgumentParser) -> None:
    command.add_argument("ledgers", metavar="LEDGER|releases.jsonl", nargs="*", help="two or more")
    command.add_argument("--fixed", action="store_true", help="all noise was fixed in advance, as in dpaudit account")
    command.add_argument("--calibrations", metavar="NAME", nargs="+", help="registered algorithms: printed, corrected and tight")
    add_algorithm_options(command, calibration=False)
    command.add_argument("--instances", help="random instances that the regret is the mean of (default 100)")
    command.add_argument("--seed", help="of the simulated runs (default 1)")
    _examples(
        command,
        "dpaudit compare yesterday.ledger today.ledger",
        "dpaudit compare --calibrations central local --epsilon 1 --horizon 10000",
    )


def _examples(command: ArgumentParser, *lines: str) -> None:
    command.formatter_class = RawDescriptionHelpFormatter
    command.epilog = "\n".join(["examples:", *[f"  {line}" for line in lines]])
