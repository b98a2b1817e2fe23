"""Charges of a training's steps, in blocks: a block is charged before its first step, and stored with the steps that were made.

One entry per step would cost megabytes and a disk write each. A block that a crash cuts short stays spent as a whole; closing
stores the steps that were made, and the account counts those alone. The last block is stored at the close, with what was checked.

Under a budget that adds up ε, equal steps are one plan: their charges add up to the certified composition of all of them so far,
at the budget's δ, which is charged once. Stopping early is free, and the steps that a budget allows are fixed by it in advance.
Under the other filters each block is charged by its moments, and the noise may change.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpaudit.accountants.sampling.constant_steps import CONSTANT
from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.claims import BudgetExceeded, InvalidValue
from dpaudit.ledger import Charge, Ledger, PureSums, Release
from dpaudit.ledger.store.slot import Slot
from dpaudit.training.step_facts import NAME, CannotRecord, StepFacts

FIRST = 64  # steps of a block at least: half as many double the writes, twice as many a crash's loss
SHARE = 16  # later blocks are one part in so many of what was made


class StepCharges:
    """Charges steps to a ledger. ``epoch``: steps that are surely made together, the least size of a block."""

    def __init__(self, ledger: Ledger, epoch: int = 1) -> None:
        self.ledger, self.made = ledger, 0
        self._least = max(FIRST, epoch)
        self._most: int | None = None  # a block of this size was refused
        self._slot: Slot | None = None
        self._size = self._used = self._before = 0
        self._facts: StepFacts | None = None
        self._chain: Chain | None = None
        self._last: tuple[Slot, Release] | None = None  # a block that is over and waits for the next, or for the close
        ledger.at_close(self.close)

    @property
    def steps(self) -> int:
        """Charged and about to be made, or made."""
        return self.made + self._used

    def step(self, facts: StepFacts) -> None:
        """Before the noise of one step is drawn. Raises ``BudgetExceeded``; then nothing may be drawn."""
        if self._slot is None or facts != self._facts or self._used == self._size:
            self.finish()
            self._open(facts)
        self._used += 1

    def finish(self) -> None:
        """The block is over; the next step opens another."""
        slot, self._slot = self._slot, None
        if slot is None or self._facts is None or not self._used:
            return
        self._store_last()
        constant = self._chain is not None
        self._last = slot, self._facts.release(self._used, slot.charge.epsilon, slot.charge.delta, constant=constant)
        if self._chain is not None:
            self._chain.made += self._used
        self.made, self._used = self.made + self._used, 0

    def close(self, checked: str = "") -> None:
        """Store what was made; ``checked``: which checks were passed and failed, for the last block."""
        self.finish()
        self._store_last(checked)

    def entries(self) -> tuple[list[Release], list[Charge]]:
        """The ledger's releases and lost charges as if it was closed now: the block that waits is a release."""
        self.finish()
        releases, unused = list(self.ledger.releases()), list(self.ledger.unused_charges())
        if self._last is not None:
            slot, made = self._last
            releases.append(made)
            unused.remove(slot.charge)
        return releases, unused

    def _store_last(self, checked: str = "") -> None:
        last, self._last = self._last, None
        if last is not None:
            slot, made = last
            slot.store(replace(made, extra={**made.extra, "checked": checked}) if checked else made)

    def _open(self, facts: StepFacts) -> None:
        if facts != self._facts:
            self._store_last()
            self._chain, self._most, self._before = self._begin(facts), None, self.made
        self._facts = facts
        size = max(self._least, self.made // SHARE)
        if self._chain is None:  # what is charged and not made is lost: no more than was made with these facts
            size = min(size, max(1, self.made - self._before))
        size = size if self._most is None else min(size, self._most)
        while True:
            try:
                charge = self._charge(facts, size)
                self._slot, self._size = self.ledger.charge(charge), size
                break
            except BudgetExceeded:
                if size == 1:
                    raise
                size = self._most = size // 2
        if self._chain is not None:
            self._chain.add(charge)

    def _begin(self, facts: StepFacts) -> Chain | None:
        """The plan that these steps belong to; None where each block is charged alone."""
        earlier = [release for release in self.ledger.releases() if release.name == NAME]
        lost = [charge for charge in self.ledger.unused_charges() if charge.name == NAME]
        like = facts.release(1, constant=True)
        same = all(_alike(like, release) for release in earlier) and all(_same_facts(like, charge) for charge in lost)
        if not self._adds_epsilon:
            return Chain(Fraction(0), 0, Fraction(0)) if same and self.ledger.budget is None else None
        if not same:
            raise CannotRecord(
                "steps whose noise, clipping or rate changed, under a budget that adds up ε",
                'set the budget with filter="renyi", which holds however they are chosen',
            )
        made = sum(release.count or 1 for release in earlier) + sum(int(charge.facts.get("count", "1")) for charge in lost)
        charged = [*(release.charge() for release in earlier), *lost]
        spent = sum((charge.epsilon or Fraction(0) for charge in charged), Fraction(0))
        return Chain(spent, made, sum((charge.delta for charge in charged), Fraction(0)))

    @property
    def _adds_epsilon(self) -> bool:
        return self.ledger.budget is not None and self.ledger.filter_name == PureSums.name

    def _charge(self, facts: StepFacts, size: int) -> Charge:
        if not self._adds_epsilon or self._chain is None or self.ledger.budget is None:
            return facts.release(size, constant=False).charge()
        chain, budget = self._chain, self.ledger.budget
        delta = chain.delta or budget.delta - self.ledger.spent()[1]
        if delta <= 0:
            raise InvalidValue("budget", "δ = 0", "a budget with δ left: Gaussian noise has no ε at δ = 0")
        epsilon, _ = composed(facts.repeated(chain.made + size), delta)
        more = max(Fraction(0), (epsilon or Fraction(0)) - chain.epsilon)
        return facts.release(size, more, delta - chain.delta, constant=True).charge()


class Chain:
    """Equal steps of one plan: what they were charged, how many were made, and at which δ."""

    def __init__(self, epsilon: Fraction, made: int, delta: Fraction) -> None:
        self.epsilon, self.made, self.delta = epsilon, made, delta

    def add(self, charge: Charge) -> None:
        self.epsilon, self.delta = self.epsilon + (charge.epsilon or 0), self.delta + charge.delta


def _alike(like: Release, other: Release) -> bool:
    return other.theorem == CONSTANT and _same_facts(like, other.charge())


def _same_facts(like: Release, charge: Charge) -> bool:
    own, theirs = dict(like.charge().facts), dict(charge.facts)
    own.pop("count"), theirs.pop("count", None)
    return own == theirs
