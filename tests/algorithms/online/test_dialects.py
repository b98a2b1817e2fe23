"""Dialects are told by their methods; our own hands out tickets and takes each back with its own reward."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms.online.dialects import Player, recognise
from dpaudit.claims import InvalidValue


class Selecting:
    """Chooses arms in turn, by tickets or plainly, and notes what comes back."""

    def __init__(self, tickets: bool, contextual: bool = False) -> None:
        self.tickets, self.contextual, self.round, self.seen = tickets, contextual, 0, []  # type: ignore[var-annotated]

    def select(self, *context: Any) -> Any:
        assert len(context) == self.contextual
        self.round += 1
        arm = self.round % 2
        return SimpleNamespace(id=self.round, action=arm) if self.tickets else arm

    def update(self, ticket: Any, reward: Any) -> None:
        self.seen.append((ticket.id if self.tickets else ticket, reward))


@pytest.mark.parametrize("tickets", [True, False])
def test_our_own_dialect_gets_each_reward_with_its_ticket(tickets: bool) -> None:
    policy = Selecting(tickets)
    player = Player(policy, recognise(policy), [0, 1])
    chosen = [player.choose(t) for t in range(2)]
    assert chosen == [1, 0]
    for t in (1, 0):  # late and out of order
        player.learn(t, chosen[t], np.array([t / 2]))
    assert policy.seen == ([(2, 0.5), (1, 0.0)] if tickets else [(0, 0.5), (1, 0.0)])
    assert player.tickets == {}


def test_contexts_reach_a_contextual_bandit_of_our_own_dialect() -> None:
    policy = Selecting(True, contextual=True)
    player = Player(policy, recognise(policy), [0, 1], np.eye(3))
    assert player.choose(0) == 1


def test_half_a_dialect_is_named() -> None:
    with pytest.raises(InvalidValue, match=r"it has select\(\) but no update\(\)"):
        recognise(SimpleNamespace(select=lambda: 0))
