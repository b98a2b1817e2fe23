"""The options of commands that have many."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

from dpaudit.claims import OBSERVERS

NAMES = "laplace, gaussian, randomized-response, kary-response"  # for people; what is known stands in dpaudit.noise.registry

TRACEBACK = "when the subject raises, show where in full (for data that the audit makes up)"


def mechanism_name(text: str) -> str:
    """The name of a mechanism without a failure of its own; they are loaded only when one is asked for."""
    from dpaudit.noise import MECHANISMS

    known = [name for name, kind in MECHANISMS.items() if not kind.fails]
    if text not in known:
        raise ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, known))})")
    return text


def add_algorithm_options(command: ArgumentParser, calibration: bool = True) -> None:
    command.add_argument("--epsilon", help="ε of the claim, exact: 1, 0.1, 1/2")
    command.add_argument("--delta", help="δ of the claim, exact: 0, 1e-6")
    command.add_argument("--horizon", metavar="T", help="number of rounds")
    command.add_argument("--actions", metavar="K", help="number of actions (default 10)")
    command.add_argument("--dim", metavar="d", help="dimension (default 2; 1: the actions +1 and -1)")
    if calibration:
        command.add_argument(
            "--calibration",
            choices=("printed", "corrected", "tight", "optimistic"),
            help="noise and widths (default: the algorithm's best)",
        )
    command.set_defaults(calibration=None)


def add_peers_options(command: ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER|releases.jsonl", nargs="?")
    command.add_argument("--mechanism", metavar="NAME", type=mechanism_name, help=f"instead of a ledger: {NAMES}")
    command.add_argument("--scale", help="of laplace noise")
    command.add_argument("--sigma", help="of gaussian noise")
    command.add_argument("--epsilon", help="of randomised response, per answer")
    command.add_argument("--k", help="how many answers there are, of kary-response")
    command.add_argument("--sensitivity", help="how far one record moves the query (default 1)")
    command.add_argument("--count", metavar="K", help="number of releases about the same records (default 1)")
    command.add_argument("--sampling", metavar="Q", help="rate of the fresh Poisson sample that each release is computed from")
    command.add_argument("--delta", help="δ to account at (default 1e-6)")
    _examples(
        command,
        "dpaudit peers today.ledger --delta 1e-6",
        "dpaudit peers --mechanism laplace --scale 10 --count 100",
        "dpaudit peers --mechanism gaussian --sigma 10 --count 10000",
        "dpaudit peers --mechanism gaussian --sigma 1.5 --sampling 0.04 --count 2250 --delta 1e-5",
    )


def add_calibrate_options(command: ArgumentParser) -> None:
    command.add_argument("--mechanism", metavar="NAME", type=mechanism_name, help=f"{NAMES}; with --shuffled laplace by default")
    command.add_argument("--epsilon", help="ε to keep, exact: 1, 0.1, 1/2")
    command.add_argument("--delta", help="δ to keep (default 0)")
    command.add_argument("--sensitivity", help="how far one record moves the query (default 1): L1, or L2 for gaussian")
    command.add_argument("--count", metavar="K", help="number of releases about the same records (default 1)")
    command.add_argument("--sampling", metavar="Q", help="rate of the fresh Poisson sample that each release is computed from")
    command.add_argument("--shuffled", action="store_true", help="noise of one report among n that a shuffler mixes")
    command.add_argument("--n", help="number of honest shuffled reports")
    command.add_argument("--range", help="length of the interval that a report's value lies in (default 2: [-1, 1])")
    command.add_argument("--grid", help="grid of the noise (default 2^-20)")
    command.add_argument("--k", help="how many answers there are, for kary-response")
    command.add_argument(
        "--method",
        choices=("pure", "zcdp", "exact", "numerical", "laplace", "krr", "unary", "oue", "same", "clone", "closed", "none"),
        help="rule to use; the last six with --shuffled (default: the best that holds)",
    )
    _examples(
        command,
        "dpaudit calibrate --mechanism laplace --epsilon 1 --sensitivity 2",
        "dpaudit calibrate --mechanism gaussian --epsilon 1 --delta 1e-6 --count 100",
        "dpaudit calibrate --mechanism gaussian --epsilon 3 --delta 1e-5 --sampling 0.01 --count 1000",
        "dpaudit calibrate --shuffled --n 10000 --epsilon 1 --delta 1e-6",
    )


CHECK = """in pyproject.toml; target, epsilon and delta are needed, the rest has defaults:

  [tool.dpaudit.budgets.recommender]
  subject = "service/policy.py:rank"   # or ledger = "runs/today.ledger", or a registered algorithm with its horizon
  epsilon = "1/2"
  delta = "1e-6"
  require = "certified"                # or "not-refuted", for black boxes
  observer, neighbours, unit, horizon, samples, timeout (seconds), calibration, actions, dim

  [[tool.dpaudit.waive]]               # one finding, by the fingerprint that stands beside it
  rule, fingerprint, reason, owner, expires = 2027-01-31

  [tool.dpaudit]
  baseline, trusted_keys, revoked_keys, waiver_days, seed, timeout

without --format: text; under GitHub Actions github, with the job's summary. --also sarif=dpaudit.sarif for code scanning
exit code: 0 all hold, 1 violated, 2 not checked, 3 unproven, 5 nothing to check; the worst in the order 2, 1, 3, 5, 0"""


def add_check_options(command: ArgumentParser) -> None:
    command.set_defaults(format=None)
    command.add_argument(
        "--against",
        metavar="REF",
        help="a commit or branch: what the policy asks less than there is a finding that fails (DPA009)",
    )
    command.add_argument("--write-baseline", action="store_true", help="write what every budget costs now to the baseline's file")
    command.add_argument("--also", metavar="FORMAT=FILE", action="append", default=[], help="write this too; may be repeated")
    command.formatter_class = RawDescriptionHelpFormatter
    command.epilog = CHECK


def add_compare_options(command: ArgumentParser) -> None:
    command.add_argument("ledgers", metavar="LEDGER|releases.jsonl", nargs="*", help="two or more")
    command.add_argument("--fixed", action="store_true", help="all noise was fixed in advance, as in dpaudit account")
    command.add_argument(
        "--calibrations", metavar="NAME", nargs="+", help="registered algorithms, each in all of its calibrations"
    )
    command.add_argument(
        "--table1", action="store_true",
        help="the systems of the paper's Table 1: certified ε, attacked ε, verdict and regret (ε=1, T=10^6 by default)",
    )  # fmt: skip
    add_algorithm_options(command, calibration=False)
    command.add_argument("--contexts", help="with --table1: regret where one of so many sets of actions is drawn in each round")
    command.add_argument("--instances", help="random instances that the regret is the mean of (default 100)")
    command.add_argument("--seed", help="of the simulated runs (default 1)")
    _examples(
        command,
        "dpaudit compare yesterday.ledger today.ledger",
        "dpaudit compare --calibrations central local --epsilon 1 --horizon 10000",
        "dpaudit compare --table1 --format html --output table1.html",
        "dpaudit compare --table1 --format png --output table1.png",
    )


def add_certify_options(command: ArgumentParser) -> None:
    command.add_argument("target", metavar="LEDGER|TARGET", help="a deployment's ledger, file.py:name, or a registered algorithm")
    command.add_argument("-o", dest="certificate", metavar="FILE", required=True, help="the certificate; never overwritten")
    command.add_argument("--key", required=True, help="private key from dpaudit keygen")
    command.add_argument("--subject", metavar="TARGET", help="the code that wrote the LEDGER: audited too, and held beside it")
    command.add_argument("--ledger", help="sign it for this ledger, or database, alone: no other one is opened with it")
    add_algorithm_options(command)
    command.add_argument("--observer", choices=OBSERVERS, help="who looks (default: the claim's)")
    command.add_argument("--samples", help="runs per side of the game, as in dpaudit audit")
    command.add_argument("--seed", help="of the audit; drawn and written down otherwise")
    command.add_argument("--traceback", action="store_true", help=TRACEBACK)
    command.add_argument("--evidence", metavar="FILE", help="what dpaudit claims stored; it must agree with what is decided anew")
    _examples(
        command,
        "dpaudit certify service/policy.py:rank -o cert.json --key auditor",
        "dpaudit certify today.ledger -o cert.json --key auditor",
        "dpaudit certify today.ledger --subject central --epsilon 1 --horizon 10000 -o cert.json --key auditor",
    )


def add_verify_options(command: ArgumentParser) -> None:
    command.add_argument("target", metavar="CERTIFICATE|LEDGER")
    command.add_argument(
        "--key",
        metavar="PUB",
        help="trusted public key (default for certificates: [tool.dpaudit] trusted_keys); a private one makes a snapshot",
    )
    command.add_argument("--checkpoint", metavar="FILE", help="of a ledger, which must continue it")
    _add_snapshot(command)
    command.add_argument("--ledger", metavar="FILE", help="hold this ledger beside the certificate")
    command.add_argument("--source", metavar="PATH", help="hold this file or folder of code beside the certificate")
    command.add_argument("--registry", metavar="FILE", help="write a draft in the fields of the OpenDP deployments registry")
    _examples(
        command,
        "dpaudit verify cert.json --key auditor.pub --ledger today.ledger --source service/policy.py",
        "dpaudit verify today.ledger --checkpoint checkpoint.json --key auditor.pub",
    )


def _add_snapshot(command: ArgumentParser) -> None:
    told = "of a ledger, signed by --key: only entries after it are read; made or renewed where --key is private"
    command.add_argument("--snapshot", metavar="FILE", help=told)


def _examples(command: ArgumentParser, *lines: str) -> None:
    command.formatter_class = RawDescriptionHelpFormatter
    command.epilog = "\n".join(["examples:", *[f"  {line}" for line in lines]])


def add_account_options(command: ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER|releases.jsonl")
    command.add_argument("--epsilon", help="budget: exit 1 when it is exceeded; with --delta, also δ at this ε")
    command.add_argument("--delta", help="δ to account at (default: the ledger's budget, 0 if all is pure, else 1e-6)")
    command.add_argument(
        "--fixed",
        action="store_true",
        help="every noise scale, sensitivity and cohort was fixed in advance (queries may be adaptive): compose numerically",
    )
    command.add_argument("--odometer", action="store_true", help="also the running ε that holds whenever one stops")
    command.add_argument(
        "--trade-off", action="store_true", help="also the largest true positive rate of any test at some false positive rates"
    )
    command.add_argument("--renyi", action="store_true", help="also Rényi divergences at some orders; μ where all is Gaussian")
    command.add_argument("--group", metavar="K", help="also what any K records cost together")
    _add_snapshot(command)
    command.add_argument("--key", metavar="KEY", help="that signed the snapshot; a private key makes and renews it")


def add_audit_options(command: ArgumentParser) -> None:
    command.add_argument("target", metavar="TARGET", help="file.py[:name], module:name, or a registered algorithm")
    add_algorithm_options(command)
    command.add_argument("--observer", choices=OBSERVERS, help="who looks (default: the claim's)")
    command.add_argument("--confidence", default=0.95, help="of the shown lower bound (default 0.95); refutation needs 1-1e-6")
    command.add_argument("--samples", help="runs per side of the game (default 100000 with trials, else 10000)")
    command.add_argument("--seed", help="makes the audit repeatable; drawn and printed otherwise")
    command.add_argument("--time", metavar="T", help="end the audit after this long, as 60s, 2m or seconds (default: no limit)")
    command.add_argument("--sequential", action="store_true", help="stop at the first run that refutes the claim (e-process)")
    command.add_argument("--workers", metavar="N", help="processes for the runs (default: one for each core)")
    command.add_argument("--scheduler", metavar="URL", help="run on this dask.distributed scheduler, as tcp://host:8786")
    command.add_argument("--traceback", action="store_true", help=TRACEBACK)
    command.add_argument("--witness", metavar="FILE", help="when refuted, write the witness there")
    command.add_argument(
        "--replay", metavar="WITNESS", help="check this witness (or the JSON of an audit) again, and nothing else"
    )


def add_canaries_options(command: ArgumentParser) -> None:
    command.add_argument(
        "scores", metavar="scores.csv", nargs="+", help="columns included (0 or 1) and score; one file per training"
    )
    command.add_argument("--delta", required=True, help="δ of the bound, exact: 1e-5")
    command.add_argument("--epsilon", help="the claim: exit 1 when it is refuted, 3 when it is not")
    command.add_argument("--curve", metavar="LEDGER", help="what the training released: its whole curve δ(ε) is tested")
    command.add_argument("--confidence", default="0.95", help="of the bound, and of a refutation (default 0.95)")
    command.add_argument("--checks", metavar="FILE", help="results of dpaudit.training.watched: shown, and exit 1 if one failed")
    _examples(
        command,
        "dpaudit canaries scores.csv --delta 1e-5",
        "dpaudit canaries scores.csv --delta 1e-5 --curve training.ledger --checks checks.json --format html --output page.html",
        "dpaudit canaries monday.csv tuesday.csv --delta 1e-5 --epsilon 8 --curve training.ledger",
    )


def add_shuffle_options(command: ArgumentParser, epsilon: str, method: str) -> None:
    own = "; --method channel reads it from the matrix" if epsilon == "epsilon0" else ""
    command.add_argument(f"--{epsilon}", required=epsilon == "epsilon", help="exact: 0.1, 1/2, 1e-6" + own)
    command.add_argument("--n", required=True, help="number of honest reports")
    command.add_argument("--delta", required=True, help="failure probability, exact: 1e-6")
    command.add_argument(
        "--method",
        choices=("closed", "clone", "laplace", "same", "krr", "unary", "oue", *(["channel"] if epsilon == "epsilon0" else [])),
        help="closed: the paper's formula; clone: exact for any randomisers, also adaptive ones; same: one randomiser for all "
        "reports, none depends on another; laplace: for Laplace reports; krr: randomised response on --k categories; unary, oue: "
        f"RAPPOR and optimised unary encoding{'; channel: the matrix in --channel' if epsilon == 'epsilon0' else ''} "
        f"(default {method})",
    )
    command.add_argument("--k", help="number of categories, for --method krr")


def add_claims_options(command: ArgumentParser) -> None:
    command.add_argument("ids", metavar="ID", nargs="*", help="a claim (thm1.privacy) or a group of them (thm1)")
    command.add_argument("--quick", action="store_true", help="fewer points: seconds instead of minutes")
    command.add_argument("--paper", metavar="NAME", help="the claims of one paper: bandits, optimistic, sparse-vector or another")
    command.add_argument(
        "--stored",
        metavar="FILE",
        help="compute nothing: show the evidence in FILE, which `dpaudit claims --format json --output FILE` wrote, "
        "name the claims whose code has changed since (stale), and print the command that renews it",
    )


def add_new_paper_options(command: ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="of the paper and of its folder: small letters, digits and hyphens")
    command.add_argument("--folder", metavar="DIR", default=".", help="where its folder is made (default here)")
    _examples(command, "dpaudit new-paper my-paper", "pip install -e my-paper && dpaudit claims --paper my-paper")


def add_demo_options(command: ArgumentParser) -> None:
    command.add_argument("--seed", help="seed of the whole demo (default 1)")


def add_run_options(command: ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="a registered algorithm: central, local, shuffled, …")
    add_algorithm_options(command)
    command.add_argument("--ledger", metavar="FILE", help="record every release there")
    command.add_argument("--seed", help="simulate from this seed instead")
    command.add_argument("--scheduler", metavar="URL", help="with --seed: long batches of reports are drawn on this scheduler")


def add_amplify_options(command: ArgumentParser) -> None:
    add_shuffle_options(command, "epsilon0", "clone")
    command.add_argument(
        "--channel",
        metavar="FILE",
        help='for --method channel: JSON, one row of probabilities per value, as numbers or exact texts: [["1/4", "3/4"], …]',
    )


def add_invert_options(command: ArgumentParser) -> None:
    add_shuffle_options(command, "epsilon", "closed")
    command.add_argument("--digits", default="50", help="digits of the closed form's inverse (default 50)")
