"""Algorithm 3's privacy step: the ε0 rule, the shuffler's role, and sums in the law of shuffled reports.

Error rate 10^-4 per statistical test, fixed seeds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from algorithms import shuffled
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.shuffled import Shuffled, epsilon0
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence, Stochastic
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost
from dpaudit.claims import InvalidValue
from dpaudit.noise import from_units

ALPHA = 1e-4
DELTA = Fraction(1, 10**6)
CONSTANT = ConstantExceptOne(1.0, 2, -1.0)
COUNTS = np.array([[40, 20]])


@pytest.mark.parametrize("n", [7, 1000, 297_170])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_printed_epsilon0_inverts_f_whatever_its_domain(epsilon, n, reference):
    chosen = epsilon0(Fraction(epsilon), n, DELTA, "printed")
    assert reference.closed_form(float(chosen), n, 1e-6) == pytest.approx(float(Fraction(epsilon)), rel=1e-9)


@pytest.mark.parametrize("n", [7, 232, 233, 1000, 297_170])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_corrected_epsilon0_stays_in_the_domain_and_never_below_epsilon(epsilon, n):
    claim, chosen = float(Fraction(epsilon)), float(epsilon0(Fraction(epsilon), n, DELTA, "corrected"))
    inverse = float(epsilon0(Fraction(epsilon), n, DELTA, "printed"))
    domain = n / (16 * math.log(2e6))
    rule = max(claim, min(inverse, math.log(domain)) if domain > 1 else 0.0)
    assert chosen == pytest.approx(rule, rel=1e-6)
    assert chosen <= rule * (1 + 1e-12)


@pytest.mark.parametrize("n", [7, 100, 3000, 297_170])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_tight_epsilon0_is_the_largest_that_the_blanket_allows_and_no_less_than_the_clones_do(epsilon, n, reference):
    claim, chosen = Fraction(epsilon), epsilon0(Fraction(epsilon), n, DELTA, "tight")
    assert dp.amplify(chosen, n, DELTA, method="laplace", attack=False).upper <= claim
    assert dp.amplify(chosen * Fraction(1001, 1000), n, DELTA, method="laplace", attack=False).lower > claim
    if n <= 3000:
        assert float(chosen) >= reference.clone_epsilon0(float(claim), n, 1e-6) * (1 - 1e-4)
        assert float(chosen) == pytest.approx(reference.blanket_epsilon0(float(claim), n, 1e-6), rel=2e-3)
    assert chosen >= epsilon0(claim, n, DELTA, "corrected")


def test_a_batch_of_the_tight_algorithm_is_charged_no_more_than_its_claim():
    """The door charges by the noise alone: the Laplace scale that goes with ε0, the declared range, and the size of the batch."""
    for n in (100, 3000, 297_170):
        chosen = epsilon0(Fraction(1), n, DELTA, "tight")
        noise = dp.Laplace(Fraction(2) / chosen)
        charged, _ = cost(noise, 2**21, DELTA, shuffled=n, amplify=amplified)
        assert Fraction("0.999") < charged <= 1
        less_noise, _ = cost(dp.Laplace(Fraction(2) / chosen * Fraction(99, 100)), 2**21, DELTA, shuffled=n, amplify=amplified)
        assert less_noise > 1  # the twin


def test_batches_of_different_size_get_noise_of_different_scale():
    scale, epsilon, exact = Shuffled(Fraction(1), DELTA).terms(np.array([[30_000, 0], [300_000, 7], [30_000, 0]]))
    assert scale[0] == scale[2] > scale[1]
    assert [float(s) for s in exact] == scale.tolist()
    assert (scale * epsilon).tolist() == pytest.approx([2, 2, 2])


def statistic(step, data, trials, every_report, seed=1):
    batch = Pulls(np.array([0]), np.array([[1, 0]]), COUNTS, np.zeros(trials, int))
    with dp.simulate(seed, trials=trials, every_report=every_report) as channel:
        return step.statistic(channel, data.at(np.arange(trials)), batch, 1, Fraction(2))


@pytest.mark.parametrize(
    "data", [CONSTANT, Stochastic(np.array([0.2, -0.5]), np.random.default_rng(4))], ids=["constant", "random"]
)
def test_sums_by_their_own_law_are_sums_of_shuffled_reports(data):
    step = Shuffled(Fraction(1), DELTA)
    quick, drawn = statistic(step, data, 40_000, False), statistic(step, data, 40_000, True, seed=2)
    for arm in (0, 1):
        assert stats.ks_2samp(quick[:, arm], drawn[:, arm]).pvalue > ALPHA
        assert stats.ks_2samp(1.2 * quick[:, arm], drawn[:, arm]).pvalue < ALPHA  # the twin


def test_one_run_permutes_for_real_and_has_the_law_of_trials():
    """The exceptional reward, −1 in a batch of four with the others +1 and almost no noise, shows who played what."""
    step, counts = Shuffled(Fraction(1), DELTA), np.array([[3, 1]])
    hits = []
    with dp.simulate(8) as channel:
        for _ in range(3000):
            pulls = Pulls(np.array([0]), np.array([[1, 0]]), counts, None)
            hits.append(step.statistic(channel, CONSTANT, pulls, 1, Fraction(1, 1000))[1] < 0)
    assert stats.binomtest(sum(hits), 3000, 1 / 4).pvalue > ALPHA
    assert stats.binomtest(sum(hits), 3000, 0.2).pvalue < ALPHA  # the twin; in order it would be 0: round 2 plays arm 0


def test_reports_leave_sorted_within_each_action_and_undo_the_assignment():
    step = Shuffled(Fraction(1), DELTA)
    pulls = Pulls(np.array([0]), np.array([[1, 0]]), COUNTS, None)
    with dp.simulate(8, every_report=True) as channel:
        sums = step.statistic(channel, CONSTANT, pulls, 1, Fraction(2))
    output = from_units(channel.events[0].output)
    assert channel.events[0].to == "shuffled"
    assert (np.diff(output[:40]) >= 0).all()
    assert (np.diff(output[40:]) >= 0).all()
    assert sums.tolist() == [output[:40].sum(), output[40:].sum()]


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
def test_only_the_printed_sensitivity_is_caught(calibration):
    with dp.simulate(1, every_report=True) as channel:
        shuffled(epsilon=1, horizon=2000, calibration=calibration).run(SealedRewards(CONSTANT), channel)
    assert {finding.rule for finding in channel.findings} == ({"DPA003"} if calibration == "printed" else set())
    assert not channel.untraced


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
@pytest.mark.parametrize(("trials", "every_report"), [(None, True), (None, False), (10, False), (10, True)])
def test_with_outputs_pinned_any_data_is_played_alike(calibration, trials, every_report):
    subject = shuffled(epsilon=3, horizon=3000, calibration=calibration)
    others = [ConstantExceptOne(-1.0, 0, 1.0), Stochastic(np.linspace(-1, 1, 10), np.random.default_rng(1))]
    if trials is None:
        others.append(Sequence(np.random.default_rng(2).choice([-1.0, 1.0], 3000)))
    with dp.simulate(3, trials=trials, every_report=every_report) as channel:
        play = subject.run(CONSTANT, channel)
    for data in others:
        with dp.replay(channel) as pinned:
            again = subject.run(data, pinned)
        assert (again.plays == play.plays).all()
        assert (again.pulls == play.pulls).all()


def test_shuffling_needs_a_delta():
    with pytest.raises(InvalidValue, match="delta"):
        shuffled(epsilon=1, delta=0, horizon=1000)
