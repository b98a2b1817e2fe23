"""Command lines put together from good and bad parts; numbers are small where a good one would be worked on.

The suite runs a few hundred, ``python -m benchmarks.soak fuzz`` thousands. Each ends with one of the documented exit codes, a
refusal says something, and there is no traceback.
"""

from __future__ import annotations

import contextlib
import io

from hypothesis import strategies as st

from dpaudit import cli

EXIT_CODES = (0, 1, 2, 3, 5)
NUMBERS = ["1", "0.5", "1/3", "1e-6", "2", "10", "0.1"]
BAD_NUMBERS = [
    "", " ", "0", "-1", "nan", "inf", "-inf", "1e999", "1e-999", "1/0", "0/0", "1/-2", "0x10", "1_000", "1,5", "١",
    "true", "None", "1e4000", "1e99999", "9" * 400,
    "1e-4000", "--", "-", "'", "\udc80", "é", "$(id)", "1;2", "[1]", "1e", ".", "1.5.2", "1e6 ",
]  # fmt: skip
SMALL = ["3", "10", "50", "100"]  # horizons and counts that take no time
TARGETS = [
    *["subjects.py:noisy"] * 3,
    "subjects.py",
    "subjects.py:noisy",
    "subjects.py:broken",
    "subjects.py:none",
    "missing.py",
    "json:loads",
    "no.such:name",
    "central",
    "",
]
FILES = [
    *["a.ledger"] * 3,
    *["a.jsonl"] * 2,
    *["releases.jsonl"] * 3,
    "a.ledger",
    "a.jsonl",
    "releases.jsonl",
    "mark.json",
    "state.json",
    "subjects.py",
    "fuzzed-a.ledger",
    "missing",
    ".",
    "empty",
    "",
    "x" * 300,
]
OUTPUTS = ["out.txt", ".", "no/such/folder/out", "", "x" * 300, "\udc80"]
CHOICES = {
    "--format": ["text", "json", "xml"],
    "--calibration": ["printed", "corrected", "tight", "wrong"],
    "--method": ["closed", "clone", "laplace", "no"],
}
ALGORITHM = ["--epsilon", "--delta", "--horizon", "--actions", "--dim", "--calibration"]
COMMANDS: dict[str, tuple[list[list[str]], list[str]]] = {  # what comes first, and the options
    "run": ([["central", "local", "shuffled", "nonprivate", "central-nocore", "no-such", ""]], [*ALGORITHM, "--seed"]),
    "account": ([FILES], ["--epsilon", "--delta"]),
    "audit": ([TARGETS], ["--observer", "--confidence", "--seed", "--delta"]),
    "amplify": ([], ["--epsilon0", "--n", "--delta", "--method"]),
    "invert": ([], ["--epsilon", "--n", "--delta", "--method", "--digits"]),
    "explain": ([["DPA001", "DPA008", "DPA999", "dpa003", ""]], []),
    "checkpoint": ([FILES], ["--key"]),
    "verify": ([FILES], ["--checkpoint", "--key"]),
    "demo": ([], []),
    "no-such-command": ([FILES], ["--epsilon"]),
}
OPTIONAL = frozenset(
    {"--method", "--digits", "--observer", "--confidence", "--checkpoint", "--key", "--calibration", "--dim"}
)  # seldom given
_POOLS: dict[str, tuple[list[str], list[str]]] = {  # good and bad values of an option; numbers where nothing is said
    "--horizon": (SMALL, [*BAD_NUMBERS, "2", "1e30"]),
    "--delta": (["1e-6", "0", "0.01"], BAD_NUMBERS),
    "--actions": (["2", "4"], BAD_NUMBERS),
    "--dim": (["1", "2"], BAD_NUMBERS),
    "--n": ([*SMALL, "1000"], [*BAD_NUMBERS, "1e18"]),
    "--digits": (["20", "50"], BAD_NUMBERS),
    "--seed": (["1", "7"], BAD_NUMBERS),
    "--observer": (["server", "actions"], ["nobody", ""]),
    "--key": (["key", "key.pub"], FILES),
    "--checkpoint": (["mark.json"], FILES),
    "--confidence": (["0.9"], BAD_NUMBERS),
    **{name: (values, BAD_NUMBERS) for name, values in CHOICES.items()},
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with most of its options; one value in eight is bad, and now and then an argument is out of place."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    first, options = COMMANDS[command]
    words = [command, *(draw(st.sampled_from(choice)) for choice in first)]
    for option in options:
        if draw(_one_in(8)) is (option in OPTIONAL):
            words += [option, _value(draw, option)]
    for option in ("--format", "--output"):
        if draw(_one_in(4)):
            words += [option, _value(draw, option)]
    if command == "audit":
        words += ["--samples", draw(st.sampled_from(["100", "100", "200", "99", "nan"]))]
    if command == "demo":  # with a good seed, or none, it would run all of it
        words += ["--seed", draw(st.sampled_from(["", "-1", "nan", "1/2", "x", "\udc80"]))]
    if draw(_one_in(10)):
        place = draw(st.integers(1, len(words)))
        words.insert(place, draw(st.sampled_from([*BAD_NUMBERS, "--no-such-option", "--help", "--version", "--epsilon"])))
    return words


def _one_in(n: int) -> st.SearchStrategy[bool]:
    return st.sampled_from([True] + [False] * (n - 1))


def _value(draw: st.DrawFn, option: str) -> str:
    good, bad = (OUTPUTS, OUTPUTS) if option == "--output" else _POOLS.get(option, (NUMBERS, BAD_NUMBERS))
    if not draw(_one_in(8)):
        return draw(st.sampled_from(good))
    return draw(st.sampled_from(bad) | st.text(st.characters(blacklist_characters="\0", codec="utf-8"), max_size=8))


def run_command_line(words: list[str]) -> tuple[int, str]:
    """Run it here; exit code and what is wrong with it, if anything."""
    said, told = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            code = cli.main(words)
    except SystemExit as ended:  # --help and --version
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else -1
    problem = ""
    if code not in EXIT_CODES:
        problem = f"exit code {code}"
    elif any(sign in told.getvalue() for sign in ("Traceback", "internal error", "not enough memory")):
        problem = told.getvalue()
    elif code == 2 and not told.getvalue().startswith("dpaudit: "):
        problem = "nothing was said about the error"
    return code, problem
