"""Is an event of what is played a box? Drawn runs tell for how much probability it may not be one.

Each drawn run is asked: does the event hold just when the outputs lie in the box, and were the queries those at its centre for as
long as they did? Where n runs on a data set never say no, the runs that would have probability at most 1 − α^(1/n) there, at
confidence 1 − α (exact binomial bound). Without them the law is that of the box, so P(event) is as far from P(box) at most.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpaudit.auditors.events.boxes import Box
from dpaudit.auditors.events.chosen_runs import Chooser, Runs
from dpaudit.auditors.runs.transcripts import child

ERROR = 1e-9  # that a data set's bound on the difference is wrong; a hundred boxes stay far below the 10^-6 of a refutation
TOGETHER, ALONE = (20_000, 100_000), (2_000, 10_000)  # runs on each data set: few, and many where few would not do
PART, PART_ALONE = 10_000, 500  # runs until the next look


def few_or_many(chooser: Chooser) -> tuple[int, int]:
    """How many runs are worth while: together, or one by one."""
    return TOGETHER if chooser.subject.vectorised else ALONE


def slack(runs: int) -> Fraction:
    """Upper bound on the probability of what ``runs`` independent runs did not show, at confidence 1 − ERROR."""
    return Fraction(float(np.nextafter(-np.expm1(np.log(ERROR) / runs), 1.0)))


def is_the_box(chooser: Chooser, box: Box, centre: Runs, runs: int) -> bool:
    """Does the event hold in just those drawn runs whose outputs lie in the box, and is the same asked as at its ``centre`` as
    long as they do? The runs have seeds that no earlier test has used."""
    most = PART if chooser.subject.vectorised else PART_ALONE
    return all(_agrees(chooser, box, centre, min(most, runs - done), done) for done in range(0, runs, most))


def _agrees(chooser: Chooser, box: Box, centre: Runs, size: int, done: int) -> bool:
    count = len(box.centre)
    fresh = Chooser(chooser.subject, chooser.data, child(chooser.seed, 8, done))
    drawn = fresh(np.zeros((size, 0), np.int64), "drawn", releases=count)
    within = np.logical_and.accumulate((drawn.outputs >= box.low) & (drawn.outputs <= box.high), axis=1)
    reached = np.concatenate([np.ones((size, 1), bool), within[:, :-1]], axis=1)
    alike = (drawn.asked == centre.asked[0, :count]) & (drawn.width == centre.width[0, :count])  # no release: its width is NaN
    agrees = (alike | ~reached).all() and (box.holds(drawn.played) == within[:, -1]).all()
    return bool(agrees) and not drawn.public
