"""``recorded``: every noisy gradient of an Opacus training in a ledger, charged before its noise is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dpaudit.accountants.composition import account, account_releases, target_delta
from dpaudit.accountants.sampling.constant_steps import FAILED, join_steps
from dpaudit.claims import Number
from dpaudit.ledger import Ledger, open_ledger
from dpaudit.training.batch_watch import watch_batches
from dpaudit.training.checks.result import CheckResult
from dpaudit.training.opacus_facts import check_optimizer, read_step, refuse_arguments, sample_rate
from dpaudit.training.step_charges import StepCharges
from dpaudit.training.step_facts import CannotRecord, StepFacts


def recorded(
    target: Any,
    ledger: Ledger | str | Path,
    *,
    budget: Any = None,
    sampling: Number | None = None,
    data_loader: Any = None,
) -> TrainingRecord:
    """Record an Opacus training: ``target`` is its PrivacyEngine, before ``make_private``, or the optimizer that this returned.

    ``ledger``: an open ledger, or the file to make. ``budget``: (ε, δ), as ``dp.open_ledger`` takes it; the step that would
    exceed it raises ``BudgetExceeded`` before its noise is drawn, and the model stays as it is.
    ``sampling``: the rate of the Poisson samples, where neither the loader nor Opacus's accountant knows it; 1 charges every step
    as if every record were in it, which holds for any batches.
    Raises ``CannotRecord`` for what a ledger cannot express. Close the record, or the ledger, when the training is over.
    """
    opened = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    if budget is not None:
        opened.limit(budget)
    record = TrainingRecord(opened, sampling, owned=opened is not ledger)
    if hasattr(target, "make_private"):
        _record_engine(target, record)
    else:
        record.attach(target, data_loader)
    return record


class TrainingRecord:
    """What is recorded of one training. A context manager: leaving it stores the last steps."""

    def __init__(self, ledger: Ledger, sampling: Number | None, *, owned: bool) -> None:
        self.ledger, self._sampling, self._owned = ledger, sampling, owned
        self._charges: StepCharges | None = None

    @property
    def steps(self) -> int:
        """Steps of this training so far."""
        return 0 if self._charges is None else self._charges.steps

    def epsilon(self, delta: Number | None = None) -> Fraction:
        """The certified ε of all that the ledger holds so far; at the budget's δ unless another is given."""
        if self._charges is None:
            return account(self.ledger, delta=delta).epsilon
        releases, unused = join_steps(*self._charges.entries())
        return account_releases(releases, target_delta(releases, self.ledger.budget, delta), unused).epsilon

    def attach(self, optimizer: Any, data_loader: Any = None) -> None:
        """Charge every step of this optimizer from here on."""
        check_optimizer(optimizer)
        if getattr(optimizer, "dpaudit_record", None) is not None:
            raise CannotRecord("an optimizer twice", "every step would be charged twice; one record is enough")
        rate = sample_rate(optimizer, data_loader, self._sampling)
        charges = self._charges = self._charges or StepCharges(self.ledger, max(1, int(1 / rate)))
        samples, draw = SamplesOfStep(optimizer, data_loader), optimizer.add_noise
        read: dict[tuple[Any, ...], StepFacts] = {}  # of the last step, as they seldom change

        def add_noise() -> None:
            key = (optimizer.noise_multiplier, optimizer.max_grad_norm, samples.count())
            if key not in read:
                read.clear()
                read[key] = read_step(optimizer, rate, key[-1])
            charges.step(read[key])
            draw()

        optimizer.add_noise, optimizer.dpaudit_record = add_noise, self

    def close(self, checks: Iterable[CheckResult] = ()) -> None:
        """Store the steps that were made; closes the ledger too if ``recorded`` opened it.

        ``checks``: results of ``watched``; the ledger gets the names of those that were passed or failed, and nothing measured.
        """
        if self._charges is not None:
            self._charges.close(_checked(list(checks)))
        if self._owned:
            self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _checked(checks: list[CheckResult]) -> str:
    passed = [check.name for check in checks if check.passed]
    failed = [check.name + FAILED for check in checks if check.passed is False]
    return ", ".join([*failed, *passed])


class SamplesOfStep:
    """How many Poisson samples a step adds up: batches of one backward pass each, or drawn between passes that are kept.

    Parts of one sample, as BatchMemoryManager makes them, are drawn at once and count as one. A loader with workers draws ahead:
    there only batches that Opacus accumulates itself are seen.
    """

    def __init__(self, optimizer: Any, data_loader: Any) -> None:
        self._optimizer, self._kept, self._more = optimizer, False, 0
        if getattr(data_loader, "num_workers", 1) or not watch_batches(data_loader, self._draw):
            return
        clip = optimizer.clip_and_accumulate

        def clip_and_accumulate() -> None:
            clip()
            self._kept = True

        optimizer.clip_and_accumulate = clip_and_accumulate

    def _draw(self, batch: object) -> None:
        self._more += self._kept

    def count(self) -> int:
        """Of the step that is about to be noised; the next one starts anew."""
        more, self._kept, self._more = self._more, False, 0
        return int(self._optimizer.accumulated_iterations) + more


def _record_engine(engine: Any, record: TrainingRecord) -> None:
    """Whatever this engine makes private is recorded; ``make_private_with_epsilon`` calls ``make_private`` too."""
    make_private = engine.make_private

    def recorded_make_private(**arguments: Any) -> Any:
        refuse_arguments(arguments, record._sampling)
        made = make_private(**arguments)
        record.attach(made[1], made[-1])
        return made

    engine.make_private = recorded_make_private
