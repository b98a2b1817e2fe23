"""What can go wrong at the online face. No message holds a reward."""

from __future__ import annotations

from dpaudit.claims import DpauditError


class UnknownTicket(DpauditError):
    """A ticket that this bandit did not hand out since it was started."""

    def __init__(self) -> None:
        super().__init__("unknown ticket: not handed out since this bandit was started (a restart drops an unfinished batch)")


class BatchOutstanding(DpauditError):
    """Rewards of the open batch are missing."""

    def __init__(self, batch: int, waiting: int, handed_out: bool) -> None:
        self.batch, self.waiting = batch, waiting
        remedy = "update() them, or finish_batch()" if handed_out else "select() its other rounds first"
        super().__init__(f"batch {batch} waits for {waiting} rewards: {remedy}")


class HorizonReached(DpauditError):
    """All rounds are played."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        super().__init__(f"all {horizon} rounds have been handed out")


class UnreadableState(DpauditError):
    """A state file that this version did not write, or that does not fit its ledger."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path} cannot be used: {why}")
