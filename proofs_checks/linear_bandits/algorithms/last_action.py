"""Algorithm 1 in its smallest case, for Definition 1's observer, who sees what is played: T = 8, d = 1, A = {1, −1}.

There is one batch, of n_1 pulls of one action; then the sign of one noisy sum decides what is played to the end. The law of the
noise on its lattice gives the probability of that in closed form: P(Z ≥ k) = e^{−ka}/(1 + e^{−a}) for k ≥ 1, a = grid/scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.rewards import ConstantExceptOne
from dpaudit.papers.checks import Decision
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import MP, digits

HORIZON = 8
FAR = 2**40  # grid steps
OTHER = "P'"  # of the same on the neighbouring rewards


def last_action(make: Callable[..., Any], calibration: str, epsilon: str) -> Row:
    """The algorithm's own query, noise and choice; two rewards of round 1; and the probabilities of what is played last."""
    subject = make(epsilon=epsilon, horizon=HORIZON, actions=(2, 1), calibration=calibration)
    low, high = subject.neighbours.setting.low, subject.neighbours.setting.high

    def asked(base: float, first: float) -> Any:
        with dp.simulate(1) as channel:
            subject.run(ConstantExceptOne(base, 0, first, low, high), channel)
        (event,) = channel.events  # one batch
        return event

    def chosen(output: int) -> int:
        with dp.simulate(1, pinned=[np.array([output])]) as channel:
            return int(subject.public(subject.run(ConstantExceptOne(low, 0, low, low, high), channel))[-1])

    event = asked(high, high)
    grid = event.noise.grid
    pulls = int(event.query.item() * grid / Fraction(high))
    others = max(Fraction(low), -((Fraction(high) / (pulls - 1) // grid) + 1) * grid)  # the sum is just below 0, if it can be
    sums = [int(asked(float(others), first).query.item()) for first in (high, low)]
    row: Row = {
        "T": HORIZON, "n_1": pulls, "rewards": f"{high:g} or {low:g} in round 1, {float(others):.6g} in the others of the batch",
        "sum": f"{float(sums[0] * grid):.6g} or {float(sums[1] * grid):.6g}", "ε": epsilon,
    }  # fmt: skip
    choices = {output: chosen(output) for output in (-FAR, -1, 0, 1, FAR)}
    first = min((output for output in choices if choices[output] == choices[FAR]), default=-FAR)
    if choices[-FAR] == choices[FAR]:
        return {**row, "event": "what is played last is always the same", "loss": "0", "loss/ε": 0.0}
    tails = [_at_least(first - total, event.noise) for total in sums]
    events = [("1", tails), ("−1", [1 - tail for tail in tails])]
    name, (p, other) = max(events, key=lambda pair: abs(MP.log(pair[1][0] / pair[1][1])))
    loss = abs(MP.log(p / other))
    return {
        **row, "event": f"what is played last is {name}", "P": digits(p), OTHER: digits(other), "loss": digits(loss),
        "loss/ε": float(loss / MP.mpf(Fraction(epsilon).numerator) * Fraction(epsilon).denominator),
    }  # fmt: skip


def _at_least(k: int, noise: Any) -> Any:
    """P(Z ≥ k)."""
    rate = noise.grid / noise.scale
    t = MP.exp(-MP.mpf(rate.numerator) / rate.denominator)
    return t**k / (1 + t) if k >= 1 else 1 - t ** (1 - k) / (1 + t)


def with_closed_form(audited: Decision, rows: Sequence[Row], correction: str) -> Decision:
    """Refuted where the closed form exceeds the claim; else as audited."""
    worst = max(rows, key=lambda row: row["loss/ε"])
    table = [{name: row[name] for name in ("ε", "P", OTHER, "loss", "loss/ε") if name in row} for row in rows]
    evidence_so_far = {"what is played last, in closed form": table, **audited.evidence}
    if worst["loss/ε"] <= 1 + 1e-12:
        return Decision(audited.verdict, evidence_so_far, audited.correction)
    summary = (
        f"T = {worst['T']}, A = {{1, −1}}, claimed ε = {worst['ε']}: {worst['event']} with probability {float(worst['P']):.6g} "
    )
    summary += f"against {float(worst[OTHER]):.6g}: a loss of {float(worst['loss']):.6g} for who sees the actions"
    evidence = {key: value for key, value in evidence_so_far.items() if key not in ("summary", "counterexample")}
    witness = {"an audit's witness": audited.evidence["counterexample"]} if "counterexample" in audited.evidence else {}
    return Decision("refuted", {"summary": summary, "counterexample": worst, **evidence, **witness}, correction)
