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
            channel.reports("batch", np.zeros(1000), dp.Laplace(scale=2), sensitivity=2, to="shuffled", interval=(-1, 1))
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
        door.reports("batch", np.zeros(10), dp.Laplace(scale=2), sensitivity=2, to="shuffled", interval=(-1, 1))
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
        assert min(map(len, own)) <= 7  # one of them takes the frames from errors
        assert max(sum("sampling" not in file for file in stack) for stack in own) <= 5  # up to the mechanism; then its sampler


APART = np.array([0.0] + [100.0] * 999)  # one client is far from the others: its report tells whose it is, shuffled or not
SHUFFLED = {"noise": dp.Laplace(scale=1), "sensitivity": 1, "to": "shuffled"}


def test_a_shuffled_batch_of_plain_values_is_charged_as_one_report() -> None:
    """1,000 reports in one interval cost .13. These are told apart: δ = .567 at ε = .5, as nothing hides the one far away."""
    ledger = MemoryLedger("deployment")
    with dp.live(ledger, budget=("1/2", "1e-6")) as door, pytest.raises(dp.BudgetExceeded) as refused:
        door.reports("batch", APART, **SHUFFLED)
    assert Fraction("0.99999") < refused.value.would_cost[0] <= 1
    assert ledger.spent()[0] == 0


def test_a_door_that_clamps_plain_values_to_one_interval_charges_the_batch() -> None:
    ledger = MemoryLedger("deployment")
    with dp.live(ledger, budget=("1/2", "1e-6")) as door:
        reports = door.reports("batch", APART, interval=("99.5", "100.5"), **SHUFFLED)
        assert 0 < ledger.spent()[0] < Fraction(1, 7)
        assert reports.values.min() > 60  # clamped to 99.5 before the noise; an unclamped 0 would need noise of 60 scales
    with dp.simulate(1) as door:  # 99.5 + 99,900, and noise with deviation √2000
        assert door.reports("batch", APART, interval=("99.5", "100.5"), **SHUFFLED).sum()[0] == pytest.approx(99_999.5, abs=500)


def test_an_interval_wider_than_the_sensitivity_or_for_sealed_values_is_refused() -> None:
    for interval in ((0, 100), (1, 1), (0, 1, 2), "01", ("a", "b")):
        with dp.simulate(1) as door, pytest.raises(dp.DpauditError):
            door.reports("batch", APART, interval=interval, **SHUFFLED)
    with dp.simulate(1) as door, pytest.raises(dp.DpauditError, match="sealed"):
        door.reports("batch", dp.seal(np.zeros(5), 0, 1), interval=(0, 1), **SHUFFLED)


def test_answers_of_randomised_response_need_no_interval_and_are_charged_by_their_own_blanket() -> None:
    spent = []
    for noise in (dp.KaryResponse(1, 100), dp.RandomizedResponse(1)):
        ledger = MemoryLedger("deployment")
        with dp.live(ledger, budget=("1/2", "1e-6")) as door:
            door.reports("batch", np.arange(10_000) % 7, noise, sensitivity=1, to="shuffled")
        spent.append(float(ledger.spent()[0]))
        line = dp.account(ledger).lines[0]
        assert "randomised response" in line.theorem
        assert "one randomiser" in line.preconditions
    assert spent == pytest.approx([0.0071833, 0.0432062], rel=1e-5)


def test_public_labels_are_charged_by_the_smallest_group() -> None:
    """Report (action, bit) where nobody else has the target's action: nothing hides it, whatever n is."""
    tags = np.array([0] + [1] * 999)
    for labels, limit in ((tags, 1), (np.zeros(1000, dtype=int), Fraction(1, 6))):
        ledger = MemoryLedger("deployment")
        with dp.live(ledger, budget=("1", "1e-6")) as door:
            door.reports("batch", np.zeros(1000), dp.RandomizedResponse(1), sensitivity=1, to="shuffled", tags=labels)
        assert Fraction(1, 20) < ledger.spent()[0] <= limit
        assert (ledger.spent()[0] > Fraction(9, 10)) == (limit == 1)
