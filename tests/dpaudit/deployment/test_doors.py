"""The public doors charge by the accountants' theorems, whatever else was imported before."""

from __future__ import annotations

import subprocess
import sys
import traceback
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import channel
from dpaudit.ledger import MemoryLedger
from dpaudit.noise import SecureSource

# One report costs ε0 = 1, and 1000 shuffled ones much less: a budget of 1/2 tells the two charges apart.
BATCH = """
import numpy as np
import dpaudit as dp
from dpaudit.ledger import MemoryLedger
{before}
def charged():
    try:
        with {door} as channel:
            channel.reports("batch", np.zeros(1000), dp.Laplace(scale=2), sensitivity=2, to="shuffled")
    except dp.BudgetExceeded as refused:
        return f"refused at {{refused.would_cost[0]}}"
    return f"allowed at {{channel.events[0].record.epsilon if channel.events else ledger.spent()[0]}}"
first = charged()
import dpaudit.accountants
print(first, "|", charged())
"""
SIMULATED = "dp.simulate(1, budget=('1/2', '1e-6'))"
LIVE = "dp.live((ledger := MemoryLedger('deployment')), budget=('1/2', '1e-6'))"


def in_a_fresh_process(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("door", [SIMULATED, LIVE], ids=["simulate", "live"])
@pytest.mark.parametrize("before", ["", "import dpaudit.accountants"], ids=["first", "after the accountants"])
def test_a_shuffled_batch_is_charged_alike_before_and_after_the_accountants_are_imported(door: str, before: str) -> None:
    program = BATCH.format(door=door, before=before).replace("def charged():", "def charged():\n    global ledger")
    earlier, later = in_a_fresh_process(program).split(" | ")
    assert earlier == later
    assert earlier.startswith("allowed at ")
    assert Fraction(earlier.removeprefix("allowed at ")) < Fraction(1, 2)


def test_importing_the_accountants_changes_no_door_that_was_handed_no_theorem() -> None:
    """The twin: the channel's own door knows no theorem, and refuses before and after alike."""
    program = BATCH.format(door=SIMULATED.replace("dp.", "dpaudit.channel."), before="import dpaudit.channel")
    assert in_a_fresh_process(program) == "refused at 1 | refused at 1"


def test_a_door_charges_by_the_theorem_that_it_is_handed() -> None:
    asked = []

    def theorem(noise: object, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        asked.append((epsilon0, n, delta))
        return epsilon0 / 5

    with channel.Doors(theorem).simulate(1, budget=("1/4", "1e-6")) as door:
        door.reports("batch", np.zeros(10), dp.Laplace(scale=2), sensitivity=2, to="shuffled")
    assert asked == [(1, 10, Fraction(1, 10**6))]
    record = door.events[0].record
    assert record is not None
    assert (record.epsilon, record.delta) == (Fraction(1, 5), Fraction(1, 10**6))


def test_few_files_stand_between_a_release_and_its_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    stacks: list[set[str]] = []
    words = SecureSource.words

    def watched(self: SecureSource, *arguments: int) -> np.ndarray:
        stacks.append({frame.filename for frame in traceback.extract_stack()} | {words.__code__.co_filename})
        return words(self, *arguments)

    monkeypatch.setattr(SecureSource, "words", watched)
    package = str(Path(dp.__file__).parent)
    for noise in (dp.Laplace(2), dp.RandomizedResponse("1"), dp.Gaussian(2)):
        stacks.clear()
        with dp.live(MemoryLedger("deployment")) as door:
            door.release("a", 1, noise, sensitivity=1)
        own = [{file for file in stack if file.startswith(package)} for stack in stacks]
        assert min(map(len, own)) <= 6
        assert max(sum("sampling" not in file for file in stack) for stack in own) <= 4  # up to the mechanism; then its sampler
