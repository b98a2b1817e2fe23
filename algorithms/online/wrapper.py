"""Puts a user's own bandit behind the audit: any of five dialects, driven from a table of rewards so that runs replay."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.online.dialects import Dialect, Player, check_contexts, recognise, speaks
from algorithms.online.reward_tables import RewardRounds, relation
from dpaudit.channel import Channel
from dpaudit.claims import DpauditError, InvalidValue, Number, exact, whole
from dpaudit.neighbours.relations import Neighbours
from dpaudit.subjects import Subject
from dpaudit.subjects.subject import make_subject

SEEDS = 2**32  # what numpy's older generators take; 0 is left out, as contextualbandits refuses it

Make = Callable[[int, np.random.Generator, Channel | None], Any]  # a policy that knows nothing yet


def wrap(
    policy: Any, *, low: Number, high: Number, horizon: Any, actions: Any, claim: Any,
    neighbours: str | Neighbours = "reward-table", observer: str = "actions", clip: bool = True,
    reset: Callable[..., Any] | None = None, contexts: Any = None, opening: Sequence[Any] = (), name: str | None = None,
) -> Subject:  # fmt: skip
    """A subject that plays ``policy`` for ``horizon`` rounds on a reward table and returns the actions it chose.

    ``policy`` is a factory of (seed), (rng), (channel) or (), called for each run, or an object with ``reset(seed)``
    (its own, or the one given). With a parameter ``channel`` the subject is grey-box: rewards come sealed, and
    what depends on them must be released. ``actions``: how many, or their names; ``opening``: those of the first rounds,
    played without asking a policy that must have seen rewards before it chooses, such as MABWiser's. Rewards
    outside [low, high] are clipped, or refused with ``clip=False``. ``claim`` gives ε and δ, ``observer`` says who
    watches. ``contexts``: public, one per round.
    """
    rounds, arms = whole(horizon, "horizon", 2), _arms(actions)
    ends = float(exact(low, "low")), float(exact(high, "high"))
    related = _related(neighbours, rounds, len(arms), ends, clip)
    make, grey, example = _maker(policy, reset)
    dialect = recognise(example)
    check_contexts(example, dialect, contexts, rounds)
    opened = _opened(opening, arms, rounds, dialect)

    def play(rewards: Any, rng: np.random.Generator, channel: Channel | None) -> np.ndarray:
        data, seed = related[1].read(rewards), max(1, int(rng.integers(SEEDS)))
        with _seeded(seed):
            fresh = make(seed, rng, channel)
            if dialect.choose == "choice" and hasattr(fresh, "startGame"):  # SMPyBandits plays after that only
                fresh.startGame()
            return _played(Player(fresh, dialect, arms, contexts), data, rounds, opened)

    def black_box(rewards: Any, rng: np.random.Generator) -> np.ndarray:
        return play(rewards, rng, None)

    def grey_box(rewards: Any, channel: Channel) -> np.ndarray:
        return play(rewards, channel.rng, channel)

    claimed = _claim(claim, observer)
    label = name or getattr(policy, "__name__", type(policy).__name__)
    return make_subject(grey_box if grey else black_box, claimed, related[0], label)


def _played(player: Player, data: Any, rounds: int, opened: list[int]) -> np.ndarray:
    actions = np.zeros(rounds, np.int64)
    for t in range(rounds):
        actions[t] = opened[t] if t < len(opened) else player.choose(t) if t else _first(player)
        player.learn(t, int(actions[t]), data.each((t, t + 1), actions[t : t + 1]))
    return actions


def _first(player: Player) -> int:
    """The action of round 0. Raises DpauditError with the way out when the policy cannot choose yet."""
    try:
        return player.choose(0)
    except DpauditError:
        raise
    except Exception as error:  # libraries have no common type for "not fitted yet"; no reward has been seen
        raise DpauditError(
            f"the policy failed when it was asked before it had seen a reward ({type(error).__name__}: {error}); "
            "if it must see some first, give opening=[…], the actions of its first rounds, or fit it on public data"
        ) from error


def _opened(opening: Sequence[Any], arms: list[Any], rounds: int, dialect: Dialect) -> list[int]:
    """The places of the actions that are played without asking."""
    if len(opening) and dialect.choose == "select":
        raise InvalidValue("opening", list(opening), "left out: this policy learns by the tickets that it hands out itself")
    unknown = [arm for arm in opening if arm not in arms]
    if unknown or len(opening) > rounds:
        raise InvalidValue("opening", list(opening), f"at most {rounds} of the {len(arms)} actions, by their names")
    return [arms.index(arm) for arm in opening]


def _related(
    given: str | Neighbours, rounds: int, actions: int, ends: tuple[float, float], clip: bool
) -> tuple[Neighbours, RewardRounds]:
    """The relation, and how its data is read; a relation of one's own gives tables."""
    if isinstance(given, str):
        named = relation(given, rounds, actions, *ends, clip)
        return named, named
    return given, relation("reward-table", rounds, actions, *ends, clip)


def _arms(actions: Any) -> list[Any]:
    if isinstance(actions, np.ndarray):
        return list(range(len(actions))) if actions.ndim == 2 else actions.tolist()
    arms = list(actions) if isinstance(actions, list | tuple | range) else list(range(whole(actions, "actions")))
    if len(arms) < 1 or len({repr(arm) for arm in arms}) != len(arms):
        raise InvalidValue("actions", len(arms), "at least one action, each with a name of its own")
    return arms


def _claim(claim: Any, observer: str) -> dp.Claim:
    if isinstance(claim, dp.Claim):
        return dp.Claim(claim.epsilon, claim.delta, observer)
    epsilon, delta = claim if isinstance(claim, tuple) and len(claim) == 2 else (claim, 0)
    return dp.Claim(epsilon, delta, observer)


def _maker(policy: Any, reset: Callable[..., Any] | None) -> tuple[Make, bool, Any]:
    """How a run gets its policy, whether that takes a channel, and one policy to look at."""
    if isinstance(policy, type) or (callable(policy) and not speaks(policy)):
        if reset is not None:
            raise InvalidValue("reset", "given", "left out: a factory makes a new policy for each run")
        names = _named(policy, "policy")

        def make(seed: int, rng: np.random.Generator, channel: Channel | None) -> Any:
            given = {"seed": seed, "rng": rng, "channel": channel}
            return policy(**{key: given[key] for key in names})

        with dp.simulate(0) as door:
            return make, "channel" in names, make(1, np.random.default_rng(0), door)
    recognise(policy)
    again = _reset_of(policy, reset)
    names = _named(again, "reset")

    def restart(seed: int, rng: np.random.Generator, channel: Channel | None) -> Any:
        given = {"seed": seed, "rng": rng, "channel": channel}
        again(**{key: given[key] for key in names})
        return policy

    return restart, "channel" in names, policy


def _reset_of(policy: Any, reset: Callable[..., Any] | None) -> Callable[..., Any]:
    for found in (reset, getattr(policy, "reset", None), getattr(policy, "startGame", None)):
        if callable(found):
            return found
    raise InvalidValue("reset", None, "given: reset(seed) makes the policy forget; or pass a factory instead")


def _named(function: Callable[..., Any], what: str) -> list[str]:
    """Which of seed, rng and channel it takes. Raises InvalidValue when it needs anything else."""
    parameters = inspect.signature(function).parameters.values()
    known = ("seed", "rng", "channel")
    other = [
        p.name for p in parameters
        if p.name not in known and p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]  # fmt: skip
    if other:
        raise InvalidValue(what, f"needs {', '.join(other)}", "a function of seed, rng, channel or nothing")
    return [p.name for p in parameters if p.name in known]


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Policies that use the global generators replay too; what was there before comes back."""
    before, numpy_before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002
