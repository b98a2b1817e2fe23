"""k-ary randomised response: sampler, ratios, curve and loss law against enumeration; then the whole way from door to verdict."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit.accountants.losses.numerical import compose, composed_delta
from dpaudit.accountants.losses.parts import Part
from dpaudit.claims import InvalidValue
from dpaudit.cli import main
from dpaudit.noise import ReplaySource, SecureSource, noise_from

K = 5


def truth_probability(epsilon: float, k: int) -> float:
    return math.exp(epsilon) / (math.exp(epsilon) + k - 1)


def channel_of(epsilon: str, k: int) -> list[list[mpmath.mpf]]:
    """The k × k table of probabilities, in high precision."""
    weight = mpmath.exp(mpmath.mpf(epsilon))
    return [[(weight if o == q else mpmath.mpf(1)) / (weight + k - 1) for o in range(k)] for q in range(k)]


def enumerated_delta(epsilon: str, k: int, changed: int, level: Fraction) -> mpmath.mpf:
    """Σ over all k^changed outputs of (P − e^level Q)_+, where every query 0 becomes 1."""
    table, total = channel_of(epsilon, k), mpmath.mpf(0)
    grown = mpmath.exp(mpmath.mpf(level.numerator) / level.denominator)
    for outputs in product(range(k), repeat=changed):
        p, q = (mpmath.fprod(table[query][o] for o in outputs) for query in (0, 1))
        total += max(p - grown * q, 0)
    return total


@pytest.mark.parametrize("kind", ["live", "simulated"])
@pytest.mark.parametrize("k", [2, 3, 5, 1000])
def test_answers_have_the_stated_law(kind: str, k: int) -> None:
    # 300,000 answers: one seed in 1,000 fails; the twins are 5 % off ε, 10 standard deviations away for k ≤ 5
    noise, size = dp.KaryResponse(1, k), 300_000
    truth = np.full(size, k // 2)
    shown = noise.draw(truth, ReplaySource(71)) if kind == "live" else noise.simulate(truth, np.random.default_rng(71))
    assert shown.min() >= 0
    assert shown.max() < k
    counts = np.bincount(shown, minlength=k)

    def p_value(epsilon: float) -> float:
        kept = truth_probability(epsilon, k)
        expected = np.full(k, (1 - kept) / (k - 1))
        expected[k // 2] = kept
        return float(stats.chisquare(counts, expected * size).pvalue)

    assert p_value(1.0) > 1e-3
    if k <= 5:
        assert max(p_value(0.95), p_value(1.05)) < 1e-9
    lies = np.delete(counts, k // 2)
    assert k == 2 or stats.chisquare(lies).pvalue > 1e-3


def test_values_that_are_no_category_are_read_as_the_nearest() -> None:
    sure = dp.KaryResponse(1000, 3)
    for shown in (sure.draw([-5, 0, 2, 7], SecureSource()), sure.simulate([-5, 0, 2, 7], np.random.default_rng(1))):
        assert shown.tolist() == [0, 0, 2, 2]
    assert sure.exact_log_ratio(2, 7, 2) == 0
    assert sure.log_ratio(2, 7, 2) == 0


def test_two_categories_are_randomised_response() -> None:
    ours, bits = dp.KaryResponse("0.7", 2), dp.RandomizedResponse("0.7")
    for level, changed in product((Fraction(0), Fraction(1, 5), Fraction(6, 5)), (1, 2, 5)):
        assert float(ours.delta(level, changed)) == pytest.approx(float(bits.delta(level, changed)), rel=1e-15)
    assert compose([Part(ours, 1, 30)], "1e-5") == compose([Part(bits, 1, 30)], "1e-5")


def test_one_epsilon_per_trial() -> None:
    noise = dp.KaryResponse(np.array([1e-9, 1000.0]), 4)
    shown = noise.simulate(np.zeros((2, 10_000), dtype=np.int64), np.random.default_rng(73))
    assert abs((shown[0] == 0).mean() - 0.25) < 0.03  # 6 standard deviations
    assert (shown[1] == 0).all()
    assert noise.at(1) == dp.KaryResponse(1000, 4)


@pytest.mark.parametrize(("output", "query", "other"), list(product(range(3), repeat=3)))
def test_ratios_are_those_of_the_table(output: int, query: int, other: int) -> None:
    noise, table = dp.KaryResponse("0.7", 3), channel_of("0.7", 3)
    expected = mpmath.log(table[query][output]) - mpmath.log(table[other][output])
    exact = noise.exact_log_ratio(output, query, other)
    assert exact is not None
    assert float(exact) == pytest.approx(float(expected), abs=1e-15)
    assert float(noise.log_ratio(output, query, other)) == float(exact)
    assert float(noise.log_prob((output - query) % 3)) == pytest.approx(float(mpmath.log(table[query][output])), abs=1e-14)


@pytest.mark.parametrize("query", range(4))
def test_every_interval_has_the_probability_that_enumeration_gives_enclosed(query: int) -> None:
    noise = dp.KaryResponse("0.7", 4)
    with mpmath.workdps(60):
        row = channel_of("0.7", 4)[query]
        for low, high in product((None, -1, 0, 1, 3, 4), (None, -1, 0, 2, 3, 9)):
            inside = [row[o] for o in range(4) if (low is None or o >= low) and (high is None or o <= high)]
            below, above = (mpmath.mpf(end.numerator) / end.denominator for end in noise.within(low, high, query))
            assert below - mpmath.mpf(10) ** -40 <= mpmath.fsum(inside) <= above + mpmath.mpf(10) ** -40
            assert above - below < mpmath.mpf(10) ** -25
        assert [float(noise.tail(k)[0]) for k in (0, 1, 3, 4)] == pytest.approx(
            [1, float(3 * row[query - 1]), float(row[query - 1]), 0]
        )


@pytest.mark.parametrize("changed", [1, 2, 4])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("level", ["0", "0.2", "0.7", "1.5"])
def test_delta_is_the_sum_over_all_outputs_rounded_up(changed: int, k: int, level: str) -> None:
    noise = dp.KaryResponse("0.7", k)
    with mpmath.workdps(80):
        brute = enumerated_delta("0.7", k, changed, Fraction(level))
        delta = noise.delta(Fraction(level), changed)
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        rounding = mpmath.mpf(10) ** -70  # of the enumeration, where nothing is left
        assert brute - rounding <= bound <= brute * (1 + mpmath.mpf(10) ** -15)
    assert (delta == 0) == (Fraction(level) >= changed * Fraction("0.7"))


@pytest.mark.parametrize(("k", "count"), [(3, 6), (5, 4), (20, 3)])
def test_numerical_composition_encloses_what_enumeration_gives(k: int, count: int) -> None:
    noise = dp.KaryResponse("0.7", k)
    for level in (Fraction(1, 10), Fraction(1, 2), Fraction(3, 2)):
        with mpmath.workdps(50):
            brute = enumerated_delta("0.7", k, count, level)
            below, above = (mpmath.mpf(e.numerator) / e.denominator for e in composed_delta([Part(noise, 1, count)], level))
        assert below <= brute * (1 + mpmath.mpf(10) ** -30)
        assert brute <= above * (1 + mpmath.mpf(10) ** -30)
        assert above - below <= brute * mpmath.mpf(10) ** -6


def test_composition_is_tighter_than_the_pure_sum_and_than_any_release_of_that_cost() -> None:
    of_many, of_bits = (compose([Part(noise, 1, 20)], "1e-6") for noise in (dp.KaryResponse(1, 50), dp.RandomizedResponse(1)))
    assert of_many.upper < of_bits.lower < of_bits.upper < 20
    assert of_many.upper - of_many.lower < Fraction(1, 10**6)
    assert compose([Part(dp.KaryResponse(1, 50), 1, 20)], 0).upper == 20


def test_several_categories_of_one_record_cost_as_many_epsilons() -> None:
    with dp.simulate(1) as channel:
        channel.release("one", np.array([1, 2, 3]), dp.KaryResponse("1/2", 4), sensitivity=1)
        channel.release("any", np.array([1, 2, 3]), dp.KaryResponse("1/2", 4), sensitivity=9)
        channel.release("scalar", 2, dp.KaryResponse("1/2", 4), sensitivity=3)
        costs = [event.record.epsilon for event in channel.events]
    assert costs == [Fraction(1, 2), Fraction(3, 2), Fraction(1, 2)]


def test_a_ledger_holds_it_and_is_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    with dp.live(dp.open_ledger(path), budget=dp.Claim("2")) as channel:
        shown = channel.release("colour", 3, dp.KaryResponse(1, K), sensitivity=1, cohort=[7])
        assert shown in range(K)
        reports = channel.reports("colours", np.array([0, 4, 2]), dp.KaryResponse(1, K), sensitivity=4, cohort=[7, 8, 9])
        assert set(reports.values.tolist()) <= set(range(K))
        assert float(np.sum(reports.sum())) == reports.values.sum()
        with pytest.raises(dp.BudgetExceeded):
            channel.release("again", 3, dp.KaryResponse(1, K), sensitivity=1, cohort=[7])
    with dp.open_ledger(path, readonly=True) as ledger:
        release = next(iter(ledger.releases()))
        assert (release.mechanism, dict(release.parameters)) == ("kary-response", {"epsilon": "1", "k": "5", "grid": "1"})
        assert dp.account(ledger).epsilon == 2
        assert dp.account(ledger).lines[0].theorem == "k-ary randomised response"


def test_simulated_reports_are_summed_from_the_reports_themselves() -> None:
    with dp.simulate(3, trials=4) as channel:
        sums = channel.reports("c", np.tile([0, 4, 2], (4, 1)), dp.KaryResponse(50, K), sensitivity=1).sum()
    assert np.asarray(sums).ravel().tolist() == [6.0] * 4
    with pytest.raises(InvalidValue, match="reports"):
        dp.KaryResponse(1, K).simulate_sums([3], 2, np.random.default_rng(1))


@pytest.mark.parametrize("written", ["randomized-response", "kary-response"])
def test_it_is_written_by_hand(written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "releases.jsonl"
    path.write_text("\n".join(json.dumps({"mechanism": written, "epsilon": "1", "k": k}) for k in ("5", 50)) + "\n")
    assert dp.account(path).epsilon == 2
    parts = [Part(dp.KaryResponse(1, k), 1) for k in (5, 50)]
    assert dp.account(path, delta="1e-3", fixed=True).epsilon <= max(compose(parts, "1e-3").upper, Fraction(2))
    assert main(["account", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] == "2"


@pytest.mark.parametrize("change", [{"k": "1"}, {"k": "2.5"}, {"k": None}, {"epsilon": "0"}, {"scale": "1"}])
def test_a_wrong_field_by_hand_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "releases.jsonl"
    path.write_text(json.dumps({"mechanism": "randomized-response", "epsilon": "1", "k": "5", **change}))
    with pytest.raises(dp.DpauditError, match=next(iter(change))):
        dp.account(path)


@pytest.mark.parametrize("bad", [(0, 3), (1, 1), (1, 2.5), (1, 2**33), ("much", 3)])
def test_meaningless_parameters_are_refused(bad: tuple[object, object]) -> None:
    with pytest.raises(InvalidValue):
        dp.KaryResponse(*bad)  # type: ignore[arg-type]


def test_it_is_read_back_from_its_parameters() -> None:
    noise = dp.KaryResponse("1/3", 7)
    again = noise_from(noise.name, noise.parameters())
    assert again == noise
    assert hash(again) == hash(noise)
    assert again != dp.KaryResponse("1/3", 8)


@pytest.mark.parametrize("count", [1, 3, 300])
def test_calibration_meets_its_target_and_nothing_larger_does(count: int) -> None:
    found = dp.calibrate("kary-response", 1, "1e-4", count=count, k=10)
    assert found.gives.upper <= 1
    epsilon0 = found.rule.value
    assert epsilon0 >= Fraction(1, count)
    if found.rule.method != "pure":
        more = composed_delta([Part(dp.KaryResponse(epsilon0 * Fraction(1001, 1000), 10), 1, count)], 1)
        assert more[0] > Fraction(1, 10**4)
    assert eval(found.python, {"dp": dp}) == found.rule.noise


def test_calibration_asks_for_k(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidValue, match="k"):
        dp.calibrate("kary-response", 1)
    with pytest.raises(InvalidValue, match="k"):
        dp.calibrate("laplace", 1, k=3)
    assert main(["calibrate", "--mechanism", "kary-response", "--k", "5", "--epsilon", "1", "--count", "4"]) == 0
    assert 'dp.KaryResponse(epsilon="0.25", k="5")' in capsys.readouterr().out


def sealed_category(claimed: str, delta: str = "0") -> dp.Subject:
    @dp.subject(claim=dp.Claim(claimed, delta), neighbours=dp.replace_one(n=1, low=0, high=K - 1))
    def category(answers, channel):  # type: ignore[no-untyped-def]
        return channel.release("category", answers.sum(), dp.KaryResponse(1, K), sensitivity=1)

    return category


def test_a_sealed_category_is_certified_at_epsilon() -> None:
    found = dp.audit(sealed_category("1"), samples=2000, seed=1)
    assert found.verdict == "certified"
    assert found.upper is not None
    assert found.upper.epsilon == 1


@pytest.mark.parametrize(("claimed", "delta"), [("0.9", "0"), ("0.5", "1e-3")])
def test_it_is_refuted_when_it_claims_less(claimed: str, delta: str) -> None:
    found = dp.audit(sealed_category(claimed, delta), samples=2000, seed=1)
    assert found.verdict == "refuted"
    assert found.witness is not None
    p, q = truth_probability(1, K), (1 - truth_probability(1, K)) / (K - 1)
    best = 1.0 if delta == "0" else math.log((p - float(delta)) / q)
    assert float(found.lower.epsilon) == pytest.approx(best, abs=1e-9)


def test_the_middle_category_is_shown_as_such_by_the_event() -> None:
    from dpaudit.auditors.events.tails import best_threshold

    found = best_threshold(dp.KaryResponse(1, K), 2, 4, dp.Claim("0.1", "1e-3"))
    assert found is not None
    assert found[1] == 2
    assert float(found[0]) == pytest.approx(math.log((truth_probability(1, K) - 1e-3) / (1 - truth_probability(1, K)) * (K - 1)))
