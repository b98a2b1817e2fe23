"""Measured regret: what is counted is what was played."""

from __future__ import annotations

import numpy as np

from proofs_checks.shared.measured_regret import play, regret_row


def test_a_lost_optimum_is_one_that_a_later_active_set_lacks():
    played = play("local", "printed", horizon=2000, instances=200, seed=3)
    best = played.means.argmax(axis=1)
    for run in range(200):
        sets = [active for active in played.active[run] if active.any()]
        assert len(sets) == played.result.batches[run]
        assert played.lost[run] == any(not active[best[run]] for active in sets)


def test_every_round_is_played_and_the_mean_is_that_of_the_runs():
    played = play("central", "tight", horizon=5000, instances=50)
    assert (played.result.pulls.sum(axis=1) == 5000).all()
    row = regret_row("central", "tight", horizon=5000, instances=50)
    assert row["regret"] == round(float(np.mean(played.result.regret(played.means))))
