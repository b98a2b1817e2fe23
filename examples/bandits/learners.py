"""Runs in a library's own environment: its bandits behind the wrapper, one line of JSON each.

python learners.py NAME    {"learner": name, "actions": […]} with "verdict" and "lower", or with "failure"
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.online.wrapper import wrap

HORIZON, DIMENSION = 6, 3
CONTEXTS = np.random.default_rng(1).normal(size=(HORIZON, DIMENSION))

Learner = tuple[Callable[..., Any], dict[str, Any]]  # a factory, and what ``wrap`` is told besides


def mabwiser() -> dict[str, Learner]:
    from mabwiser.mab import MAB, LearningPolicy

    plain = [LearningPolicy.EpsilonGreedy(0.2), LearningPolicy.UCB1(1.0), LearningPolicy.Softmax(1.0)]
    linear = [LearningPolicy.LinUCB(1.0), LearningPolicy.LinTS(1.0)]
    opened = {"opening": [0, 1]}  # it must be given rewards before it chooses

    def learner(policy: Any) -> Callable[..., Any]:
        return lambda seed: MAB([0, 1], policy, seed=seed)

    return {type(each).__name__: (learner(each), opened) for each in plain} | {
        type(each).__name__: (learner(each), {**opened, "contexts": CONTEXTS}) for each in linear
    }


def obp() -> dict[str, Learner]:
    from obp.policy import BernoulliTS, EpsilonGreedy, LinTS, LinUCB

    return {
        "EpsilonGreedy": (lambda seed: EpsilonGreedy(n_actions=2, epsilon=0.2, random_state=seed), {}),
        "BernoulliTS": (lambda seed: BernoulliTS(n_actions=2, random_state=seed), {}),
        "LinUCB": (lambda seed: LinUCB(dim=DIMENSION, n_actions=2, random_state=seed), {"contexts": CONTEXTS}),
        "LinTS": (lambda seed: LinTS(dim=DIMENSION, n_actions=2, random_state=seed), {"contexts": CONTEXTS}),
    }


def smpybandits() -> dict[str, Learner]:
    from SMPyBandits.Policies import UCB, EpsilonGreedy, Exp3, Thompson

    return {
        "UCB": (lambda: UCB(2), {}),
        "Thompson": (lambda: Thompson(2), {}),
        "Exp3": (lambda: Exp3(2, gamma=0.5), {}),
        "EpsilonGreedy": (lambda: EpsilonGreedy(2, epsilon=0.2), {}),
    }


def river() -> dict[str, Learner]:
    from river import bandit, proba

    rows = [dict(enumerate(row)) for row in CONTEXTS.tolist()]
    return {
        "EpsilonGreedy": (lambda seed: bandit.EpsilonGreedy(epsilon=0.2, seed=seed), {}),
        "UCB": (lambda seed: bandit.UCB(delta=1.0, seed=seed), {}),
        "ThompsonSampling": (lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(seed=seed), seed=seed), {}),
        "Exp3": (lambda seed: bandit.Exp3(gamma=0.5, seed=seed), {}),
        "LinUCBDisjoint": (lambda seed: bandit.LinUCBDisjoint(seed=seed), {"contexts": rows}),
    }


def contextualbandits() -> dict[str, Learner]:
    from contextualbandits.online import LinTS, LinUCB

    return {
        "LinUCB": (lambda seed: LinUCB(2, random_state=seed), {"contexts": CONTEXTS}),
        "LinTS": (lambda seed: LinTS(2, random_state=seed), {"contexts": CONTEXTS}),
    }


LIBRARIES = {each.__name__: each for each in (mabwiser, obp, smpybandits, river, contextualbandits)}


def tried(make: Callable[..., Any], more: dict[str, Any]) -> dict[str, Any]:
    """Played twice from one seed, and audited; a learner that does not replay is a failure."""
    subject = wrap(make, low=0, high=1, horizon=HORIZON, actions=2, claim="1", **more)
    table = np.tile([0.25, 0.75], (HORIZON, 1))
    first, second = (subject(table, np.random.default_rng(3)).tolist() for _ in range(2))
    if first != second:
        return {"failure": f"one seed, two runs: {first} and {second}"}
    verdict = dp.audit(subject, samples=300, seed=1)
    return {"actions": first, "verdict": str(verdict.verdict), "lower": float(verdict.lower.epsilon)}


def main() -> None:
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for name, (make, more) in LIBRARIES[sys.argv[1]]().items():
        try:
            result = tried(make, more)
        except Exception as error:  # of a library of another version, or a defect of the wrapper
            result = {"failure": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps({"learner": name, **result}), file=out, flush=True)


if __name__ == "__main__":
    main()
