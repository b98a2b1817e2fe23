"""Our correction for an observer who knows which client played which action: ε0 for min_a n_ia reports, not for n_i.

Given who played what, a batch is one shuffle per action. The reports of the other actions do not depend on the target, so they
tell nothing; the target hides among the n_ia reports of its own action, and more reports hide it better. Hence ε0 for
min_a n_ia reports is (ε,δ)-DP whichever action the target played. ε0 = ε needs no crowd at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import permutations
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.elimination.shuffled import Shuffled
from algorithms.rewards import Stochastic
from dpaudit.accountants.shuffle.amplification import extreme_report_attack
from dpaudit.accountants.shuffle.clone import CLONE
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.algorithms.arm_views import views
from proofs_checks.linear_bandits.algorithms.shuffle_views import LEVELS, P, actions_and_pairs, curve, law, pairs_only
from proofs_checks.linear_bandits.algorithms.shuffled_batches import CODE, LAST_BATCH, LAST_BATCH_IS, clone_rule, printed_rule
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import short

Crowd = Callable[[Sequence[int]], int]  # n_ia of a batch → the number of reports that ε0 is chosen for
SPREAD, DELTA = Fraction(2), Fraction("1e-6")
FEW = 30


@dataclass(frozen=True)
class Crowded(Shuffled):
    """Algorithm 3's privacy step with exact clones for ``crowd``(n_ia) reports (None: ε0 = ε); it keeps the batches it met."""

    crowd: Crowd | None = None
    met: set[tuple[int, ...]] = field(default_factory=set, compare=False)

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        batches = [tuple(sorted(int(n) for n in row if n)) for row in counts]
        self.met.update(batches)
        chosen = [self.epsilon if self.crowd is None else clone_rule(self.epsilon, self.crowd(b), self.delta) for b in batches]
        scales = [self.sensitivity / e for e in chosen]
        return np.array([float(s) for s in scales]), np.array([float(e) for e in chosen]), scales


@lru_cache(maxsize=8)
def played(crowd: Crowd | None, instances: int, dim: int = 2, seed: int = 1) -> tuple[np.ndarray, set[tuple[int, ...]]]:
    """Regret of each run (K = 10, T = 10^6, ε = 1, corrected widths), and the batches that were played, as their n_ia."""
    rng = np.random.default_rng(seed)
    points, thetas = random_instance(rng, 10, dim, instances=instances)
    means = np.einsum("gkd,gd->gk", points, thetas)
    step = Crowded(Fraction(1), DELTA, "corrected", crowd=crowd)
    with dp.simulate(seed, trials=instances) as channel:
        regret = run(Setting(points, 10**6, "corrected"), step, Stochastic(means, rng), channel).regret(means)
    return regret, step.met


def splits(n: int, least: int = 1) -> list[tuple[int, ...]]:
    """All ways to give n clients to actions: n_ia in rising order."""
    return [(n,)] + [(a, *rest) for a in range(least, n // 2 + 1) for rest in splits(n - a, a)]


def enumerated(quick: bool, crowd: Crowd) -> list[Row]:
    """Every batch of few clients: δ of who sees the actions and the pairs, given the worst arm, beside δ of the crowd alone.

    Client 0 is the target, and those who play its action come next: as the observer knows who played what, only deals that agree
    with this are possible for it. Others' rewards run over +1 … +1 −1 … −1, so that its companions hold any number of +1.
    """
    rows: list[Row] = []
    alone = {n: curve(n, partial(_one_arm, n=n)) for n in range(1, 5 if quick else 6)}
    for n in range(2, 4 if quick else 5):
        for counts in splits(n):
            actions = tuple(arm for arm, count in enumerate(counts) for _ in range(count))
            for arm in sorted({counts.index(count) for count in counts}):
                known = tuple(sorted(actions, key=lambda action: action != arm))  # who plays what; the target's arm first
                deals = [deal for deal in permutations(range(n)) if tuple(actions[slot] for slot in deal) == known]
                observed = curve(n, partial(law, actions=actions, view=actions_and_pairs, deals=deals))
                promised = alone[crowd(counts)]
                rows += [
                    {"n_ia": list(counts), "the target's n_ia": counts[arm], "e^ε": e, "δ seen": observed[e],
                     "δ of the crowd": promised[e], "δ of its own arm": alone[counts[arm]][e]}
                    for e in LEVELS if e < P
                ]  # fmt: skip
    return rows


def _one_arm(rewards: Sequence[int], n: int) -> Any:
    """n clients of one action, reports without names."""
    return law(rewards, (0,) * n, pairs_only, [tuple(range(n))])


def examined(counts: tuple[int, ...], epsilon: Fraction, crowd: Crowd) -> Row:
    """The arm with the fewest reports, noise Lap(2/ε0): attacked by its extreme report, bounded by exact clones."""
    least, epsilon0 = min(counts), clone_rule(epsilon, crowd(counts), DELTA)
    attacked = extreme_report_attack(SPREAD / epsilon0, SPREAD, least, DELTA).epsilon
    high = Fraction(0) if epsilon0 <= epsilon else CLONE.delta(epsilon0, least, epsilon, DELTA)[1]
    outcome = "violated" if attacked > epsilon else "proven" if high <= DELTA else "open"
    return {
        "n_ia": list(counts), "ε": epsilon, "ε0": short(epsilon0, 8), "δ at ε, certified ≤": short(high, 8),
        "ε attacked ≥": short(attacked, 8), "outcome": outcome,
    }  # fmt: skip


def known_actions(quick: bool, *, crowd: Crowd = min) -> Decision:
    """Exact for few clients; then batches that the algorithm plays, and batches with an arm of few reports."""
    small = enumerated(quick, crowd)
    over = [row for row in small if row["δ seen"] > row["δ of the crowd"]]
    unlike = [row for row in small if row["δ seen"] != row["δ of its own arm"]]
    runs = 40 if quick else 400
    met = sorted(played(min, runs)[1] | played(min, runs // 10, dim=4)[1])
    chosen = met[:: max(1, len(met) // (15 if quick else 150))]
    planted = [(few, LAST_BATCH - few) for few in (1, 3, FEW, 1000)]
    rows = [examined(counts, e, crowd) for counts in chosen + planted for e in map(Fraction, ("1", "5"))]
    violated, proven = ([row for row in rows if row["outcome"] == kind] for kind in ("violated", "proven"))
    epsilon0 = printed_rule(Fraction(1), LAST_BATCH, DELTA)
    evidence: Row = {
        "observer": "knows which client played which action (Definition 1), and at most sees the reports of every action",
        "range": f"all splits of n ≤ {sum(small[-1]['n_ia'])} clients, exact fractions, randomised response e^ε0 = 3; "
        f"{len(chosen)} of {len(met)} batches that Algorithm 3 plays (K = 10, d = 2 and 4, T = 10^6) and {len(planted)} with few "
        "pulls of an arm, ε = 1 and 5, δ = 1e-6",
        "not covered": "clients who do not answer or collude: n_ia counts honest reports",
        "for all n": "given the actions a batch is one shuffle per action; δ falls with n_ia, a further report being independent",
        "given the arm, δ is that of its own reports": f"equal fractions in {len(small) - len(unlike)} of {len(small)} cases",
        "batches": [*violated, *(row for row in rows if row["n_ia"][0] == FEW and row not in violated)][:12],
        f"an arm with n_ia = {FEW}, ε0 = f⁻¹ = {float(epsilon0):.4g} for n_i, δ at ε = 1": views(FEW, epsilon0, Fraction(1)),
        "why there are two figures": "two views of that arm: its sum (what later actions can depend on), and its reports "
        "without names (what the server gets); with ε0 for n_ia both are at most 1e-6",
        "n_i": LAST_BATCH_IS,
    }  # fmt: skip
    if over or violated:
        return _refute(over, violated, evidence)
    if len(proven) < len(rows) or unlike:
        return decided("conditional", f"{len(proven)} of {len(rows)} batches proven, none violated", evidence)
    evidence["regret, K=10, d=2, T=10^6, ε=1, δ=1e-6"] = regrets(runs)
    evidence["privacy it buys"] = [_privacy(name, one) for name, one in (("n_i", sum), ("min_a n_ia", crowd))]
    summary = f"(ε,δ) given any arm: exact for n ≤ {sum(small[-1]['n_ia'])}, {len(proven)} of {len(rows)} batches proven"
    return decided("verified", summary, evidence)


def _refute(over: list[Row], violated: list[Row], evidence: Row) -> Decision:
    """The largest excess of δ among the enumerated cases, the largest attacked ε among the batches."""
    excesses = []
    if over:
        row = evidence["counterexample"] = max(over, key=lambda row: row["δ seen"] - row["δ of the crowd"])
        case = f"n_ia = {row['n_ia']}, e^ε0 = 3, e^ε = {row['e^ε']}"
        excesses.append(f"{case}: δ = {row['δ seen']}, claimed {row['δ of the crowd']}")
    if violated:
        row = max(violated, key=lambda row: row["ε attacked ≥"] / row["ε"])
        excesses.append(f"n_ia = {row['n_ia']}, ε0 = {row['ε0']}: true ε ≥ {row['ε attacked ≥']}, claimed {row['ε']}")
    return decided("refuted", "; ".join(excesses), evidence, "ε0 for min_a n_ia reports, or ε0 = ε")


def regrets(instances: int) -> list[Row]:
    """What it costs: the same runs with ε0 for n_i reports, for min_a n_ia of them, and with ε0 = ε."""
    rows = []
    named: list[tuple[str, Crowd | None]] = [("n_i (who played what is secret)", sum), ("min_a n_ia", min), ("ε0 = ε", None)]
    for name, crowd in named:
        regret, _ = played(crowd, instances)
        error = float(regret.std(ddof=1)) / math.sqrt(instances)
        rows.append({"ε0 for": name, "regret": round(float(regret.mean())), "± standard error": round(error), "runs": instances})
    return rows


def _privacy(name: str, crowd: Crowd) -> Row:
    """n_ia = 30 of the last batch, claim ε = 1: what its reports cost who knows the arm."""
    row = examined((FEW, LAST_BATCH - FEW), Fraction(1), crowd)
    return {"ε0 for": name, **{key: row[key] for key in ("n_ia", "ε", "ε0", "δ at ε, certified ≤", "ε attacked ≥", "outcome")}}


STATEMENT = "for who knows who played what, ε0 = max{ε, sup{e : H_ε(e) ≤ δ}} for min_a n_ia reports is (ε,δ)-DP"
CHECKS = (
    Check(
        "fix.known-actions", "corrections, ε0 rule, last paragraph", STATEMENT, known_actions,
        (*CODE, "algorithms.elimination.shuffled", "algorithms.elimination.loop", "dpaudit.accountants.shuffle.report_sums",
         "proofs_checks.linear_bandits.algorithms.arm_views",
         "proofs_checks.linear_bandits.algorithms.shuffle_views", "proofs_checks.linear_bandits.algorithms.shuffled_batches"),
    ),
)  # fmt: skip
