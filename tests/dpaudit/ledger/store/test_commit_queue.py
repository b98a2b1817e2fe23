"""Threads that ask at the same time share a commit; a refusal is its asker's alone, a failure everybody's."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, LedgerUnavailable, open_ledger, verify
from dpaudit.ledger.store.commit_queue import CommitQueue, Request


def test_one_thread_does_the_work_of_all_who_wait() -> None:
    """The first is held up until the others wait; they are done together, and none of them is overtaken."""
    sizes, answers, held = list[int](), list[int](), threading.Event()

    def commit(batch: list[Request]) -> None:
        sizes.append(len(batch))
        if len(sizes) == 1:
            held.wait(10)
        for request in batch:
            request.run(lambda: 0)
            request.done = True

    queue = CommitQueue(commit)
    threads = [threading.Thread(target=lambda i=i: answers.append(queue.submit(lambda: i))) for i in range(8)]
    for thread in threads:
        thread.start()
        while not sizes:
            threading.Event().wait(0.001)
    while len(queue._waiting) < 7:
        threading.Event().wait(0.001)
    held.set()
    for thread in threads:
        thread.join()
    assert sizes == [1, 7]
    assert sorted(answers) == list(range(8))
    assert (queue.commits, queue.requests) == (2, 8)


@pytest.mark.parametrize(("linger", "commits"), [(10.0, 1), (0.0, 2)])
def test_those_who_were_answered_together_are_waited_for(linger: float, commits: int) -> None:
    """The twin does not wait, and commits for the first alone."""
    sizes = list[int]()

    def commit(batch: list[Request]) -> None:
        sizes.append(len(batch))
        for request in batch:
            request.done = True

    queue = CommitQueue(commit, linger)
    queue._together = 2
    threads = [threading.Thread(target=lambda: queue.submit(lambda: 0)) for _ in range(2)]
    threads[0].start()
    while not (sizes or queue._led):
        threading.Event().wait(0.001)
    threading.Event().wait(0.01)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert len(sizes) == commits
    assert sum(sizes) == 2


def test_a_refusal_in_a_shared_commit_is_its_askers_alone_and_a_failure_everybodys() -> None:
    def refuse() -> None:
        raise ValueError("not this one")

    def fail(batch: list[Request]) -> None:
        for request in batch:
            request.run(lambda: 0)
        raise LedgerUnavailable("a.ledger", "the disk failed")

    def commit(batch: list[Request]) -> None:
        for request in batch:
            request.run(lambda: 0)
            request.done = True

    good = CommitQueue(commit)
    good._waiting.append(Request(refuse, True))
    assert good.submit(lambda: 5) == 5
    bad = CommitQueue(fail)
    other = Request(lambda: 6, True)
    bad._waiting.append(other)
    with pytest.raises(LedgerUnavailable, match="the disk failed"):
        bad.submit(lambda: 5)
    assert isinstance(other.error, LedgerUnavailable)


def test_threads_share_commits_and_spend_one_budget_exactly(tmp_path: Path) -> None:
    granted, one = [], Charge(Fraction(1))
    with open_ledger(tmp_path / "a.ledger", budget="60") as ledger:
        before = ledger._commits.commits

        def spend() -> None:
            for _ in range(10):
                try:
                    granted.append(ledger.charge(one))
                except BudgetExceeded:
                    return

        threads = [threading.Thread(target=spend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(granted) == 60
        assert ledger.spent()[0] == 60
        assert ledger._commits.commits - before < 60  # some carried several
    assert verify(tmp_path / "a.ledger").size == 62
