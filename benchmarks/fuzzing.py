"""Bad input: files with edited bytes for every reader, and command lines put together from good and bad parts.

The suite runs a few hundred, ``python -m benchmarks.soak fuzz`` 20,000. Whatever comes in, a reader answers or raises one of
dpaudit's own errors, and a command ends with one of the documented exit codes and without a traceback.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import strategies as st

from algorithms.online import OnlineBandit
from dpaudit import cli
from dpaudit.accountants import account
from dpaudit.channel import simulate
from dpaudit.claims import DpauditError
from dpaudit.ledger import (
    Charge,
    Cohort,
    Release,
    canonical,
    checkpoint,
    export_jsonl,
    import_jsonl,
    load_file,
    load_releases,
    loads,
    open_ledger,
    verify,
    verify_checkpoint,
)

EXIT_CODES = (0, 1, 2, 3, 5)
SUBJECTS = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=5, low=-1, high=1))
def noisy(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=5, low=-1, high=1))
def broken(rewards, channel):
    raise ValueError("on purpose")
"""
HANDWRITTEN = b"""{"mechanism": "laplace", "scale": "2", "sensitivity": "2", "cohort": [[0, 10]]}
{"name": "bit", "mechanism": "randomized-response", "epsilon": "1/2", "to": "shuffled", "n": 1000, "delta": "1e-6"}
{"mechanism": "gaussian", "sigma": 5, "sensitivity": 1, "grid": "1/1024", "theorem": "none"}
"""

# --- files ---


def prepare(folder: Path) -> dict[str, bytes]:
    """One good file of each kind, by its name in the folder."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    with open_ledger(folder / "a.ledger", budget=("9", "1e-6")) as ledger:
        for i in range(3):
            ledger.append(_a_release(i), key=f"key {i}")
        with ledger.charge(_a_release(3).charge()) as slot:
            slot.store(_a_release(3).with_values(np.arange(100)))
        ledger.charge(Charge(Fraction(1, 2), Fraction(0), Cohort.of("somebody")))
        export_jsonl(ledger, folder / "a.jsonl")
        (folder / "mark.json").write_bytes(canonical(checkpoint(ledger, key)))
    (folder / "releases.jsonl").write_bytes(HANDWRITTEN)
    (folder / "subjects.py").write_text(SUBJECTS)
    with simulate(1) as channel:
        OnlineBandit("central", epsilon="1", horizon=100, actions=(3, 2), channel=channel, state=folder / "state.json")
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _a_release(i: int) -> Release:
    values: Any = [i, -i]
    return Release(
        f"release {i}", "laplace", Fraction(2), {"scale": "2"}, epsilon=Fraction(1), cohort=Cohort.of(range(i)), values=values
    )


def read_ledger(path: Path, marked: dict[str, Any]) -> None:
    """Every way in which a file is taken for a ledger; a later one is tried although an earlier one has refused."""
    copy = path.with_name("imported.ledger")
    ways: list[Callable[[], Any]] = [
        lambda: verify(path, marked),
        lambda: account(load_releases(path)),
        lambda: import_jsonl(path, copy).close(),
        lambda: open_ledger(path).close(),
    ]
    try:
        for way in ways:
            with contextlib.suppress(DpauditError):
                way()
    finally:
        for name in (copy.name, *(path.name + end for end in ("-wal", "-shm"))):
            path.with_name(name).unlink(missing_ok=True)


def read_mark(path: Path, marked: dict[str, Any]) -> None:
    data = load_file(path)
    if isinstance(data, dict):
        verify_checkpoint(data)


def read_state(path: Path, marked: dict[str, Any]) -> None:
    with simulate(1) as channel:
        OnlineBandit.load(path, channel=channel)


READERS: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "a.ledger": read_ledger,
    "a.jsonl": read_ledger,
    "releases.jsonl": lambda path, marked: account(load_releases(path)) and None,
    "mark.json": read_mark,
    "state.json": read_state,
}


def read_fuzzed(name: str, data: bytes, folder: Path, marked: dict[str, Any]) -> bool:
    """Put the bytes in a file and read it: True if it was read, False if it was refused. Anything else is a bug."""
    path = folder / f"fuzzed-{name}"
    path.write_bytes(data)
    try:
        READERS[name](path, marked)
        return True
    except DpauditError:
        return False


NASTY = [
    b"NaN",
    b"1e999",
    b"-1",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"1e400",
    b"9" * 30,
    b"\\ud800",
    b"\xff",
    b"\x00",
    b"[" * 70,
    b"1/0",
]
_edit = st.tuples(
    st.sampled_from(["flip", "cut", "drop", "repeat", "insert", "replace"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 40),
    st.sampled_from(NASTY) | st.binary(min_size=1, max_size=8),
)


def edited(data: bytes) -> st.SearchStrategy[bytes]:
    """The same bytes with one to three edits, or, rarely, something else altogether."""
    return st.lists(_edit, min_size=1, max_size=3).map(lambda edits: _apply(data, edits)) | st.binary(max_size=100)


def _apply(data: bytes, edits: list[tuple[str, float, int, bytes]]) -> bytes:
    for how, where, size, piece in edits:
        at = int(where * len(data))
        data = {
            "flip": data[:at] + bytes([(data[at] if data else 0) ^ (1 << size % 8)]) + data[at + 1 :],
            "cut": data[:at],
            "drop": data[:at] + data[at + size :],
            "repeat": data[: at + size] + data[at:],
            "insert": data[:at] + piece + data[at:],
            "replace": data[:at] + piece + data[at + len(piece) :],
        }[how]
    return data


json_texts = st.binary(max_size=60) | st.text(alphabet='{}[]",:\\u0123eE.-+ntfNaI \n', max_size=60).map(str.encode)


def read_json(data: bytes) -> bool:
    try:
        loads(data)
        return True
    except DpauditError:
        return False


# --- command lines ---

NUMBERS = ["1", "0.5", "1/3", "1e-6", "2", "10", "0.1"]
BAD_NUMBERS = [
    "", " ", "0", "-1", "nan", "inf", "-inf", "1e999", "1e-999", "1/0", "0/0", "1/-2", "0x10", "1_000", "1,5", "١",
    "true", "None", "1e4000", "1e99999", "9" * 400, "1e-4000", "--", "-", "'", "\udc80", "é", "$(id)", "1;2", "[1]", "1e", ".", "1.5.2", "1e6 ",
]  # fmt: skip
SMALL = ["3", "10", "50", "100"]  # horizons and counts that take no time
TARGETS = [
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
    "audit": ([TARGETS], ["--epsilon", "--delta", "--observer", "--confidence", "--seed"]),
    "amplify": ([], ["--epsilon0", "--n", "--delta", "--method"]),
    "invert": ([], ["--epsilon", "--n", "--delta", "--method", "--digits"]),
    "explain": ([["DPA001", "DPA008", "DPA999", "dpa003", ""]], []),
    "checkpoint": ([FILES], ["--key"]),
    "verify": ([FILES], ["--checkpoint", "--key"]),
    "demo": ([], ["--seed"]),
    "no-such-command": ([FILES], ["--epsilon"]),
}
_POOLS: dict[str, tuple[list[str], list[str]]] = {  # good and bad values of an option; numbers where nothing is said
    "--horizon": (SMALL, [*BAD_NUMBERS, "2", "1e30"]), "--actions": (["2", "4"], BAD_NUMBERS), "--dim": (["1", "2"], BAD_NUMBERS),
    "--n": ([*SMALL, "1000"], [*BAD_NUMBERS, "1e18"]), "--digits": (["20", "50"], BAD_NUMBERS),
    "--seed": (["1", "7"], BAD_NUMBERS), "--observer": (["server", "actions"], ["nobody", ""]), "--key": (["key", "key.pub"], FILES),
    "--checkpoint": (["mark.json"], FILES), "--confidence": (["0.9"], BAD_NUMBERS), **{name: (values, BAD_NUMBERS) for name, values in CHOICES.items()},
}  # fmt: skip


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with most of its options; about one value in four is bad, and now and then an argument is out of place."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    first, options = COMMANDS[command]
    words = [command, *(draw(st.sampled_from(choice)) for choice in first)]
    for option in (*options, "--format", "--output"):
        if draw(st.integers(0, 9)) < (8 if option in options else 2):
            words += [option, _value(draw, command, option)]
    if command == "audit":
        words += ["--samples", draw(st.sampled_from(["100", "200", "99", "nan", "-5"]))]
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(words)))
        words.insert(place, draw(st.sampled_from([*BAD_NUMBERS, "--no-such-option", "--help", "--version", "--epsilon"])))
    return words


def _value(draw: st.DrawFn, command: str, option: str) -> str:
    good, bad = (OUTPUTS, OUTPUTS) if option == "--output" else _POOLS.get(option, (NUMBERS, BAD_NUMBERS))
    if command == "demo":  # a good seed would run all of it
        return draw(st.sampled_from([text for text in bad if text not in ("0", "1e6 ")]))
    if draw(st.integers(0, 3)):
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
    elif "Traceback" in told.getvalue() or "internal error" in told.getvalue():
        problem = told.getvalue()
    elif code == 2 and not told.getvalue().startswith("dpaudit: "):
        problem = "nothing was said about the error"
    return code, problem
