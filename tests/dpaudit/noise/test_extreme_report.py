import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.claims import InvalidValue
from dpaudit.noise.extreme_report import extreme_report_attack

N, DELTA = 297_170, Fraction("1e-6")


def test_the_printed_shuffled_algorithm_is_refuted_far_above_its_claim():
    epsilon0 = closed.inverse(1, N, DELTA)[0]
    attack = extreme_report_attack(1 / epsilon0, 2, N, DELTA)  # scale 1/ε0 for rewards of range 2
    assert round(float(attack.epsilon), 2) == 4.69
    assert Fraction(attack.p) > math.e * Fraction(attack.q) + DELTA


def test_corrected_noise_survives_in_domain_and_is_refuted_out_of_domain():
    inside = closed.inverse(1, N, DELTA)[0]
    assert closed.in_domain(inside, N, DELTA)
    assert extreme_report_attack(2 / inside, 2, N, DELTA).epsilon < 1
    outside = closed.inverse(5, N, DELTA)[0]
    assert not closed.in_domain(outside, N, DELTA)
    assert extreme_report_attack(2 / outside, 2, N, DELTA).epsilon > Fraction("5.76")


def brute_force(rate, shift, n, delta, reach):
    """max over thresholds and the four events, with P(S) by summing the discrete Laplace pmf."""
    k = np.arange(-reach, reach + 1)
    pmf = np.exp(-rate * np.abs(k)) * math.tanh(rate / 2)
    cdf = np.cumsum(pmf) + math.exp(-rate * (reach + 1)) / (1 + math.exp(-rate))
    best = 0.0
    for i in range(len(k) - shift):
        low, high = cdf[i] ** (n - 1) * cdf[i + shift], cdf[i] ** n  # all at or below
        above_low, above_high = (1 - cdf[i]) ** (n - 1) * (1 - cdf[i + shift]), (1 - cdf[i]) ** n
        pairs = [(low, high), (1 - high, 1 - low), (1 - above_low, 1 - above_high), (above_high, above_low)]
        best = max([best] + [math.log((p - delta) / q) for p, q in pairs if p > delta and q > 1e-9])
    return best


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
@pytest.mark.parametrize(("rate", "shift"), [(Fraction(1, 2), 2), (Fraction(1, 3), 9), (Fraction(2), 1)])
@pytest.mark.parametrize("delta", ["1e-3", "0.05"])
def test_attack_equals_brute_force_over_all_thresholds_and_events(n, rate, shift, delta):
    attack = extreme_report_attack(1 / rate, shift, n, delta, grid=1)
    expected = brute_force(float(rate), shift, n, float(delta), reach=80)
    assert float(attack.epsilon) == pytest.approx(expected, abs=1e-8)


def test_without_delta_shuffling_amplifies_nothing():
    attack = extreme_report_attack(2, 2, 5, 0)
    assert Fraction("0.999999") < attack.epsilon <= 1


def test_attack_never_exceeds_the_local_epsilon_and_is_rounded_down():
    for n in (1, 2, 10, 10**6, 10**12):
        for scale in ("1/50", "1/3", "2", "40"):
            attack = extreme_report_attack(scale, 2, n, "1e-6")
            assert 0 <= attack.epsilon <= 2 / Fraction(scale)
            p, q = Fraction(attack.p), Fraction(attack.q)
            if attack.epsilon:
                assert float((p - DELTA) / q) >= math.exp(float(attack.epsilon)) * (1 - 1e-12)


def test_simulated_reports_agree_with_the_stated_probabilities_and_not_with_a_wrong_scale():
    """Two-sided 5-sigma checks of p and q, seed fixed: error rate below 2e-6; the twin has scale 1.3 times wrong."""
    n, runs, scale, spread = 20, 40_000, 1.0, 6
    attack = extreme_report_attack(scale, spread, n, "0.01", grid=1)
    assert "smallest report is above" in attack.event

    def frequency(true_scale):
        generator = np.random.default_rng(20240607)
        t = 1 - math.exp(-1 / true_scale)
        noise = generator.geometric(t, (runs, n)) - generator.geometric(t, (runs, n))
        favoured = np.mean(noise.min(axis=1) > attack.threshold)
        noise[:, 0] -= spread
        return favoured, np.mean(noise.min(axis=1) > attack.threshold)

    p, q = float(Fraction(attack.p)), float(Fraction(attack.q))
    bands = [5 * math.sqrt(x * (1 - x) / runs) for x in (p, q)]
    right, wrong = frequency(scale), frequency(1.3 * scale)
    assert abs(right[0] - p) < bands[0]
    assert abs(right[1] - q) < bands[1]
    assert abs(wrong[0] - p) > bands[0]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 2, 5, 0), "scale"),
        ((1, "1e-7", 5, 0), "spread"),
        ((1, 0, 5, 0), "spread"),
        ((1, 2, 0, 0), "n"),
        ((1, 2, 5, 1), "delta"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, name):
    with pytest.raises(InvalidValue) as refusal:
        extreme_report_attack(*arguments)
    assert refusal.value.name == name
