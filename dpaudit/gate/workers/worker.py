"""One budget in a process of its own: its code cannot end the gate, and is ended when its time is over.

python -m dpaudit.gate.workers.worker < TASK     judges one budget; writes the facts, bound to the task's nonce, to its output

The subject runs in another thread than the one that holds the nonce and the way out: no frame, traceback or closure leads to
the nonce, in either of them. Its code is still code of this process: ``guard.py`` notices what it replaces, and what remains
trusted is listed in ``against/base_policy.py``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError
from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget, read_config
from dpaudit.gate.workers.closed_memory import close_for_good
from dpaudit.gate.workers.guard import TOUCHED, Guard


def judge(
    budget: GateBudget, folder: Path, seed: int, error: float, *, picture: bool = False, describe: bool = False
) -> BudgetFacts:
    """The facts about one budget; never raises. A subject's own message may hold its data, so only its type is told.

    ``describe``: only what its claim is about.
    """
    try:
        if budget.ledger is not None:
            from dpaudit.gate.ledger_budgets import judge_ledger

            return judge_ledger(budget, folder, picture=picture)
        from dpaudit.gate.subject_budgets import describe_subject, judge_subject

        return describe_subject(budget) if describe else judge_subject(budget, seed, error, picture=picture)
    except DpauditError as failed:
        return not_checked(str(failed))
    except OSError as failed:
        return not_checked(f"{failed.filename or 'file'}: {failed.strerror or type(failed).__name__}")
    except BaseException as failed:
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        return not_checked(f"{budget.target} raised {type(failed).__name__} when it was run; DPAUDIT_TRACEBACK=1 shows where")


def main() -> None:
    close_for_good()
    task, way_out, write, end = json.load(sys.stdin), os.dup(1), os.write, os._exit
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what a subject prints is not the gate's
    # The nonce is an operand meanwhile, in no variable: what a subject has left behind to run in this thread (audit hooks,
    # callbacks of the garbage collector, an excepthook) finds it in no frame.
    write(way_out, task.pop("nonce").encode() + _answer(task, way_out))
    end(0)  # nothing that it left behind for the end is run, or waited for


def _answer(task: dict[str, Any], way_out: int) -> bytes:
    """What follows the nonce; ends the process where the gate was touched."""
    write, end = os.write, os._exit
    facts, changed = _judge_apart(task)
    if changed:
        write(way_out, ", ".join(changed[:3]).encode())
        end(TOUCHED)
    return f" {json.dumps(facts[0].to_dict(), allow_nan=False)}\n".encode()


def _judge_apart(task: dict[str, Any]) -> tuple[list[BudgetFacts], list[str]]:
    """The facts, made in a thread from which nothing leads back to this one; and what was changed on the way."""
    from dpaudit.gate import ledger_budgets, subject_budgets  # noqa: F401 - known to the guard before a subject is

    config = read_config(task["folder"])
    budget = next(each for each in config.budgets if each.name == task["name"])
    facts: list[BudgetFacts] = []

    def work() -> None:
        facts.append(judge(budget, config.folder, config.seed, task["error"], picture=task["picture"], describe=task["describe"]))

    judging, changed = threading.Thread(target=work), Guard().changed  # bound now: what is put in its place later is not asked
    judging.start()
    judging.join()
    return facts, [*changed(), *([] if len(facts) == 1 else ["the list of results"])]


if __name__ == "__main__":
    main()
