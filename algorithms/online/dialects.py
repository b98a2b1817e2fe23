"""The dialects that people's own bandits speak, recognised by their method names.

predict / partial_fit          MABWiser, contextualbandits
select_action / update_params  Open Bandit Pipeline
choice / getReward             SMPyBandits
pull / update                  river
select / update                our own services (``algorithms.online``): what is selected may be a ticket with its action
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.sealed import Sealed

METHODS = {
    "predict": "partial_fit",
    "select_action": "update_params",
    "choice": "getReward",
    "pull": "update",
    "select": "update",
}


def speaks(policy: Any) -> bool:
    """Does it have both methods of some dialect?"""
    return any(_has(policy, choose) and _has(policy, learn) for choose, learn in METHODS.items())


@dataclass(frozen=True)
class Dialect:
    """The method that chooses, and whether the one that learns takes the context before all else."""

    choose: str
    context_first: bool


def recognise(policy: Any) -> Dialect:
    """Raises InvalidValue, which says what is missing."""
    for choose, learn in METHODS.items():
        if _has(policy, choose) and _has(policy, learn):
            # contextualbandits: partial_fit(X, a, r); MABWiser: partial_fit(decisions, rewards, contexts=None)
            return Dialect(choose, _required(getattr(policy, learn))[:1] == ["X"])
    for choose, learn in METHODS.items():
        if _has(policy, choose) or _has(policy, learn):
            found, missing = (choose, learn) if _has(policy, choose) else (learn, choose)
            raise InvalidValue("policy", type(policy).__name__, f"a bandit: it has {found}() but no {missing}()")
    pairs = ", ".join(f"{choose}/{learn}" for choose, learn in METHODS.items())
    raise InvalidValue("policy", type(policy).__name__, f"a bandit with one of the pairs of methods {pairs}")


@dataclass(frozen=True)
class Player:
    """One policy in one run: ``choose`` gives the index of an action, ``learn`` hands over its reward."""

    policy: Any
    dialect: Dialect
    arms: Sequence[Any]
    contexts: Any = None
    tickets: dict[int, Any] = field(default_factory=dict)  # of rounds whose reward is still to come

    def choose(self, t: int) -> int:
        return self._place(_CHOOSE[self.dialect.choose](self, t))

    def learn(self, t: int, action: int, reward: Any) -> None:
        """``reward`` is a vector of one number, plain or sealed."""
        _LEARN[self.dialect.choose](self, t, self.arms[action], reward)

    def context(self, t: int) -> Any:
        """The public context of round t, a row where contexts are an array."""
        contexts = self.contexts
        return contexts[t : t + 1] if isinstance(contexts, np.ndarray) else contexts[t]

    def extra(self, t: int) -> tuple[Any, ...]:
        return () if self.contexts is None else (self.context(t),)

    def _place(self, chosen: Any) -> int:
        if isinstance(chosen, Iterator):  # older versions of river yield their arms
            chosen = next(chosen)
        if isinstance(chosen, list | tuple | np.ndarray) and np.ndim(chosen) == 1 and len(chosen) == 1:
            chosen = chosen[0]
        for place, arm in enumerate(self.arms):
            if np.ndim(chosen) == 0 and arm == chosen:
                return place
        raise DpauditError(f"the policy chose {chosen!r:.40}, which is none of its {len(self.arms)} actions")


def check_contexts(policy: Any, dialect: Dialect, contexts: Any, rounds: int) -> None:
    """Raise InvalidValue when the policy cannot choose without a context and none are given, or too few."""
    known = 1 if dialect.choose == "pull" else 0
    asked = _required(getattr(policy, dialect.choose))[known:]
    if contexts is None and asked:
        raise InvalidValue("contexts", None, f"given: {dialect.choose}() needs {', '.join(asked)}")
    if contexts is not None and len(contexts) < rounds:
        raise InvalidValue("contexts", len(contexts), f"one for each of the {rounds} rounds")


def _required(method: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in plain and p.default is inspect.Parameter.empty]


def _has(policy: Any, method: str) -> bool:
    return callable(getattr(policy, method, None))


def _one(reward: Any) -> Any:
    return reward[0] if isinstance(reward, Sealed) else float(reward[0])


def _partial_fit(player: Player, t: int, arm: Any, reward: Any) -> None:
    arms = np.array([arm])
    if player.dialect.context_first:
        player.policy.partial_fit(player.context(t), arms, reward)
    else:
        player.policy.partial_fit(arms, reward, *player.extra(t))


def _select(player: Player, t: int) -> Any:
    player.tickets[t] = player.policy.select(*player.extra(t))
    return getattr(player.tickets[t], "action", player.tickets[t])


_CHOOSE: dict[str, Callable[[Player, int], Any]] = {
    "predict": lambda player, t: player.policy.predict(*player.extra(t)),
    "select_action": lambda player, t: player.policy.select_action(*player.extra(t)),
    "choice": lambda player, t: player.policy.choice(*player.extra(t)),
    "pull": lambda player, t: player.policy.pull(list(player.arms), *player.extra(t)),
    "select": _select,
}
_LEARN: dict[str, Callable[[Player, int, Any, Any], None]] = {
    "predict": _partial_fit,
    "select_action": lambda player, t, arm, r: player.policy.update_params(arm, _one(r), *player.extra(t)),
    "choice": lambda player, t, arm, r: player.policy.getReward(arm, _one(r), *player.extra(t)),
    "pull": lambda player, t, arm, r: player.policy.update(arm, *player.extra(t), _one(r)),
    "select": lambda player, t, arm, r: player.policy.update(player.tickets.pop(t), _one(r)),
}
