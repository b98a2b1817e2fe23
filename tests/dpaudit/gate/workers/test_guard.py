"""Subjects that cost ε = 2 and set out to pass a budget of 1: by leaving early, by writing the result, by changing the gate."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.claims import Claim
from dpaudit.gate import subject_budgets
from dpaudit.gate.check import believe
from dpaudit.gate.policy import GateBudget
from dpaudit.gate.workers.processes import _result

THIN_BUDGET = GateBudget("forged", Claim("1"), subject="mine.py:thin", samples=100)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=20, low=-1, high=1))
def honest(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)


@cache
def forged_facts() -> str:
    """What a worker hands back about an honest subject, all that the gate decides from included."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject_budgets, "find_subject", lambda _: honest)
        return json.dumps(subject_budgets.judge_subject(THIN_BUDGET, 1, 1e-6).to_dict())


CHILD = """
import os, re, sys

parent, found, facts = int(sys.argv[1]), [], sys.stdin.buffer.read()
try:
    with open(f"/proc/{parent}/mem", "rb", 0) as memory, open(f"/proc/{parent}/maps") as maps:
        for line in maps:
            low, high = (int(end, 16) for end in line.split()[0].split("-"))
            if "rw" in line.split()[1] and high - low < 10**8:
                try:
                    memory.seek(low)
                    found += re.findall(rb'"nonce": "([0-9a-f]{32})"', memory.read(high - low))
                except (OSError, ValueError, OverflowError):
                    pass
except OSError:
    pass
print(f"{len(found)} found", file=sys.stderr)
for number in range(3, 64):
    try:
        with open(f"/proc/{os.getppid()}/fd/{number}", "wb", 0) as out:
            out.write((found or [b"0" * 32])[0] + b" " + facts + b"\\n")
    except OSError:
        pass
"""
SUBJECT = """
import atexit, gc, json, os, re, sys, threading
import dpaudit as dp
{first}

FORGED = json.loads({forged!r})

def write_everywhere(nonce):
    for number in range(3, 64):
        try:
            os.write(number, (nonce + " " + json.dumps(FORGED) + "\\n").encode())
        except OSError:
            pass

def secrets_in(value, depth=0):
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{{32}}", value):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for one in list(value.values()):
            yield from secrets_in(one, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4:
        for one in value:
            yield from secrets_in(one, depth + 1)

def ask_a_child(*arguments):
    import subprocess
    subprocess.run([sys.executable, "child.py", *arguments], input=json.dumps(FORGED).encode())
    os._exit(0)

def fork_and_write():
    child = os.fork()
    if child == 0:
        write_everywhere("0" * 32)
        os._exit(0)
    os.waitpid(child, 0)
    os._exit(0)

def use(found):
    for nonce in found:
        write_everywhere(nonce)
        os._exit(0)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=20, low=-1, high=1))
def thin(data, channel):
    {inside}
    return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=2)

{last}
"""
STEAL = """
def steal():
    frame = sys._getframe(1)
    while frame is not None:
        use(secrets_in(dict(frame.f_locals)))
        frame = frame.f_back

def steal_from_traceback(kind, error, traceback):
    while traceback is not None:
        use(secrets_in(dict(traceback.tb_frame.f_locals)))
        traceback = traceback.tb_next
    os._exit(0)
"""  # what it leaves behind to run in the thread that holds the nonce
FORGE = "from dpaudit.gate.budget_facts import BudgetFacts; forged = lambda *a, **k: BudgetFacts(**FORGED)"
ATTACKS: dict[str, dict[str, str]] = {
    "leaves at import": {"first": "sys.exit(0)"},
    "leaves while it runs": {"inside": "os._exit(0)"},
    "writes when all is over": {"last": "atexit.register(lambda: (write_everywhere('0' * 32), os._exit(0)))"},
    "writes to every file": {"inside": "write_everywhere('0' * 32); os._exit(0)"},
    "writes and goes on": {"inside": "write_everywhere('0' * 32)"},
    "replaces the judge": {"last": f"{FORGE}\nimport dpaudit.gate.subject_budgets as s\ns.judge_subject = forged"},
    "replaces a method": {"last": "import dpaudit.gate.budget_facts as b\nb.BudgetFacts.to_dict = lambda self: FORGED"},
    "replaces the decision": {
        "last": "import dpaudit.verdict.decision as d, dpaudit.verdict.examination as e\nold = d.decide\n"
        "d.decide = e.decide = lambda *a, **k: old(*a, **k)"
    },
    "changes a function from within": {
        "last": f"{FORGE}\nimport dpaudit.gate.subject_budgets as s\ns.judge_subject.__code__ = (lambda *a, **k: 1).__code__"
    },
    "replaces the guard too": {
        "last": f"{FORGE}\nimport types, dpaudit.gate.subject_budgets as s, dpaudit.gate.workers.guard as g\n"
        "g.sys = types.SimpleNamespace(modules=dict(sys.modules))\ng._identities = lambda parts: {}\n"
        "g.Guard.changed = lambda self: []\nmain = sys.modules['__main__']\n"
        "main.not_checked = s.judge_subject = forged\nmain.TOUCHED = 0"
    },
    "replaces how results are written": {"last": "text = json.dumps(FORGED)\njson.dumps = lambda *a, **k: text"},
    "replaces arithmetic": {"last": "from fractions import Fraction\nFraction.__gt__ = lambda self, other: False"},
    "replaces a builtin": {"last": "import builtins\nbuiltins.max = min"},
    "reads the nonce in its frames": {
        "inside": "frame = sys._getframe()\n    while frame is not None:\n"
        "        use(secrets_in([dict(frame.f_locals), {k: v for k, v in frame.f_globals.items() if type(v) in (str, dict)}]))\n"
        "        frame = frame.f_back"
    },
    "reads the nonce in other threads": {"inside": "[use(secrets_in(dict(f.f_locals))) for f in sys._current_frames().values()]"},
    "reads the nonce among all objects": {"inside": "use(secrets_in([one for one in gc.get_objects() if type(one) is dict]))"},
    "reads the nonce in memory": {"inside": "use(re.findall('[0-9a-f]{32}', open('/proc/self/mem', errors='replace').read(9)))"},
    "reads the nonce in its environment": {
        "inside": "use(re.findall('[0-9a-f]{32}', open('/proc/self/environ').read() + open('/proc/self/cmdline').read()))"
    },
    "starts a child that reads the nonce in its memory": {"inside": "ask_a_child(str(os.getpid()))"},
    "starts a child that reads it in the gate's memory": {"inside": "ask_a_child(str(os.getppid()))"},
    "forks a child that writes": {"inside": "fork_and_write()"},
    "replaces the accountant": {
        "last": "import dpaudit.accountants.composition as c, dpaudit.verdict.proof as p\nold = p.account_releases\n"
        "p.account_releases = c.account_releases = lambda releases, *a, **k: old([], *a, **k)"
    },
    "replaces what the gate decides from": {
        "last": "import dpaudit.gate.subject_budgets as s\ns.evidence_of = lambda *a, **k: FORGED['evidence']"
    },
    "interrupts the other thread and reads its traceback": {
        "last": f"{STEAL}\nimport _thread, time\nsys.excepthook = steal_from_traceback\n_thread.interrupt_main()\ntime.sleep(5)"
    },
    "replaces what the other thread waits in": {
        "last": f"{STEAL}\nfor name in ('_stop', '_delete', 'is_alive'):\n"
        "    setattr(threading.Thread, name, lambda self, *a: steal())"
    },
    "reads the task again": {"inside": "use(re.findall('[0-9a-f]{32}', sys.stdin.read() if not sys.stdin.closed else ''))"},
}  # fmt: skip


def write_project(folder: Path, attack: dict[str, str]) -> None:
    parts = {"first": "", "inside": "pass", "last": "", **attack, "forged": forged_facts()}
    (folder / "mine.py").write_text(SUBJECT.format(**parts), encoding="utf-8")
    (folder / "child.py").write_text(CHILD, encoding="utf-8")


def test_what_is_forged_would_pass_if_it_came_with_the_nonce() -> None:
    """The twin of all that follows: nothing but its way out holds it back."""
    text = forged_facts().encode()
    assert believe(_result(b"secret " + text + b"\n", 0, "secret"), THIN_BUDGET, 1e-6).exit_code("certified") == 0
    for answer, code in (
        (b"other " + text + b"\n", 0),
        (b"secret " + text + b"\n", 1),
        (b"secret " + text + b"\n\n", 0),
        (b"", 0),
    ):
        assert _result(answer, code, "secret").exit_code("not-refuted") == 2


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_subject_that_forges_does_not_pass(
    attack: str, folder: Path, gate: Callable[..., Any], budget: Callable[..., str]
) -> None:
    write_project(folder, ATTACKS[attack])
    code, document = gate(budget("forged", subject="mine.py:thin", samples=100))
    (found,) = document["budgets"]
    assert code in (1, 2), found
    assert found["verdict"] in ("refuted", "not checked", "unproven"), found
    print(attack, "→", found["verdict"], found["reason"])


@pytest.mark.slow
def test_files_that_python_or_pytest_would_run_first_are_not_run(
    folder: Path, gate: Callable[..., Any], budget: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would leave a file behind, and end the worker with a forged result."""
    write_project(folder, {})
    ran = "import pathlib; pathlib.Path('ran').write_text(__name__)\n"
    for name in ("sitecustomize", "usercustomize", "conftest", "plugin", "json", "fractions", "numpy", "flint", "pytest"):
        (folder / f"{name}.py").write_text(ran, encoding="utf-8")
    (folder / "dpaudit").mkdir()
    (folder / "dpaudit" / "__init__.py").write_text(ran, encoding="utf-8")
    (folder / "start.pth").write_text(f"{ran.strip()}\n", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p plugin\n", encoding="utf-8")
    for name, value in {"PYTHONPATH": str(folder), "PYTHONSTARTUP": "conftest.py", "PYTEST_PLUGINS": "plugin"}.items():
        monkeypatch.setenv(name, value)
    code, document = gate(budget("forged", subject="mine.py:thin", samples=100))
    assert (code, document["budgets"][0]["verdict"]) == (1, "refuted")
    assert not (folder / "ran").exists()


def test_an_honest_subject_still_passes_and_its_twin_is_refuted(
    folder: Path, gate: Callable[..., Any], budget: Callable[..., str]
) -> None:
    code, document = gate(budget("a", subject="mine.py:honest", samples=1000) + budget("b", subject="mine.py:thin", samples=100))
    assert [found["verdict"] for found in document["budgets"]] == ["certified", "refuted"]
    assert code == 1


LIBRARIES = """
from dpaudit.gate import subject_budgets
from dpaudit.gate.workers.guard import Guard
guard = Guard()
import mpmath, pandas, scipy.stats, scipy.optimize, sklearn.linear_model, matplotlib.pyplot, hypothesis, opendp.prelude, torch
mpmath.MPContext()
print(guard.changed())
mpmath.MPContext.cot = lambda *a: 0
print(guard.changed())
"""


@pytest.mark.slow
def test_what_libraries_do_when_they_are_imported_is_no_forgery() -> None:
    done = subprocess.run([sys.executable, "-c", LIBRARIES], capture_output=True, text=True, timeout=280, check=False)
    assert done.stdout.splitlines() == ["[]", "['mpmath.ctx_mp.MPContext.cot']"], done.stderr[-2000:]
