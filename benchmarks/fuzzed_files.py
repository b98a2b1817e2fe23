"""Bad files for every reader: edited bytes, values in the wrong place, forged ledgers whose hashes fit.

The suite reads a few hundred, ``python -m benchmarks.soak fuzz`` thousands. Whatever comes in, a reader answers or raises one of
dpaudit's own errors.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import strategies as st

from algorithms.online.bandit import OnlineBandit
from dpaudit.accountants import account
from dpaudit.claims import DpauditError
from dpaudit.deployment import simulate
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
from dpaudit.ledger.store.sqlite import create
from dpaudit.ledger.store.sqlite.head_file import head_path, make_head_file
from dpaudit.noise import written_forms

SUBJECTS = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=5, low=-1, high=1))
def noisy(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=5, low=-1, high=1))
def broken(rewards, channel):
    raise ValueError("on purpose")
"""
Mark = dict[str, Any] | None
HANDWRITTEN = b"""{"mechanism": "laplace", "scale": "2", "sensitivity": "2", "cohort": [[0, 10]]}
{"name": "bit", "mechanism": "randomized-response", "epsilon": "1/2", "to": "shuffled", "n": 1000, "delta": "1e-6"}
{"mechanism": "gaussian", "sigma": 5, "sensitivity": 1, "grid": "1/1024", "theorem": "none"}
"""


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
    (folder / "empty").write_bytes(b"")
    (folder / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / "key.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (folder / "subjects.py").write_text(SUBJECTS)
    with simulate(1) as channel:
        OnlineBandit("central", epsilon="1", horizon=100, actions=(3, 2), channel=channel, state=folder / "state.json")
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _a_release(i: int) -> Release:
    values: Any = [i, -i]
    return Release(
        f"release {i}", "laplace", Fraction(2), {"scale": "2"}, epsilon=Fraction(1), cohort=Cohort.of(range(i)), values=values
    )


def read_ledger(path: Path, marked: Mark) -> None:
    """Every way in which a file is taken for a ledger; all are tried, and the last refusal is raised."""
    copied = path.with_name("imported.ledger")
    ways: list[Callable[[], Any]] = [
        lambda: open_ledger(path).close(),
        lambda: import_jsonl(path, copied).close(),
        lambda: account(load_releases(path, written_forms())),
        lambda: verify(path, marked),
    ]
    refusals = []
    _without_heads(path, copied)
    make_head_file(head_path(path))  # one that says nothing: what is fuzzed is the ledger
    for way in ways:
        try:
            way()
        except DpauditError as error:
            refusals.append(error)
    for name in (copied.name, *(path.name + end for end in ("-wal", "-shm"))):
        path.with_name(name).unlink(missing_ok=True)
    _without_heads(path, copied)
    if len(refusals) > 1:  # an export cannot be opened for writing, nor a ledger imported
        raise refusals[-1]


def _without_heads(*ledgers: Path) -> None:
    for ledger in ledgers:
        head_path(ledger).unlink(missing_ok=True)


def read_mark(path: Path, marked: Mark) -> None:
    data = load_file(path)
    if isinstance(data, dict):
        verify_checkpoint(data)


def read_state(path: Path, marked: Mark) -> None:
    with simulate(1) as channel:
        OnlineBandit.load(path, channel=channel)


READERS: dict[str, Callable[[Path, Mark], None]] = {
    "a.ledger": read_ledger,
    "a.jsonl": read_ledger,
    "releases.jsonl": lambda path, marked: account(load_releases(path, written_forms())) and None,
    "mark.json": read_mark,
    "state.json": read_state,
}


def read_fuzzed(name: str, data: bytes, folder: Path, marked: Mark) -> bool:
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


# Values that are JSON, in a place where they may make no sense.
VALUES: list[Any] = [
    None, True, 0, -1, 1, 2**63, 10**40, 0.5, 1e300, "", "0", "-1", "1/2", "1/0", "nan", "1e-6", "1e999",
    "1e4000", "9" * 5000, "x", "é", "shuffled", "gaussian", [], {}, [[]], [[0, 1]], [[1, 0]], [[0, 2**63]], [None], {"": None},
    {"ids": ["a"], "intervals": []}, {"ids": [1]},
]  # fmt: skip
_values = st.sampled_from(VALUES) | st.integers() | st.text(max_size=5)


@st.composite
def other_leaves(draw: st.DrawFn, lines: list[Any]) -> list[Any]:
    """The same documents with one to three values replaced by others, removed, or added under another name."""
    changed = copy.deepcopy(lines)
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        place: Any = draw(st.sampled_from(changed))
        while isinstance(place, dict | list) and place:
            keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or draw(_one_in(4)):
                how = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
                if how == "remove":
                    del place[key]
                else:
                    place["other" if how == "add" and isinstance(place, dict) else key] = copy.deepcopy(draw(_values))
                break
            place = inner
    return changed


def _one_in(n: int) -> st.SearchStrategy[bool]:
    return st.sampled_from([True] + [False] * (n - 1))


DOCUMENTS = ("releases.jsonl", "mark.json", "state.json", "forged.ledger")


def documents(good: dict[str, bytes], name: str) -> list[Any]:
    """The JSON values of a good file, one per line; for a forged ledger, all entries but the head."""
    lines = good["a.jsonl" if name == "forged.ledger" else name].splitlines()
    return [json.loads(line) for line in (lines[:-1] if name == "forged.ledger" else lines)]


def read_documents(name: str, lines: list[Any], folder: Path, marked: Mark) -> bool:
    """As ``read_fuzzed``. A forged ledger is one of these entries whose hashes fit: what a forger without the key could write."""
    if name != "forged.ledger":
        return read_fuzzed(name, b"\n".join(canonical(line) for line in lines), folder, marked)
    path = folder / name
    path.unlink(missing_ok=True)
    _without_heads(path)
    create(path, [canonical(line) for line in lines])
    try:
        read_ledger(path, None)
        return True
    except DpauditError:
        return False


json_texts = st.binary(max_size=60) | st.text(alphabet='{}[]",:\\u0123eE.-+ntfNaI \n', max_size=60).map(str.encode)


def read_json(data: bytes) -> bool:
    try:
        loads(data)
        return True
    except DpauditError:
        return False
