"""Ledgers in memory and in a file: charges before draws, idempotent keys, kinds, budgets."""

from __future__ import annotations

import copy
import pickle
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpaudit.claims import BudgetExceeded, DpauditError, InvalidValue
from dpaudit.ledger import (
    Budget,
    Charge,
    Cohort,
    Ledger,
    LedgerUnavailable,
    MemoryLedger,
    PureSums,
    Release,
    TamperedLedger,
    UnreadableLedger,
    WrongKind,
    canonical,
    load_releases,
    open_ledger,
)
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.store.memory import MemoryEntries

Make = Callable[..., Ledger]


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    opened: list[Ledger] = []

    def build(**settings: Any) -> Ledger:
        settings = {"kind": "deployment", **settings}
        path = tmp_path / f"{len(opened)}.ledger"
        opened.append(MemoryLedger(**settings) if request.param == "memory" else open_ledger(path, **settings))
        return opened[-1]

    yield build
    for ledger in opened:
        ledger.close()


def a_release(name: str = "sum", epsilon: str | None = "1", cohort: object = None, values: Any = 5) -> Release:
    cost = None if epsilon is None else Fraction(epsilon)
    return Release(name, "laplace", Fraction(2), {"scale": "2"}, epsilon=cost, cohort=Cohort.of(cohort), values=values)


def test_what_is_stored_comes_back_in_order(make: Make) -> None:
    ledger = make()
    kept = [a_release("a"), a_release("b", cohort=range(9), values=[1, 2]), a_release("c", None, values=None)]
    for release in kept:
        assert ledger.append(release) == release
    assert list(ledger.releases()) == kept
    assert ledger.head().size == 1 + len(kept)


def test_a_charge_is_spent_before_the_draw_and_stays_spent_if_the_draw_fails(make: Make) -> None:
    ledger = make(budget="1")

    def fail() -> None:
        with ledger.charge(a_release().charge()):
            assert ledger.spent() == (1, 0)
            raise RuntimeError("the generator failed")

    with pytest.raises(RuntimeError):
        fail()
    assert ledger.spent() == (1, 0)
    assert [charge.name for charge in ledger.unused_charges()] == ["sum"]
    assert list(ledger.releases()) == []
    with pytest.raises(BudgetExceeded):
        ledger.charge(Charge(Fraction(1, 1000)))


def test_a_used_slot_closes_its_charge(make: Make) -> None:
    ledger = make(budget="1")
    with ledger.charge(a_release().charge()) as slot:
        assert slot.stored is None
        assert slot.store(a_release()) == a_release()
    assert ledger.unused_charges() == []
    assert ledger.spent() == (1, 0)
    with pytest.raises(InvalidValue, match="used once"):
        slot.store(a_release())


def test_over_budget_nothing_is_written_and_equal_is_allowed(make: Make) -> None:
    ledger = make(budget="1")
    for _ in range(10):
        ledger.append(a_release(epsilon="0.1"))
    before = ledger.head()
    for attempt in (
        lambda: ledger.append(a_release(epsilon="1e-30")),
        lambda: ledger.charge(Charge(Fraction(1))),
    ):
        with pytest.raises(BudgetExceeded):
            attempt()
    assert ledger.head() == before
    assert ledger.spent() == (1, 0)


def test_disjoint_cohorts_share_a_budget_and_overlapping_ones_do_not(make: Make) -> None:
    ledger = make(budget="1")
    for start in range(0, 100, 10):
        ledger.append(a_release(cohort=range(start, start + 10)))
    with pytest.raises(BudgetExceeded):
        ledger.append(a_release(epsilon="0.1", cohort=[99]))
    ledger.append(a_release(cohort=[100]))


def test_a_retried_key_returns_the_stored_release_and_is_not_charged_again(make: Make) -> None:
    ledger = make(budget="1")
    with ledger.charge(a_release().charge(), key="batch 1") as slot:
        slot.store(a_release(values=5))
    before = ledger.head()
    with ledger.charge(a_release().charge(), key="batch 1") as slot:
        assert slot.stored == a_release(values=5)
    assert ledger.append(a_release(values=6), key="batch 1") == a_release(values=5)
    assert ledger.head() == before


def test_a_key_that_was_charged_but_never_stored_is_charged_again(make: Make) -> None:
    ledger = make(budget="2")
    ledger.charge(a_release().charge(), key="k")  # a crash here
    with ledger.charge(a_release().charge(), key="k") as slot:
        slot.store(a_release())
    assert ledger.spent() == (2, 0)
    assert len(ledger.unused_charges()) == 1


def test_of_two_racing_draws_under_one_key_both_are_charged_and_only_the_first_is_handed_out(
    make: Make,
) -> None:
    ledger = make(budget="2")
    slow = ledger.charge(a_release().charge(), key="k")
    fast = ledger.charge(a_release().charge(), key="k")
    assert fast.store(a_release(values=1)) == a_release(values=1)
    assert slow.store(a_release(values=2)) == a_release(values=1)
    assert list(ledger.releases()) == [a_release(values=1)]
    assert ledger.spent() == (2, 0)


def test_a_key_belongs_to_one_release(make: Make) -> None:
    ledger = make()
    ledger.append(a_release(cohort=range(5)), key="k")
    for other in (
        a_release(cohort=range(6)),
        a_release("x", cohort=range(5)),
        a_release(epsilon="2", cohort=range(5)),
    ):
        with pytest.raises(InvalidValue, match="key"):
            ledger.append(other, key="k")
    for wrong in ("", "x" * 257, 5):
        with pytest.raises(InvalidValue, match="key"):
            ledger.append(a_release(), key=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [a_release("x"), a_release(epsilon="1/2"), a_release(epsilon=None), a_release(cohort=range(5))])
def test_only_what_was_charged_can_be_stored(make: Make, other: Release) -> None:
    slot = make().charge(a_release().charge())
    with pytest.raises(InvalidValue, match="charged"):
        slot.store(other)
    assert slot.store(a_release()) == a_release()


OTHER_FACTS = [{"mechanism": "none"}, {"sensitivity": Fraction(99)}, {"parameters": {"scale": "1"}}, {"steps": 7}]


@pytest.mark.parametrize("other", OTHER_FACTS)
def test_a_release_with_other_facts_than_were_charged_is_refused(make: Make, other: dict[str, Any]) -> None:
    ledger, told = make(), replace(a_release(), steps=4)
    slot = ledger.charge(told.charge())
    with pytest.raises(InvalidValue, match="charged"):
        slot.store(replace(told, **other))
    slot.store(told)
    ledger.append(told, key="k")
    with pytest.raises(InvalidValue, match="key"):
        ledger.append(replace(told, **other), key="k")


@pytest.mark.parametrize("other", OTHER_FACTS)
def test_a_stored_release_with_other_facts_than_its_charge_is_reported(other: dict[str, Any]) -> None:
    told = replace(a_release(), steps=4)
    for release, refused in ((told, False), (replace(told, **other), True)):
        ledger = MemoryLedger()
        ledger.charge(told.charge())
        data = canonical({"entry": "release", "charge": 1, "release": release.to_json()})
        entries = MemoryEntries([*ledger.entries(), data])
        with pytest.raises(TamperedLedger) if refused else nullcontext():
            replay(entries, PureSums)


@pytest.mark.parametrize("bad", ["\x1b[2J", "a\nb", "\x7f", "\x9b", "\u202e", "\u2028", "\ud800", "\x00"])
def test_control_characters_are_refused_wherever_a_text_is_kept(make: Make, bad: str) -> None:
    """They would be obeyed by the terminal that shows the ledger. Other letters are welcome."""
    good: dict[str, Any] = {"name": "größe 数 🙂", "mechanism": "laplace", "sensitivity": Fraction(1)}
    assert make().append(Release(**good)).name == good["name"]
    for where in ("name", "mechanism", "to", "theorem"):
        with pytest.raises(InvalidValue, match=where):
            Release(**{**good, where: "x" + bad})
    for where, value in (("parameters", {"a": bad}), ("extra", {bad: "a"}), ("tags", {bad: 1}), ("cohort", Cohort.of(bad))):
        with pytest.raises(InvalidValue, match=where) as refused:
            Release(**good, **{where: value})
        assert bad not in str(refused.value)
    with pytest.raises(InvalidValue, match="key"):
        make().append(Release(**good), key=bad)


def test_counts_fit_into_64_bits() -> None:
    for wrong in ({"n": 2**63, "kind": "reports"}, {"tags": {"a": 2**63}}):
        with pytest.raises(InvalidValue):
            replace(a_release(), **wrong)
    assert replace(a_release(), n=2**63 - 1, kind="reports", tags={"a": 2**63 - 1}).n == 2**63 - 1


def test_a_budget_is_set_once_and_then_only_tightened(make: Make) -> None:
    ledger = make()
    assert ledger.budget is None
    ledger.append(a_release())
    ledger.limit(("3", "1e-6"))
    size = ledger.head().size
    ledger.limit(("3", "1e-6"))
    assert ledger.head().size == size
    ledger.limit("2")
    assert ledger.budget == Budget("2")
    for wider in ("3", ("1", "1e-9")):
        with pytest.raises(InvalidValue, match="at most"):
            ledger.limit(wider)
    ledger.append(a_release())
    with pytest.raises(BudgetExceeded):
        ledger.append(a_release())


def test_what_has_no_pure_cost_is_refused_under_a_budget(make: Make) -> None:
    with pytest.raises(InvalidValue, match="pure-sums"):
        make(budget="1").append(a_release(epsilon=None))


class HalfPrice(PureSums):
    """An injected filter: charges half."""

    name = "half-price"

    def would_cost(self, charge: Charge) -> tuple[Fraction, Fraction]:
        epsilon, delta = super().would_cost(charge)
        return epsilon / 2, delta


def test_another_filter_can_be_injected_and_is_not_mixed_with_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="1", spends=HalfPrice) as ledger:
        ledger.append(a_release())
        ledger.append(a_release())
        with pytest.raises(BudgetExceeded):
            ledger.append(a_release())
    with open_ledger(path) as ledger:
        assert len(list(ledger.releases())) == 2
        with pytest.raises(InvalidValue, match="half-price"):
            ledger.append(a_release(cohort=[]))


def test_a_ledger_takes_releases_of_its_own_kind_only(tmp_path: Path) -> None:
    for kind, other in (("deployment", "simulated"), ("simulated", "deployment")):
        path = tmp_path / f"{kind}.ledger"
        open_ledger(path, kind=kind).close()
        with pytest.raises(WrongKind, match=kind):
            open_ledger(path, kind=other)
        with open_ledger(path, kind=other, readonly=True) as ledger:
            assert ledger.kind == kind
    with pytest.raises(WrongKind):
        MemoryLedger().require("deployment")
    with pytest.raises(InvalidValue, match="kind"):
        open_ledger(tmp_path / "x.ledger", kind="other")
    assert not (tmp_path / "x.ledger").exists()


def test_all_is_there_after_reopening_budget_and_keys_included(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget=("1", "1e-6")) as ledger:
        ledger.append(a_release(epsilon="3/4"), key="k")
        head = ledger.head()
    with open_ledger(path) as ledger:
        assert (ledger.head(), ledger.budget) == (head, Budget("1", "1e-6"))
        assert ledger.append(a_release(epsilon="3/4", values=9), key="k").values == 5
        with pytest.raises(BudgetExceeded):
            ledger.append(a_release(epsilon="1/2"))
    assert load_releases(path) == [a_release(epsilon="3/4")]


def test_a_closed_ledger_is_one_file_and_its_head_also_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        ledger.append(a_release())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.ledger", "a.ledger.head"]
    with open_ledger(path, readonly=True) as ledger:
        assert len(list(ledger.releases())) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.ledger", "a.ledger.head"]
    with pytest.raises(LedgerUnavailable, match="closed"):
        ledger.head()


def test_the_settings_of_the_file_are_those_that_survive_a_crash(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.ledger") as ledger:
        connection = ledger._entries._connection  # type: ignore[attr-defined]
        settings = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert settings == {
        "journal_mode": b"wal",
        "synchronous": 1,
    }  # what is acknowledged is synced apart: test_entries counts the syncs


def test_readers_see_what_a_writer_adds_and_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path) as writer, open_ledger(path, readonly=True) as reader:
        writer.append(a_release())
        assert reader.head() == writer.head()
        for attempt in (lambda: reader.append(a_release()), lambda: reader.limit("1")):
            with pytest.raises(LedgerUnavailable, match="reading only"):
                attempt()


def test_a_file_with_two_names_is_not_written_to(tmp_path: Path) -> None:
    """Each name would have a write-ahead log of its own; after a crash the budget would be spent once through each."""
    path, second = tmp_path / "a.ledger", tmp_path / "b.ledger"
    open_ledger(path, budget="1").close()
    second.hardlink_to(path)
    for name in (path, second):
        with pytest.raises(LedgerUnavailable, match="second name"):
            open_ledger(name)
        with open_ledger(name, readonly=True) as ledger:
            assert ledger.budget == Budget("1")
    second.unlink()
    open_ledger(path).close()
    second.symlink_to(path)  # a symbolic link leads to one file with one log
    with open_ledger(second) as one, open_ledger(path) as two:
        one.append(a_release())
        with pytest.raises(BudgetExceeded):
            two.append(a_release())


def test_a_draft_that_a_killed_process_left_behind_is_no_second_name(tmp_path: Path) -> None:
    path, draft = tmp_path / "a[1].ledger", tmp_path / "a[1].ledger.x7.new"
    open_ledger(path).close()
    draft.hardlink_to(path)
    (tmp_path / "a[1].ledger.y8.new").write_bytes(b"somebody else's")
    open_ledger(path).close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a[1].ledger", "a[1].ledger.head", "a[1].ledger.y8.new"]


def test_two_handles_spend_one_budget(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="2") as one, open_ledger(path) as two:
        one.append(a_release())
        two.append(a_release())
        for ledger in (one, two):
            with pytest.raises(BudgetExceeded):
                ledger.append(a_release())


def test_threads_never_exceed_the_budget(make: Make) -> None:
    ledger, granted = make(budget="5"), []

    def spend() -> None:
        for _ in range(10):
            try:
                granted.append(ledger.charge(Charge(Fraction("0.1"))))
            except BudgetExceeded:
                continue

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 50
    assert ledger.spent() == (5, 0)


def test_a_ledger_cannot_be_copied_to_spend_twice(make: Make) -> None:
    ledger = make(budget="1")
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(DpauditError, match="copied"):
            attempt(ledger)


def test_a_million_reports_are_one_record_that_reads_back(tmp_path: Path) -> None:
    values = np.rint(np.random.default_rng(1).laplace(scale=2 * 2**20, size=10**6)).astype(np.int64)
    batch = a_release("reports", cohort=range(10**6), values=values)
    with open_ledger(tmp_path / "a.ledger") as ledger:
        with ledger.charge(batch.charge()) as slot:
            slot.store(batch)
        assert next(ledger.releases()) == batch
    assert (tmp_path / "a.ledger").stat().st_size < 60 * 10**6


def test_files_that_are_no_ledger_are_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"hello")
    for name in ("foreign.sqlite", "empty", "text"):
        before = (tmp_path / name).read_bytes()
        for readonly in (True, False):
            with pytest.raises(UnreadableLedger, match=name):
                open_ledger(tmp_path / name, readonly=readonly)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(UnreadableLedger):
        open_ledger(tmp_path / "missing", readonly=True)
    with pytest.raises(UnreadableLedger):
        open_ledger(tmp_path)
    with pytest.raises(LedgerUnavailable, match="folder"):
        open_ledger(tmp_path / "no such folder" / "a.ledger")


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("PRAGMA user_version = 2", UnreadableLedger),
        ("PRAGMA application_id = 7", UnreadableLedger),
        ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END", UnreadableLedger),
        ("DROP TABLE head", UnreadableLedger),
        ("DELETE FROM head", TamperedLedger),
        ("INSERT INTO head VALUES (1, 2, 'ab')", TamperedLedger),
        ("UPDATE head SET root = upper(root)", TamperedLedger),
        ("DELETE FROM entries WHERE place = 2", TamperedLedger),
        ("DELETE FROM entries WHERE place = 3", TamperedLedger),
        ("DELETE FROM entries", TamperedLedger),
        (
            "UPDATE entries SET place = 9 WHERE place = 1; UPDATE entries SET place = 1 WHERE place = 2; "
            "UPDATE entries SET place = 2 WHERE place = 9",
            TamperedLedger,
        ),
        ("INSERT INTO entries SELECT 4, entry FROM entries WHERE place = 3", TamperedLedger),
        ("UPDATE entries SET entry = replace(entry, '\"5\"', '\"6\"')", TamperedLedger),
        ("UPDATE entries SET entry = CAST(x'ff' AS TEXT) WHERE place = 1", TamperedLedger),
    ],
)
def test_a_changed_file_is_reported_on_opening(tmp_path: Path, statement: str, error: type[DpauditError]) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        for value in ("5", "7", "9"):
            ledger.append(a_release(epsilon=value))
    connection = sqlite3.connect(path)
    connection.executescript(statement)
    connection.close()
    for readonly in (True, False):
        with pytest.raises(error):
            open_ledger(path, readonly=readonly)


def counted(count: int) -> Release:
    return Release(name="steps", mechanism="gaussian", sensitivity=Fraction(1), parameters={"sigma": "1"}, count=count)


def test_fewer_equal_releases_than_were_charged_may_be_stored_and_more_may_not(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    slot = ledger.charge(counted(10).charge())
    with pytest.raises(InvalidValue):
        slot.store(counted(11))
    with pytest.raises(InvalidValue):
        slot.store(replace(counted(4), sensitivity=Fraction(2)))
    slot.store(counted(4))
    assert [release.count for release in ledger.releases()] == [4]
    assert ledger.unused_charges() == []


def test_who_holds_a_charge_is_called_once_before_the_ledger_closes() -> None:
    ledger, called = MemoryLedger(), []
    slot = ledger.charge(counted(3).charge())
    ledger.at_close(lambda: called.append(slot.store(counted(2)).count))
    ledger.close()
    ledger.close()
    assert called == [2]
