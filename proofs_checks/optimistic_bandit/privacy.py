"""Theorem P of the optimistic bandit: what leaves is ε-private in the central and local, (ε, δ)-private in the shuffled model.

Central: the law of all releases, batch by batch, for every pair of tables of ±1 rewards that differ in a row, tiny T. Local:
the law of a bit for rewards on a grid. Shuffled: Lemma S's bound against the exact δ for all bits of others, and a batch's ε0.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

import dpaudit as dp
from algorithms.optimistic.loop import Optimism, Setting
from algorithms.optimistic.privacy_steps import SPREAD, OptimisticCentral, OptimisticShuffled, amplitude
from algorithms.optimistic.schedule import Model
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.proof_steps import Step, broken, rows

WHERE = "optimistic bandit, Theorem P"
CODE = ("algorithms.optimistic.loop", "algorithms.optimistic.privacy_steps", "algorithms.optimistic.rounded_reports")
ONE, DELTA = Fraction(1), Fraction(1, 10**6)
OUTPUTS = (-3, -1, 0, 2)


class OneRoundBatches(OptimisticCentral):
    """Batches start with one round, so that few rounds make several releases."""

    def model(self, horizon: int) -> Model:
        return Model(1, float(2 / self.epsilon), (1.0,) * 8)


def transcript_loss(horizon: int, scale: Fraction) -> Fraction:
    """The largest log ratio of a transcript's probability under neighbouring tables, with discrete Laplace noise of this scale.

    The path is a function of the outputs: it is found once for each transcript, and then holds for every table.
    """
    worst = Fraction(0)
    tables = [np.array(values).reshape(horizon, 2) for values in itertools.product((-1, 1), repeat=2 * horizon)]
    for outputs in itertools.product(OUTPUTS, repeat=horizon - 1):
        batches = _path(outputs, horizon)
        loss = {}
        for place, table in enumerate(tables):
            sums = [int(table[start:stop, action].sum()) for start, stop, action in batches]
            loss[place] = sum(abs(output - true) for output, true in zip(outputs, sums, strict=False)) / scale
        for (i, one), (j, other) in itertools.combinations(enumerate(tables), 2):
            if (one != other).any(axis=1).sum() == 1:
                worst = max(worst, abs(loss[i] - loss[j]))
    return worst


def _path(outputs: tuple[int, ...], horizon: int) -> list[tuple[int, int, int]]:
    loop, rng = Optimism(Setting(np.eye(2), horizon), OneRoundBatches(ONE)), np.random.default_rng(0)
    batches: list[tuple[int, int, int]] = []
    for output in outputs:
        chosen = loop.choose(rng)
        if chosen is None:
            break
        action, length = chosen
        start = int(loop.known.time[0])
        batches.append((start, start + int(length[0]), int(action[0])))
        loop.learn(action, length, np.array([float(output)]))
    return batches


def central(quick: bool, scale: Fraction | None = None) -> Decision:
    """``scale``: of a planted noise; None: the code's."""
    chosen = Fraction(str(OptimisticCentral(ONE).noise(np.ones(1), 100).scale)) if scale is None else scale
    worst = max(transcript_loss(horizon, chosen) for horizon in ((2, 3) if quick else (2, 3, 4)))
    steps = [
        Step("one row of the table is in one batch, on every transcript", "which batch is a function of earlier releases"),
        Step(f"Lap({chosen}/ε), as the code has it, pays for 2", "centres differ by at most 2", chosen >= SPREAD),
        Step("transcripts of up to 4 rounds lose at most ε", "all neighbouring tables of ±1, enumerated", worst <= ONE),
    ]
    evidence: Row = {"proof": rows(steps), "loss": str(worst), "claim": "1", "range": "every T, A and ε, by the proof"}
    if broken(steps):
        return decided(
            "refuted", f"a transcript loses {worst} where ε = 1 is claimed", {**evidence, "counterexample": str(worst)}
        )
    words = "a row is in one batch, chosen by earlier releases, and Lap(2/ε) pays for the 2 by which it moves its sum"
    return decided("verified", f"{words}; enumerated transcripts lose {worst}·ε at most", evidence)


def local(quick: bool, gain: float = 1.0) -> Decision:
    """P(bit | r) = ½ + r/(2C), C of the code: the largest ratio over rewards on a grid. ``gain`` > 1: bits that tell more."""
    worst = 0.0
    for epsilon in (0.1, 1.0, 5.0):
        slope = gain / amplitude(Fraction(epsilon)) / 2
        chances = [0.5 + slope * reward for reward in np.linspace(-1, 1, 9)]
        ratios = [p / q for p in chances for q in chances] + [(1 - p) / (1 - q) for p in chances for q in chances]
        worst = max(worst, math.log(max(ratios)) - epsilon)
    evidence: Row = {
        "excess over ε": worst,
        "proof": "P(bit | r) = ½ + r/(2C) lies between 1/(1 + e^ε) and e^ε/(1 + e^ε); one report per client, the rest is the "
        "same kernel given what came before",
        "range": "every reward and ε, by the proof; the code's C at ε = .1, 1, 5 and nine rewards",
    }
    if worst > 1e-12:
        return decided("refuted", f"a bit loses ε + {worst:.3g}", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "a bit is 1 with probability between 1/(1 + e^ε) and e^ε/(1 + e^ε), whatever the reward"
    return decided("verified", f"{words}; ratios of the code's C exceed e^ε by rounding only", evidence)


def exact_delta(epsilon: float, epsilon0: float, others: int, n: int) -> float:
    """δ of the number of ones among n randomised bits when ``others`` of the n − 1 others hold 1, in the worse direction."""
    lie = 1 / (1 + math.exp(epsilon0))

    def law(ones: int) -> np.ndarray:
        total = np.ones(1)
        for place in range(n):
            chance = 1 - lie if place < ones else lie
            total = np.convolve(total, [1 - chance, chance])
        return total

    one, other = law(others + 1), law(others)
    return max(float(np.maximum(0, a - math.exp(epsilon) * b).sum()) for a, b in ((one, other), (other, one)))


def crowd_bound(epsilon: float, epsilon0: float, n: int) -> float:
    """D(ε; ε0, n) of Lemma S, term by term."""
    lie = 1 / (1 + math.exp(epsilon0))
    keep, lose = (1 - lie) - math.exp(epsilon) * lie, math.exp(epsilon) * (1 - lie) - lie
    total = 0.0
    for coins in range(n):
        chance = math.comb(n - 1, coins) * (2 * lie) ** coins * (1 - 2 * lie) ** (n - 1 - coins)
        fair = [math.comb(coins, k) / 2**coins for k in range(coins + 1)]
        total += chance * sum(max(0.0, keep * a - lose * b) for a, b in zip([0.0, *fair], [*fair, 0.0], strict=True))
    return total


def shuffled(quick: bool, larger: int = 1) -> Decision:
    """``larger``: the planted fault, ε0 of a batch so many times as long."""
    gaps = [
        crowd_bound(epsilon, epsilon0, n) - max(exact_delta(epsilon, epsilon0, others, n) for others in range(n))
        for n in range(2, 9) for epsilon, epsilon0 in ((0.2, 0.5), (0.5, 1.5), (1.0, 3.0))
    ]  # fmt: skip
    step = OptimisticShuffled(ONE, DELTA)
    first = step.first()
    chosen = step.epsilons(first * 2 * larger)[-1]
    reached = dp.amplify(chosen, first * (2 if larger > 1 else 1), DELTA, method="krr", k=2, attack=False).upper
    good = min(gaps) >= -1e-12 and reached <= ONE
    evidence: Row = {
        "D minus exact δ, at least": min(gaps), "certified ε of a batch": float(reached), "claim": "1",
        "proof": "ε_k is lowered until the accountant certifies (ε, δ) for m_k bits, and smaller ε0 are private too; the prefix "
        "of the hit batch has one law, so that δ is paid once",
        "range": "every ε, δ and T, by the proof; D against exact δ for up to 8 bits, one batch certified here",
    }  # fmt: skip
    if not good:
        words = f"a batch is certified for ε = {float(reached):.4g} only"
        return decided("refuted", words, {**evidence, "counterexample": {"ε": float(reached), "gap": min(gaps)}})
    words = "every batch's ε0 is certified for its own size, and a row is in one batch"
    return decided("verified", f"{words}; D is at least the exact δ for up to 8 bits, ε = {float(reached):.6f} here", evidence)


CHECKS = [
    Check("optimistic.privacy-central", WHERE, "Actions and releases of the central model together are ε-DP.", central, CODE),
    Check("optimistic.privacy-local", WHERE, "Every report of the local model is ε-LDP.", local, CODE),
    Check("optimistic.privacy-shuffled", WHERE, "What leaves the shuffler is (ε, δ)-DP.", shuffled, CODE),
]
