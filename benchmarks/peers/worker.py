"""A worker in one peer's environment, or in our own: reads tasks as JSON lines, answers with a value and CPU seconds.

Needs nothing but the standard library and the peer, which has numpy where it audits.
Each task is prepared and run once before it is timed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.peers import audit_tasks, growth_tasks

DELTA = 1e-6
LEAST_CPU = 0.05  # seconds: short calls are repeated, for everybody alike
Call = Callable[[], Any]


def dpaudit(task: str, size: int) -> Call:
    if task.startswith(("audit", "canaries")):
        return audit_tasks.dpaudit(task, size)
    if task in (*growth_tasks.SETTINGS, "shuffle", "categories"):
        return growth_tasks.dpaudit(task, size)
    from fractions import Fraction

    import numpy as np

    from dpaudit.accountants import Part, compose
    from dpaudit.accountants.sampling import SampledGaussian, sampled_epsilon
    from dpaudit.noise import GRID, Gaussian, Laplace, SecureSource

    delta, step = Fraction(1, 10**6), int(1 / GRID)
    if task in ("laplace", "gaussian"):
        part = Part(Laplace(10) if task == "laplace" else Gaussian(10), step, size)
        return lambda: float(compose([part], delta).upper)
    if task == "sampled":
        return lambda: float(sampled_epsilon([SampledGaussian("0.01", "1", size)], delta).upper)
    noise, source, zeros = (Laplace(2) if task == "draw-laplace" else Gaussian(2)), SecureSource(), np.zeros(size, np.int64)
    return lambda: float(len(noise.draw(zeros, source)))


def dp_accounting(task: str, size: int) -> Call:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    events = {
        "laplace": dp_event.LaplaceDpEvent(10.0),
        "gaussian": dp_event.GaussianDpEvent(10.0),
        "sampled": dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)),
    }

    def call() -> float:
        accountant = pld_privacy_accountant.PLDAccountant()
        accountant.compose(events[task], size)
        return float(accountant.get_epsilon(DELTA))

    return call


def opacus(task: str, size: int) -> Call:
    from opacus.accountants import PRVAccountant

    def call() -> float:
        accountant = PRVAccountant()
        accountant.history = [(10.0, 1.0, size) if task == "gaussian" else (1.0, 0.01, size)]
        return float(accountant.get_epsilon(delta=DELTA))

    return call


def prv_accountant(task: str, size: int) -> Call:
    from prv_accountant import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant

    prv = {
        "laplace": lambda: LaplaceMechanism(mu=0.1),
        "gaussian": lambda: GaussianMechanism(noise_multiplier=10.0),
        "sampled": lambda: PoissonSubsampledGaussianMechanism(noise_multiplier=1.0, sampling_probability=0.01),
    }[task]

    def call() -> float:
        accountant = PRVAccountant(prvs=[prv()], max_self_compositions=[size], eps_error=0.01, delta_error=DELTA / 1000)
        return float(accountant.compute_epsilon(delta=DELTA, num_self_compositions=[size])[2])

    return call


def autodp(task: str, size: int) -> Call:
    from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def mechanism() -> Any:
        if task == "laplace":
            return LaplaceMechanism(b=10.0)
        plain = GaussianMechanism(sigma=10.0 if task == "gaussian" else 1.0)
        return (
            plain if task == "gaussian" else AmplificationBySampling(PoissonSampling=True)(plain, 0.01, improved_bound_flag=True)
        )

    return lambda: float(Composition()([mechanism()], [size]).get_approxDP(DELTA))


def opendp(task: str, size: int) -> Call:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    make = dp.m.make_laplace if task == "draw-laplace" else dp.m.make_gaussian
    atom = dp.atom_domain(T=float, nan=False)
    if size == 1:
        one = make(atom, dp.absolute_distance(T=float), scale=2.0)
        return lambda: float(bool(one(0.0)) + 1)
    norm = dp.l1_distance(T=float) if task == "draw-laplace" else dp.l2_distance(T=float)
    many, zeros = make(dp.vector_domain(atom), norm, scale=2.0), [0.0] * size
    return lambda: float(len(many(zeros)))


def diffprivlib(task: str, size: int) -> Call:
    from diffprivlib import BudgetAccountant
    from diffprivlib.mechanisms import GaussianAnalytic, Laplace

    if task == "laplace":  # advanced composition of what is known to be 0.1-DP
        return lambda: float(BudgetAccountant().total(spent_budget=[(0.1, 0)] * size, slack=DELTA)[0])
    if task == "draw-laplace":
        noise: Any = Laplace(epsilon=0.5, sensitivity=1.0)
    else:
        noise = GaussianAnalytic(epsilon=1.0, delta=1e-5, sensitivity=1.0)
    return lambda: float(len([noise.randomise(0.0) for _ in range(size)]))


PEERS: dict[str, Callable[[str, int], Call]] = {
    "dpaudit": dpaudit,
    "dp-accounting": dp_accounting,
    "opacus": opacus,
    "prv-accountant": prv_accountant,
    "autodp": autodp,
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "jax-privacy": audit_tasks.jax_privacy,
    "privacy-estimates": audit_tasks.privacy_estimates,
}


def main() -> None:
    warnings.simplefilter("ignore")
    peer, answers = PEERS[sys.argv[1]], sys.stdout
    sys.stdout = sys.stderr  # what a peer prints is no answer
    calls: dict[tuple[str, int], Call] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        key = asked["task"], asked["size"]
        try:
            if key not in calls:
                calls[key] = peer(*key)
                calls[key]()
            started, repeats, spent = time.process_time(), 0, 0.0
            while spent < LEAST_CPU:
                value = calls[key]()
                repeats += 1
                spent = time.process_time() - started
            answer = {"value": value, "seconds": spent / repeats}
        except Exception as failure:  # a peer may fail in any way; that is its answer
            answer = {"failure": f"{type(failure).__name__}: {failure}"[:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
