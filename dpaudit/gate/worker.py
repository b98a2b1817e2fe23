"""One budget in a process of its own: its code cannot end the gate, and is ended when its time is over.

python -m dpaudit.gate.worker < TASK     judges one budget and writes the facts where the task says

A subject is trusted code: it runs here, and one that sets out to deceive the gate can. What must not happen by accident does not:
where the result goes is not among the arguments, and the gate draws its own conclusion from the facts.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget, read_config


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
    task = json.load(sys.stdin)
    config = read_config(task["folder"])
    budget = next(each for each in config.budgets if each.name == task["name"])
    facts = judge(budget, config.folder, config.seed, task["error"], picture=task["picture"], describe=task["describe"])
    Path(task["result"]).write_text(
        json.dumps({"nonce": task["nonce"], "facts": facts.to_dict()}, allow_nan=False), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
