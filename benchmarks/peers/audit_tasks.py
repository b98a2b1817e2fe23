"""Audits as peers do them: the same mechanisms, drawn by everybody, and the same canary scores.

Five audits each, seeds 1 to 5; the value is the mean of their lower bounds at 95 %. jax-privacy has its own defaults, or what was
better for it on one seed that is not used here: for (ε,δ) in one run it splits its scores in two. privacy-estimates takes counts
and no scores: it is told one threshold, fixed in advance; that of the Gaussian was not optimised for each number of
samples, so its row there is no race.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

SEEDS = range(1, 6)
LEVEL = 0.05
DELTAS = {"audit-gaussian": 1e-5, "canaries": 1e-5, "canaries-curve": 1e-5}
THRESHOLDS = {"audit-laplace": 1.0, "audit-half": 1.0, "audit-gaussian": 2.25}


def noise(task: str) -> Callable[[Any, int], Any]:
    """So many draws of a task's noise, from numpy's generator."""
    if task == "audit-gaussian":
        return lambda rng, size: rng.normal(size=size)
    scale = 1.0 if task == "audit-laplace" else 0.5
    return lambda rng, size: rng.laplace(scale=scale, size=size)


def canary_scores(size: int, seed: int) -> tuple[Any, Any]:
    """Who was included, and the scores: each canary moves its own coordinate by 1."""
    import numpy as np

    rng = np.random.default_rng([seed, 14])
    included = rng.random(size) < 0.5
    return included, rng.normal(size=size) + included


def dpaudit(task: str, size: int) -> Callable[[], float]:
    if task.startswith("canaries"):
        return _dpaudit_canaries(task, size)
    import numpy as np

    from dpaudit.auditors.games.play import play_game
    from dpaudit.auditors.runs.engine import Engine
    from dpaudit.auditors.runs.transcripts import Trials
    from dpaudit.claims import Claim
    from dpaudit.subjects.subject import make_subject

    draw, engine, pair = noise(task), Engine(workers=1), (np.ones(1), np.zeros(1))

    def black_box(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + draw(rng, trials)

    subject = make_subject(black_box, Claim("1", str(DELTAS.get(task, 0))), [pair], task)

    def call() -> float:
        games = (Trials(subject, pair, seed, by_likelihood=False) for seed in SEEDS)
        return fmean(play_game(game, size, DELTAS.get(task, 0.0), LEVEL, engine).epsilon for game in games)

    return call


def _dpaudit_canaries(task: str, size: int) -> Callable[[], float]:
    from fractions import Fraction

    from dpaudit.ledger import Release
    from dpaudit.training.canary_audit import audit_canaries
    from dpaudit.training.canary_scores import CanaryScores
    from dpaudit.training.claimed_curve import TrainingReleases

    runs = [CanaryScores(*canary_scores(size, seed)) for seed in SEEDS]
    releases = TrainingReleases((Release("sum", "gaussian", Fraction(1), {"sigma": "1"}),)) if task == "canaries-curve" else None
    return lambda: fmean(audit_canaries([run], Fraction(1, 10**5), releases=releases).lower for run in runs)


def jax_privacy(task: str, size: int) -> Callable[[], float]:
    import numpy as np
    from jax_privacy import auditing

    delta = DELTAS.get(task, 0.0)
    if task.startswith("canaries"):
        runs = [(scores[included], scores[~included]) for included, scores in (canary_scores(size, seed) for seed in SEEDS)]
        if task == "canaries-curve":
            return lambda: fmean(float(auditing.CanaryScoreAuditor(*scores).epsilon_one_run_fdp(LEVEL, delta)) for scores in runs)
        return lambda: fmean(
            float(
                auditing.CanaryScoreAuditor(*scores).epsilon_one_run(
                    LEVEL, delta, threshold_strategy=auditing.Split(0.5, seed=seed)
                )
            )
            for seed, scores in enumerate(runs)
        )
    draw = noise(task)

    def one(seed: int) -> float:
        rng = np.random.default_rng(seed)
        auditor = auditing.CanaryScoreAuditor(draw(rng, size) + 1, draw(rng, size))
        return float(auditor.epsilon_clopper_pearson(LEVEL, delta))

    return lambda: fmean(map(one, SEEDS))


def privacy_estimates(task: str, size: int) -> Callable[[], float]:
    import numpy as np
    from privacy_estimates import AttackResults, compute_eps_lo_hi

    draw, threshold = noise(task), THRESHOLDS[task]

    def one(seed: int) -> float:
        rng = np.random.default_rng(seed)
        right, wrong = int((draw(rng, size) + 1 > threshold).sum()), int((draw(rng, size) > threshold).sum())
        counts = AttackResults(FN=size - right, FP=wrong, TN=size - wrong, TP=right)
        return float(compute_eps_lo_hi(count=counts, delta=DELTAS.get(task, 0.0), alpha=2 * LEVEL, method="beta")[0])

    return lambda: fmean(map(one, SEEDS))
