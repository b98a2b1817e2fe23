"""Unary encodings: sampler, ratios and intervals against the table of all 2^k outputs; then the way from door to verdict."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import ReplaySource, SecureSource, noise_from
from dpaudit.noise.encodings.unary_encoding import UnaryEncoding

KINDS: list[Any] = [dp.UnaryResponse, dp.OptimizedUnaryResponse]
both = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def bit_probabilities(kind: Any, epsilon: Any) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P(own bit is 1) and P(another bit is 1), from the papers."""
    e = mpmath.exp(mpmath.mpf(epsilon))
    if kind is dp.UnaryResponse:
        return mpmath.sqrt(e) / (1 + mpmath.sqrt(e)), 1 / (1 + mpmath.sqrt(e))
    return mpmath.mpf(1) / 2, 1 / (1 + e)


def table(kind: Any, epsilon: Any, k: int) -> list[list[mpmath.mpf]]:
    """P(output | category) for every output, a number whose binary digit j is the bit of category j."""
    own, other = bit_probabilities(kind, epsilon)
    rows = []
    for query in range(k):
        ones = [own if j == query else other for j in range(k)]
        rows.append([mpmath.fprod(p if o >> j & 1 else 1 - p for j, p in enumerate(ones)) for o in range(2**k)])
    return rows


@both
@pytest.mark.parametrize("how", ["live", "simulated"])
def test_outputs_have_the_stated_law(kind: Any, how: str) -> None:
    # 200,000 outputs: one seed in 1,000 fails; the twins are 5 % off ε
    noise, size, k = kind(1, 3), 200_000, 3
    truth = np.full(size, 1)
    shown = noise.draw(truth, ReplaySource(71)) if how == "live" else noise.simulate(truth, np.random.default_rng(72))
    counts = np.bincount(shown, minlength=2**k)

    def p_value(epsilon: float) -> float:
        expected = np.array([float(p) for p in table(kind, epsilon, k)[1]]) * size
        return float(stats.chisquare(counts, expected / expected.sum() * size).pvalue)

    assert p_value(1.0) > 1e-3
    assert max(p_value(0.95), p_value(1.05)) < 1e-6


@both
def test_live_draws_repeat_from_the_same_words_and_give_the_bits_of_each(kind: Any) -> None:
    noise = kind("0.7", 9)
    one, two = (noise.draw(np.arange(9), ReplaySource(5)) for _ in range(2))
    assert one.tolist() == two.tolist()
    bits = noise.unfold(one)
    assert bits.shape == (9, 9)
    assert (bits @ (1 << np.arange(9))).tolist() == one.tolist()


@both
def test_very_many_and_no_categories_are_drawn(kind: Any) -> None:
    noise = kind(30, 3)
    truth = np.arange(150_000).reshape(3, 50_000) % 3
    for shown in (noise.draw(truth, SecureSource()), noise.simulate(truth, np.random.default_rng(8))):
        others = noise.unfold(shown).sum(axis=-1) - np.take_along_axis(noise.unfold(shown), truth[..., None], -1)[..., 0]
        assert shown.shape == truth.shape
        assert others.sum() <= 30  # e^-15 each: 0.1 are expected in 300,000
    assert noise.draw(np.zeros((0, 4), dtype=np.int64), SecureSource()).shape == (0, 4)


def test_values_that_are_no_category_are_read_as_the_nearest() -> None:
    sure = dp.UnaryResponse(1000, 3)
    for shown in (sure.draw([-5, 0, 2, 7], SecureSource()), sure.simulate([-5, 0, 2, 7], np.random.default_rng(1))):
        assert sure.unfold(shown).argmax(axis=-1).tolist() == [0, 0, 2, 2]
        assert sure.unfold(shown).sum(axis=-1).tolist() == [1, 1, 1, 1]


@both
def test_one_epsilon_per_trial(kind: Any) -> None:
    noise = kind(np.array([1e-9, 1000.0]), 4)
    bits = noise.unfold(noise.simulate(np.zeros((2, 10_000), dtype=np.int64), np.random.default_rng(73)))
    assert abs(bits[0, :, 1].mean() - 0.5) < 0.03  # 6 standard deviations
    assert bits[1, :, 1].sum() == 0
    assert noise.at(1) == kind(1000, 4)


@both
def test_ratios_are_those_of_the_table(kind: Any) -> None:
    noise, rows = kind("0.7", 3), table(kind, "0.7", 3)
    for output, query, other in product(range(8), range(3), range(3)):
        expected = mpmath.log(rows[query][output]) - mpmath.log(rows[other][output])
        exact = noise.exact_log_ratio(output, query, other)
        assert float(exact) == pytest.approx(float(expected), abs=1e-14)
        assert float(noise.log_ratio(output, query, other)) == pytest.approx(float(exact))


@both
def test_every_interval_has_the_probability_that_enumeration_gives_enclosed(kind: Any) -> None:
    noise = kind("0.7", 3)
    with mpmath.workdps(60):
        rows = table(kind, "0.7", 3)
        for low, high, query in product((None, -1, 0, 3, 6, 8), (None, -2, 0, 4, 7, 20), range(3)):
            inside = [rows[query][o] for o in range(8) if (low is None or o >= low) and (high is None or o <= high)]
            below, above = (mpmath.mpf(end.numerator) / end.denominator for end in noise.within(low, high, query))
            assert below - mpmath.mpf(10) ** -40 <= mpmath.fsum(inside) <= above + mpmath.mpf(10) ** -40
            assert above - below < mpmath.mpf(10) ** -25
        for query, other in product(range(3), repeat=2):
            if query != other:  # its loss is ε throughout
                low, high = noise.favouring(query, other, 0)
                p, q = (mpmath.fsum(rows[side][low : high + 1]) for side in (query, other))
                assert float(mpmath.log(p / q)) == pytest.approx(0.7)


@both
@pytest.mark.parametrize("bad", [(0, 3), (1, 1), (1, 2.5), (1, 53), ("much", 3)])
def test_meaningless_parameters_are_refused(kind: Any, bad: tuple[object, object]) -> None:
    with pytest.raises(InvalidValue):
        kind(*bad)


@both
def test_it_is_read_back_from_its_parameters_and_no_other_encoding_is_it(kind: Any) -> None:
    noise = kind("1/3", 7)
    assert noise_from(noise.name, noise.parameters()) == noise
    assert len({noise, *(other("1/3", 7) for other in KINDS), kind("1/3", 8)}) == 3
    with pytest.raises(InvalidValue, match="bits"):
        noise.tail(1)
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Changed", (kind,), {})


@both
def test_a_ledger_holds_it_and_is_accounted_for(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    with dp.live(dp.open_ledger(path), budget=dp.Claim("2")) as channel:
        shown = channel.release("colour", 3, kind(1, 5), sensitivity=1, cohort=[7])
        assert shown.shape == (5,)
        assert set(shown.tolist()) <= {0.0, 1.0}
        reports = channel.reports("colours", np.array([0, 4, 2]), kind(1, 5), sensitivity=4, cohort=[7, 8, 9])
        assert reports.values.shape == (3, 5)
        assert reports.sum().tolist() == [reports.values.sum(axis=0).tolist()]
        with pytest.raises(dp.BudgetExceeded):
            channel.release("again", 3, kind(1, 5), sensitivity=1, cohort=[7])
    with dp.open_ledger(path, readonly=True) as ledger:
        release = next(iter(ledger.releases()))
        assert release.values is not None
        assert noise_from(release.mechanism, release.parameters).unfold(release.values).tolist() == shown.tolist()
        assert dp.account(ledger).epsilon == 2


@both
def test_a_replay_pins_its_bits_on_other_data_and_keeps_the_exact_loss(kind: Any) -> None:
    noise = kind(1, 5)
    with dp.simulate(7) as channel:
        shown = channel.release("colours", np.array([0, 1, 2]), noise, sensitivity=1)
    with dp.replay(channel) as again:
        assert again.release("colours", np.array([4, 1, 2]), noise, sensitivity=1).tolist() == shown.tolist()
    (event,), (mirror,) = channel.events, again.events
    assert noise.log_ratio(event.output, event.query, mirror.query).tolist() == [shown[0, 0] - shown[0, 4], 0, 0]


@both
def test_it_is_written_by_hand(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "releases.jsonl"
    path.write_text(json.dumps({"mechanism": kind.name, "epsilon": "1", "k": "5", "count": "3"}) + "\n")
    assert dp.account(path).epsilon == 3
    path.write_text(json.dumps({"mechanism": kind.name, "epsilon": "1"}) + "\n")
    with pytest.raises(dp.DpauditError, match="k"):
        dp.account(path)


@both
def test_tagged_reports_are_summed_bit_by_bit_in_every_trial(kind: Any) -> None:
    with dp.simulate(3, trials=4) as channel:
        reports = channel.reports(
            "c", np.tile([0, 4, 2, 2], (4, 1)), kind(1, 5), sensitivity=1, to="shuffled", tags=np.array([0, 0, 1, 1])
        )
        values, sums = reports.values, reports.sum()
    assert values.shape == (4, 4, 5)
    assert sums.tolist() == np.stack([values[:, :2].sum(axis=1), values[:, 2:].sum(axis=1)], axis=1).tolist()


@both
def test_a_shuffled_batch_is_charged_by_its_own_blanket_at_the_door_and_in_the_account(kind: Any, tmp_path: Path) -> None:
    path, method = tmp_path / "run.ledger", kind.blanket
    with dp.live(dp.open_ledger(path), budget=dp.Claim("1", "1e-6")) as channel:
        channel.reports("c", np.arange(1000) % 5, kind(2, 5), sensitivity=1, to="shuffled", delta="1e-6")
    best = dp.amplify(2, 1000, "1e-6", method=method)
    with dp.open_ledger(path, readonly=True) as ledger:
        release, bound = next(iter(ledger.releases())), dp.account(ledger, delta="1e-6")
    assert release.epsilon == best.upper
    assert bound.per_observer["shuffled"][0] == best.upper
    assert "unary" in bound.lines[0].theorem
    assert best.upper < dp.amplify(2, 1000, "1e-6", method="same").upper
    # k-ary randomised response on all 2^5 outputs is another mechanism, and cheaper
    assert dp.amplify(2, 1000, "1e-6", method="krr", k=2**5).upper < best.lower


def audited(kind: Any, claimed: str, delta: str = "0", epsilon: str = "1") -> dp.Verdict:
    @dp.subject(claim=dp.Claim(claimed, delta), neighbours=dp.replace_one(n=1, low=0, high=3))
    def category(answers, channel):  # type: ignore[no-untyped-def]
        return channel.release("category", answers.sum(), kind(epsilon, 4), sensitivity=1)

    return dp.audit(category, samples=2000, seed=1)


@both
def test_a_sealed_category_is_certified_at_epsilon_and_refuted_below(kind: Any) -> None:
    found = audited(kind, "1")
    assert (found.verdict, found.upper and found.upper.epsilon) == ("certified", 1)
    found = audited(kind, "0.9")
    assert (found.verdict, float(found.lower.epsilon)) == ("refuted", pytest.approx(1, abs=1e-9))
    found = audited(kind, "0.5", "1e-3")
    assert found.verdict == "refuted"
    own, other = (float(p) for p in bit_probabilities(kind, 1))
    p, q = own * (1 - other) ** 3, other * (1 - own) * (1 - other) ** 2
    assert float(found.lower.epsilon) >= math.log((p - 1e-3) / q) - 1e-9


@both
def test_two_categories_of_a_record_that_declares_one_are_found(kind: Any) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=2, low=0, high=3))
    def twice(answers, channel):  # type: ignore[no-untyped-def]
        return channel.release("both", answers[[0, 0]], kind(1, 4), sensitivity=1)

    found = dp.audit(twice, samples=1000, seed=1)
    assert found.verdict == "refuted"
    assert "DPA003" in {finding.rule for finding in found.findings}


def broken(bits: np.ndarray, rng: np.random.Generator, flaw: str) -> np.ndarray:
    """RAPPOR at ε = 1 as people get it wrong: ε for each bit, no noise on zeros, or the same coin for all bits."""
    flip = {"whole": 1 / (1 + math.e), "none": 1 / (1 + math.exp(0.5))}.get(flaw, 1 / (1 + math.exp(0.5)))
    coins = rng.random(bits.shape) < flip
    if flaw == "zeros":
        coins &= bits == 1
    if flaw == "shared":
        coins = np.broadcast_to(coins[..., :1], bits.shape)
    return np.where(coins, 1 - bits, bits)


@pytest.mark.parametrize(
    ("flaw", "verdict"), [("none", "unproven"), ("whole", "refuted"), ("zeros", "refuted"), ("shared", "refuted")]
)
def test_broken_encodings_are_refuted_as_black_boxes_and_the_right_one_is_not(flaw: str, verdict: str) -> None:
    # refuting error rate 1e-6
    @dp.subject(claim=dp.Claim("1"), neighbours=[(np.array([0]), np.array([2]))])
    def encoding(answers, rng, trials):  # type: ignore[no-untyped-def]
        bits = np.zeros((trials, 3), dtype=int)
        bits[:, int(answers[0])] = 1
        return broken(bits, rng, flaw)

    assert dp.audit(encoding, samples=20_000, seed=4).verdict == verdict


@both
def test_calibration_meets_its_target(kind: Any) -> None:
    found = dp.calibrate(kind.name, 1, "1e-4", count=3, k=10)
    assert found.gives.upper <= 1
    assert found.rule.value >= Fraction(1, 3)
    assert isinstance(found.rule.noise, UnaryEncoding)
    shuffled = dp.calibrate_shuffled(1, "1e-6", 1000, mechanism=kind.name, k=10)
    assert shuffled.rule.method == kind.blanket
    assert shuffled.gives.upper <= 1 < shuffled.rule.noise.epsilon(1)
