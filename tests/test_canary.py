"""Nothing private is written: recognisable rewards go through every algorithm and are looked for in all that is left.

Looked for: the reward and every true sum of rewards, as a decimal, a hexadecimal float, a fraction, a count of grid units, and
as 8 bytes of either order. A released value equals what it hides when its noise is zero: with Laplace noise of scale 20 on the
grid 2^-20 that has probability 2.4e-8 for each of fewer than 10^4 values, so an honest run fails here less than once in 4,000.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import signal
import struct
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

import dpaudit as dp
from algorithms.baselines.registry import SYSTEMS
from algorithms.online.bandit import OnlineBandit, client_report
from algorithms.rewards import SealedRewards, Sequence
from dpaudit import cli
from dpaudit.claims import show
from dpaudit.ledger import Ledger, Release, export_jsonl, export_parquet, load_releases
from dpaudit.subjects import Subject
from dpaudit.subjects.targets import make_algorithm, registered

pytestmark = pytest.mark.slow

UNITS = 771917
CANARY = UNITS / 2**20  # 0.7361574172973633
HORIZON = 1_000
ALGORITHMS = sorted(registered())
PRIVATE = [name for name in ALGORITHMS if name != "nonprivate" and name not in SYSTEMS]
BEHIND_THE_DOOR = [row.name for row in SYSTEMS.values() if row.model != "nonprivate"]


class Remembered:
    """Rewards that all equal the canary, and every sum that was asked of them."""

    low, high, exchangeable = -1.0, 1.0, False

    def __init__(self) -> None:
        self._rewards = Sequence(np.full(HORIZON, CANARY))
        self.sums: set[int] = {UNITS}

    def sum(self, rounds: Any, action: Any) -> Any:
        found = self._rewards.sum(rounds, action)
        self.sums.update(np.ravel(np.asarray(found) * 2**20).astype(int).tolist())
        return found

    def each(self, rounds: Any, action: Any) -> Any:
        return self._rewards.each(rounds, action)

    def at(self, index: Any) -> Remembered:
        return self


def found_in(data: bytes, units: set[int]) -> set[str]:
    """The forms in which one of the numbers is there."""
    forms: dict[str, list[bytes]] = {"decimal": [], "hexadecimal float": [], "fraction": [], "bytes": []}
    for unit in units - {0}:
        number = Fraction(unit, 2**20)
        value = float(number)
        forms["decimal"] += [show(number)[:14].encode()] if number.denominator > 1 else []
        forms["hexadecimal float"].append(value.hex().partition("p")[0].rstrip("0").encode())
        forms["fraction"] += [f"{number.numerator}{sep}{number.denominator}".encode() for sep in ("/", ", ")]
        forms["bytes"] += [struct.pack(order, x) for order, x in (("<d", value), (">d", value), ("<q", unit), (">q", unit))]
    forms["decimal"].append(f"{CANARY:g}".encode())
    seen = {form for form, needles in forms.items() if any(needle in data for needle in needles)}
    tokens = {int(token) for token in re.findall(rb"(?<![0-9.])[0-9]{1,18}(?![0-9.])", data)}
    return seen | ({"units"} if tokens & {abs(unit) for unit in units - {0}} else set())


def in_values(releases: list[Release], units: set[int]) -> bool:
    return any(release.values is not None and np.isin(release.values, list(units - {0})).any() for release in releases)


class Gathered:
    """Everything that a run leaves behind, as named bytes."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}
        self.releases: list[Release] = []

    def error(self, name: str, error: BaseException) -> None:
        text = "".join(traceback.format_exception(error)) + repr(error) + str(error) + repr(vars(error)) + repr(error.args)
        self.parts[name] = text.encode()

    def ledger(self, ledger: Ledger, path: Path) -> None:
        """File and log while it is open, both exports, and the releases as they are read back."""
        for file in sorted(path.parent.glob(path.name + "*")):
            self.parts[file.name] = file.read_bytes()
        export_jsonl(ledger, path.with_suffix(".jsonl"))
        export_parquet(ledger, path.with_suffix(".parquet"))
        for suffix in (".jsonl", ".parquet"):
            self.parts[f"export{suffix}"] = path.with_suffix(suffix).read_bytes()
        table = pyarrow.parquet.read_table(path.with_suffix(".parquet")).to_pylist()
        self.parts["rows of the parquet export"] = json.dumps(table).encode()
        self.releases = list(ledger.releases())

    def leaks(self, units: set[int]) -> dict[str, set[str]]:
        found = {name: found_in(data, units) for name, data in self.parts.items()}
        if in_values(self.releases, units):
            found["released values"] = {"units"}
        return {name: forms for name, forms in found.items() if forms}


@contextmanager
def listening(gathered: Gathered, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Standard output, standard error and every logger at its most talkative."""
    stream = io.StringIO()
    handler, root = logging.StreamHandler(stream), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    capfd.readouterr()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        said = capfd.readouterr()
        gathered.parts |= {"stdout": said.out.encode(), "stderr": said.err.encode(), "logs": stream.getvalue().encode()}


def commands_on(path: Path, gathered: Gathered, capfd: pytest.CaptureFixture[str]) -> None:
    """Reports about the ledger, as a person reads them and as a program does."""
    for command in ("account", "verify"):
        for form in ("text", "json"):
            assert cli.main([command, str(path), "--format", form]) in (0, 1)
            said = capfd.readouterr()
            gathered.parts[f"dpaudit {command} --format {form}"] = (said.out + said.err).encode()


def made(name: str, calibration: str) -> Subject:
    delta = "1e-6" if name.endswith("shuffled") else None
    return make_algorithm(
        name,
        {
            "epsilon": "2" if name.startswith("optimistic") else "0.1",
            "delta": delta,
            "horizon": HORIZON,
            "actions": (4, 2),
            "calibration": calibration,
        },
    )


@pytest.mark.parametrize(
    ("name", "calibration"),
    [(name, each) for name in PRIVATE for each in (["optimistic"] if name.startswith("optimistic") else ["corrected", "tight"])],
)
def test_no_algorithm_leaves_a_reward_behind(
    name: str, calibration: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run behind the live door, then a second one that the budget stops half-way."""
    monkeypatch.delenv("DPAUDIT_TRACEBACK", raising=False)
    subject, rewards, gathered, path = made(name, calibration), Remembered(), Gathered(), tmp_path / "run.ledger"
    with listening(gathered, capfd), dp.open_ledger(path) as ledger:
        with dp.live(ledger, subject.claim) as channel:
            played = subject.run(SealedRewards(rewards), channel)
            gathered.parts["what it returns"] = repr(played).encode()
        with dp.live(ledger) as channel, pytest.raises(dp.BudgetExceeded) as refused:
            subject.run(SealedRewards(rewards), channel)
        gathered.error("BudgetExceeded", refused.value)
        gathered.ledger(ledger, path)
    commands_on(path, gathered, capfd)
    assert len(gathered.releases) >= 1
    assert gathered.leaks(rewards.sums) == {}


@pytest.mark.parametrize("name", BEHIND_THE_DOOR)
def test_no_baseline_leaves_a_reward_behind(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a budget: not every one of them costs what its authors claim."""
    chosen = {"epsilon": "2", "delta": "1e-6", "horizon": HORIZON, "actions": (4, 2), "calibration": None}
    subject, rewards, gathered, path = make_algorithm(name, chosen), Remembered(), Gathered(), tmp_path / "run.ledger"
    with listening(gathered, capfd), dp.open_ledger(path) as ledger:
        with dp.live(ledger) as channel:
            played = subject.run(SealedRewards(rewards), channel)
            gathered.parts["what it returns"] = repr(played).encode()
        gathered.ledger(ledger, path)
    commands_on(path, gathered, capfd)
    assert rewards.sums
    assert gathered.leaks(rewards.sums) == {}


def test_the_yardstick_without_noise_writes_nothing_at_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    subject, rewards, gathered, path = made("nonprivate", "tight"), Remembered(), Gathered(), tmp_path / "run.ledger"
    with listening(gathered, capfd), dp.open_ledger(path) as ledger, dp.live(ledger) as channel:
        subject.run(rewards, channel)
        gathered.ledger(ledger, path)
    assert len(rewards.sums) > 1
    assert gathered.releases == []
    assert gathered.leaks(rewards.sums) == {}


@pytest.mark.parametrize("name", ["central", "local", "shuffled"])
def test_the_online_face_leaves_no_reward_behind(name: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its saved state too, and the errors that it raises in the middle of a batch."""
    gathered, path, state = Gathered(), tmp_path / "run.ledger", tmp_path / "state.json"
    with listening(gathered, capfd), dp.open_ledger(path) as ledger:
        bandit = OnlineBandit(name, epsilon="0.1", horizon=HORIZON, actions=(4, 2), ledger=ledger, state=state)
        for number in range(HORIZON // 2):
            ticket = bandit.select()
            reward: Any = client_report(ticket, CANARY) if ticket.terms is not None else CANARY
            bandit.update(ticket, reward)
            if number % 100 == 0:
                for wrong in (str(CANARY), [CANARY], {"reward": CANARY}, None):
                    with pytest.raises(dp.DpauditError) as refused:
                        bandit.update(ticket, wrong)
                    gathered.error(f"{type(wrong).__name__} in round {number}", refused.value)
        gathered.parts["repr"] = repr(bandit).encode()
        gathered.parts["state"] = state.read_bytes()
        gathered.ledger(ledger, path)
    assert len(gathered.parts) > 20
    assert gathered.leaks({UNITS}) == {}


def plain(rewards: Any, channel: Any) -> Any:
    total = channel.release("sum", rewards.sum(), dp.Laplace(scale=20), sensitivity=2)
    reports = channel.reports("each", rewards, dp.Laplace(scale=20), sensitivity=2)
    shuffled = channel.reports("shuffled", rewards, dp.Laplace(scale=20), sensitivity=2, to="shuffled")
    return total, reports.sum(), shuffled.values


def test_a_plain_subject_leaves_no_reward_behind(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gathered, path = Gathered(), tmp_path / "run.ledger"
    sealed = dp.seal(np.full(100, CANARY), -1, 1)
    with listening(gathered, capfd), dp.open_ledger(path) as ledger, dp.live(ledger) as channel:
        gathered.parts["what it returns"] = repr(plain(sealed, channel)).encode()
        gathered.parts["repr"] = (repr(sealed) + str(sealed) + f"{sealed}" + repr(channel) + repr(vars(ledger))).encode()
        gathered.ledger(ledger, path)
    commands_on(path, gathered, capfd)
    assert len(gathered.releases) == 3
    assert gathered.leaks({UNITS, 100 * UNITS}) == {}


def laplace(channel: Any, value: Any, **changed: Any) -> Any:
    return channel.release(**{"name": "x", "value": value, "noise": dp.Laplace(scale=20), "sensitivity": 2, **changed})


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "a text for a value": lambda channel, sealed: laplace(channel, str(CANARY)),
    "texts for values": lambda channel, sealed: laplace(channel, [str(CANARY)]),
    "an object for a value": lambda channel, sealed: laplace(channel, [CANARY, None]),
    "a ragged value": lambda channel, sealed: laplace(channel, [[CANARY], [CANARY, CANARY]]),
    "a complex value": lambda channel, sealed: laplace(channel, CANARY * 1j),
    "a mapping for a value": lambda channel, sealed: laplace(channel, {"reward": CANARY}),
    "a reward for a name": lambda channel, sealed: laplace(channel, 0.0, name=CANARY),
    "a reward for an observer": lambda channel, sealed: laplace(channel, 0.0, to=CANARY),
    "a reward for a cohort": lambda channel, sealed: laplace(channel, 0.0, cohort=CANARY),
    "rewards for a cohort": lambda channel, sealed: laplace(channel, 0.0, cohort=[CANARY]),
    "a reward for noise": lambda channel, sealed: laplace(channel, 0.0, noise=CANARY),
    "a table for reports": lambda channel, sealed: channel.reports("x", np.full((2, 2), CANARY), dp.Laplace(1), sensitivity=2),
    "a text for reports": lambda channel, sealed: channel.reports("x", [str(CANARY)], dp.Laplace(1), sensitivity=2),
    "rewards for tags": lambda channel, sealed: channel.reports("x", [CANARY], dp.Laplace(1), sensitivity=2, tags=[CANARY]),
    "too small a sensitivity": lambda channel, sealed: laplace(channel, sealed.sum(), sensitivity=1),
    "a float of sealed data": lambda channel, sealed: float(sealed[0]),
    "a bool of sealed data": lambda channel, sealed: bool(sealed[0] > 0),
    "an index from sealed data": lambda channel, sealed: [1, 2][sealed[0]],
    "an array of sealed data": lambda channel, sealed: np.asarray(sealed),
    "a json of sealed data": lambda channel, sealed: json.dumps(sealed),
    "a pickle of sealed data": lambda channel, sealed: __import__("pickle").dumps(sealed),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_error_in_the_middle_of_a_run_shows_no_reward(wrong: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gathered, path = Gathered(), tmp_path / "run.ledger"
    with listening(gathered, capfd), dp.open_ledger(path) as ledger, dp.live(ledger, "1") as channel:
        sealed = dp.seal(np.full(10, CANARY), -1, 1)
        laplace(channel, sealed.sum())
        with pytest.raises(Exception) as raised:  # noqa: PT011 - whichever error: none may show the reward
            WRONG[wrong](channel, sealed)
        gathered.error(wrong, raised.value)
        gathered.ledger(ledger, path)
    assert b"Error" in gathered.parts[wrong] or b"InvalidValue" in gathered.parts[wrong] or b"Leak" in gathered.parts[wrong]
    assert gathered.leaks({UNITS, 10 * UNITS}) == {}


def test_a_process_that_is_killed_leaves_no_reward_in_file_or_log(tmp_path: Path, faults: ModuleType) -> None:
    path = tmp_path / "run.ledger"

    def work() -> None:
        with dp.live(dp.open_ledger(path)) as channel:
            plain(dp.seal(np.full(100, CANARY), -1, 1), channel)
            os.kill(os.getpid(), signal.SIGKILL)

    assert not faults.ended_well(faults.in_child(work))
    gathered = Gathered()
    for file in tmp_path.iterdir():
        gathered.parts[file.name] = file.read_bytes()
    shutil.copytree(tmp_path, tmp_path / "copy")
    gathered.releases = load_releases(tmp_path / "copy" / "run.ledger")
    assert set(gathered.parts) >= {"run.ledger", "run.ledger-wal"}
    assert len(gathered.releases) == 3
    assert gathered.leaks({UNITS, 100 * UNITS}) == {}


SUBJECT = f"""
import numpy as np
import dpaudit as dp

PAIR = [(np.full(5, {CANARY}), np.full(5, 0.5))]

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PAIR)
def fails(rewards, channel):
    raise ValueError(f"cannot use {{rewards[0]}}")
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_message_of_a_subject_s_own_error_is_not_printed(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPAUDIT_TRACEBACK", raising=False)
    (tmp_path / "it.py").write_text(SUBJECT)
    gathered = Gathered()
    with listening(gathered, capfd):
        assert cli.main(["audit", f"{tmp_path}/it.py:fails", "--seed", "1", "--format", form]) == 2
    assert b"ValueError" in gathered.parts["stderr"]
    assert gathered.leaks({UNITS}) == {}


# --- the twins: the same search finds what a leaky algorithm leaves ---


LEAKY: dict[str, Callable[[Any], str]] = {
    "decimal": repr,
    "hexadecimal float": float.hex,
    "fraction": lambda reward: str(Fraction(reward)),
    "units": lambda reward: str(int(reward * 2**20)),
}


@pytest.mark.parametrize("form", LEAKY)
def test_a_reward_in_the_name_of_a_release_is_found_everywhere(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    gathered, path, rewards = Gathered(), tmp_path / "run.ledger", np.full(10, CANARY)
    with listening(gathered, capfd), dp.open_ledger(path) as ledger, dp.live(ledger, "1") as channel:
        laplace(channel, 0.0, name=f"sum, first {LEAKY[form](rewards[0].item())}")
        with pytest.raises(dp.BudgetExceeded) as refused:
            laplace(channel, 0.0, name=f"again {LEAKY[form](rewards[0].item())}", sensitivity=200)
        gathered.error("BudgetExceeded", refused.value)
        logging.getLogger("leaky").debug("reward %s", LEAKY[form](rewards[0].item()))
        print(LEAKY[form](rewards[0].item()))
        gathered.ledger(ledger, path)
    commands_on(path, gathered, capfd)
    leaks = gathered.leaks({UNITS})
    for place in (
        "run.ledger-wal",
        "export.jsonl",
        "export.parquet",
        "rows of the parquet export",
        "stdout",
        "logs",
        "BudgetExceeded",
        "dpaudit account --format json",
    ):
        assert form in leaks[place], place


def test_an_exception_that_holds_the_reward_is_found() -> None:
    gathered = Gathered()
    try:
        raise ValueError(f"cannot use {CANARY}")
    except ValueError as error:
        gathered.error("ValueError", error)
    assert gathered.leaks({UNITS}) == {"ValueError": {"decimal"}}


@pytest.mark.parametrize("form", ["<d", ">d", "<q", ">q"])
def test_a_reward_written_as_bytes_is_found(form: str) -> None:
    data = struct.pack(form, CANARY if form[1] == "d" else UNITS)
    assert found_in(b"before" + data + b"after", {UNITS}) == {"bytes"}


def test_a_release_without_noise_is_found_among_packed_values(tmp_path: Path) -> None:
    gathered, path = Gathered(), tmp_path / "run.ledger"
    values = np.arange(1000) * 7919
    values[500] = UNITS
    with dp.open_ledger(path) as ledger:
        ledger.append(Release("reports", "laplace", Fraction(2), {"scale": "2"}, epsilon=Fraction(1), values=values))
        gathered.ledger(ledger, path)
    assert gathered.leaks({UNITS})["released values"] == {"units"}


def test_the_search_finds_nothing_in_numbers_that_only_look_alike() -> None:
    assert found_in(b"7719170 1771917 0.73614 771917.5 0.771917 -0x1.78d", {UNITS}) == set()
