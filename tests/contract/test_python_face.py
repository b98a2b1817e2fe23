"""The names, signatures and results that ``import dpaudit as dp`` promises."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest

import dpaudit as dp

PUBLIC = [
    "subject",
    "Claim",
    "replace_one",
    "add_remove",
    "Laplace",
    "Gaussian",
    "RandomizedResponse",
    "audit",
    "account",
    "assert_private",
    "open_ledger",
    "amplify",
    "invert",
    "live",
    "simulate",
    "replay",
    "BudgetExceeded",
    "DpauditError",
]

REQUIRED = inspect.Parameter.empty
POSITIONAL: dict[str, dict[str, object]] = {
    "Claim": {"epsilon": REQUIRED, "delta": "0", "observer": "server"},
    "amplify": {"epsilon0": REQUIRED, "n": REQUIRED, "delta": REQUIRED, "method": "clone"},
    "invert": {"epsilon": REQUIRED, "n": REQUIRED, "delta": REQUIRED, "method": "closed", "digits": 50},
    "replace_one": {"n": REQUIRED, "low": REQUIRED, "high": REQUIRED},
    "add_remove": {"n": REQUIRED, "low": REQUIRED, "high": REQUIRED},
    "live": {"ledger": REQUIRED, "budget": None},
    "simulate": {"seed": REQUIRED, "trials": None},
    "replay": {"transcript": REQUIRED},
    "open_ledger": {"path": REQUIRED},
    "account": {"ledger": REQUIRED},
    "audit": {"subject": REQUIRED},
    "assert_private": {"subject": REQUIRED},
}
AUDIT_KEYWORDS = {"epsilon": None, "delta": None, "confidence": 0.95, "samples": None, "seed": None}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_there(name: str) -> None:
    assert callable(getattr(dp, name))


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        dp.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", POSITIONAL)
def test_signature_is_that_of_the_design(name: str) -> None:
    parameters = inspect.signature(getattr(dp, name)).parameters
    promised = POSITIONAL[name]
    assert list(parameters)[: len(promised)] == list(promised)
    for parameter, default in promised.items():
        assert parameters[parameter].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert parameters[parameter].default == default


def test_audit_takes_its_options_by_keyword_only() -> None:
    parameters = inspect.signature(dp.audit).parameters
    for name, default in AUDIT_KEYWORDS.items():
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == default


@pytest.mark.parametrize("heavy", ["numpy", "scipy", "mpmath", "flint", "hypothesis", "algorithms", "proofs_checks"])
def test_importing_dpaudit_is_lazy(heavy: str) -> None:
    code = f"import sys, dpaudit; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "read"),
    [("1", Fraction(1)), ("0.1", Fraction(1, 10)), ("1/2", Fraction(1, 2)), ("1e-6", Fraction(1, 10**6))],
)
def test_claim_reads_texts_exactly(given: str, read: Fraction) -> None:
    assert dp.Claim(given).epsilon == read
    assert dp.Claim("1", delta=given if read < 1 else "0").delta == (read if read < 1 else 0)


def test_claim_reads_a_float_by_its_shortest_decimal_and_keeps_its_observer() -> None:
    assert dp.Claim(epsilon=0.1).epsilon == Fraction(1, 10)
    assert dp.Claim("1").observer == "server"
    assert dp.Claim("1", "1e-6", "actions").observer == "actions"


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "nan"},
        {"epsilon": float("inf")},
        {"epsilon": "-1"},
        {"epsilon": True},
        {"epsilon": "one"},
        {"epsilon": "1", "delta": "1"},
        {"epsilon": "1", "delta": "-1e-9"},
        {"epsilon": "1", "observer": "everybody"},
    ],
    ids=str,
)
def test_claim_refuses_what_is_not_a_claim(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.DpauditError):
        dp.Claim(**wrong)


def test_errors_have_one_root() -> None:
    assert issubclass(dp.BudgetExceeded, dp.DpauditError)
    assert issubclass(dp.DpauditError, Exception)


def test_a_subject_is_still_a_function_of_its_data_and_a_channel(examples: ModuleType) -> None:
    with dp.simulate(seed=1) as channel:
        noisy = examples.noisy_sum(np.ones(100), channel)
    assert np.shape(noisy) == ()
    assert abs(float(noisy) - 100) < 2 * 40  # P(|Lap(2)| > 80) = e^-40


def test_audit_returns_a_verdict_with_the_promised_fields(
    examples: ModuleType, parse: Callable[[str], Any], validate: Callable[..., None]
) -> None:
    verdict = dp.audit(examples.noisy_sum, samples=500, seed=3)
    assert verdict.verdict == "certified"
    assert verdict.claim == dp.Claim("1")
    assert verdict.upper.epsilon == Fraction(1)
    assert 0 <= verdict.lower.epsilon <= 1
    assert verdict.witness is None
    assert list(verdict.findings) == []
    told = verdict.to_json()
    document = parse(told if isinstance(told, str) else json.dumps(told, allow_nan=False))
    validate(document, "audit")
    assert document["seed"] == 3
    assert document["upper"]["epsilon"] == "1"
    assert document["claim"] == {"epsilon": "1", "delta": "0"}


def test_audit_is_repeated_by_its_seed_and_reports_the_one_it_drew(examples: ModuleType) -> None:
    drawn = dp.audit(examples.black_box, samples=500)
    again = dp.audit(examples.black_box, samples=500, seed=drawn.seed)
    assert again.lower == drawn.lower
    assert again.verdict == drawn.verdict


def test_audit_may_be_asked_about_another_claim(examples: ModuleType) -> None:
    asked = dp.audit(examples.half_noise, epsilon="2", delta="0", samples=500, seed=1)
    assert asked.claim.epsilon == 2
    assert asked.verdict == "certified"
    assert dp.audit(examples.noisy_sum, epsilon="1/2", samples=500, seed=1).verdict == "refuted"


def test_audit_states_the_confidence_it_was_asked_for(examples: ModuleType) -> None:
    verdict = dp.audit(examples.black_box, confidence=0.99, samples=500, seed=1)
    assert verdict.lower.confidence == 0.99


@pytest.mark.parametrize(
    "wrong", [{"epsilon": "-1"}, {"delta": 2}, {"confidence": 1.5}, {"samples": 0}, {"samples": -5}], ids=str
)
def test_audit_refuses_bad_options(examples: ModuleType, wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.DpauditError):
        dp.audit(examples.noisy_sum, **{"samples": 100, "seed": 1, **wrong})


def test_assert_private_passes_a_certified_subject_and_raises_on_a_refuted_one(examples: ModuleType) -> None:
    dp.assert_private(examples.noisy_sum, samples=500, seed=1)
    with pytest.raises((AssertionError, dp.DpauditError)):
        dp.assert_private(examples.half_noise, samples=500, seed=1)
    dp.assert_private(examples.half_noise, epsilon="2", samples=500, seed=1)


def test_account_reads_a_ledger_and_gives_a_bound(tmp_path: Path) -> None:
    ledger = dp.open_ledger(tmp_path / "today.ledger")
    with dp.live(ledger) as channel:
        channel.release("first", 3.0, dp.Laplace(scale=2), sensitivity=2)
        channel.release("second", 3.0, dp.Laplace(scale=4), sensitivity=2)
    bound = dp.account(ledger)
    assert bound.epsilon == Fraction(3, 2)
    assert bound.delta == 0
    assert bound.method
    assert "server" in bound.per_observer
    assert bound.worst_client is not None
    assert len(bound.lines) == 2


def test_a_ledger_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "today.ledger"
    with dp.live(dp.open_ledger(path)) as channel:
        channel.release("sum", 3.0, dp.Laplace(scale=2), sensitivity=2)
    again = dp.open_ledger(path)
    assert dp.account(again).epsilon == 1
    with dp.live(again) as channel:
        channel.release("sum again", 3.0, dp.Laplace(scale=2), sensitivity=2)
    assert dp.account(again).epsilon == 2


def closed_form(epsilon0: Any, n: int, delta: Any) -> Any:
    """f of Feldman, McMillan, Talwar 2021, Thm 3.1, at 60 digits."""
    with mpmath.workdps(60):
        e = mpmath.exp(mpmath.mpf(epsilon0))
        spread = 8 * mpmath.sqrt(e * mpmath.log(4 / mpmath.mpf(delta))) / mpmath.sqrt(n) + 8 * e / n
        return mpmath.log(1 + (e - 1) / (e + 1) * spread)


def as_mpf(value: Fraction) -> Any:
    with mpmath.workdps(60):
        return mpmath.mpf(value.numerator) / value.denominator


def test_amplify_closed_encloses_the_papers_formula() -> None:
    enclosure = dp.amplify("1", 10**6, "1e-6", method="closed")
    assert isinstance(enclosure.lower, Fraction)
    assert isinstance(enclosure.upper, Fraction)
    assert enclosure.in_domain is True
    true = closed_form(1, 10**6, "1e-6")
    assert as_mpf(enclosure.lower) <= true <= as_mpf(enclosure.upper)
    assert enclosure.upper - enclosure.lower < Fraction(1, 10**9)
    assert not as_mpf(enclosure.lower) <= closed_form(1, 10**6, "2e-6") <= as_mpf(enclosure.upper)


def test_amplify_closed_says_when_the_theorem_does_not_hold() -> None:
    # ε0 ≤ log(n/(16 log(2/δ))): for δ = 1e-6 and ε0 = 4 the domain starts between n = 12,674 and 12,675
    assert dp.amplify("4", 10**4, "1e-6", method="closed").in_domain is False
    assert dp.amplify("4", 10**6, "1e-6", method="closed").in_domain is True


@pytest.mark.parametrize(("method", "measured"), [("clone", 0.18241), ("laplace", 0.1302)])
def test_amplify_by_the_exact_methods_is_below_the_closed_form(method: str, measured: float) -> None:
    enclosure = dp.amplify("1", 1000, "1e-6", method=method)
    assert enclosure.in_domain is True
    assert enclosure.lower <= enclosure.upper < dp.amplify("1", 1000, "1e-6", method="closed").lower
    assert float(enclosure.upper) == pytest.approx(measured, abs=1e-4)


def test_amplify_defaults_to_clone_and_is_never_worse_than_no_shuffling() -> None:
    assert dp.amplify("1", 1000, "1e-6") == dp.amplify(epsilon0="1", n=1000, delta="1e-6", method="clone")
    assert dp.amplify("1", 1, "1e-6").upper <= 1


def test_invert_closed_encloses_the_inverse_to_the_digits_asked_for() -> None:
    enclosure = dp.invert("1", 297170, "1e-6")
    assert closed_form(as_mpf(enclosure.lower), 297170, "1e-6") <= 1 + mpmath.mpf("1e-50")
    assert closed_form(as_mpf(enclosure.upper), 297170, "1e-6") >= 1 - mpmath.mpf("1e-50")
    assert enclosure.upper - enclosure.lower <= Fraction(1, 10**48)
    assert float(enclosure.lower) == pytest.approx(6.78, abs=0.005)
    wider = dp.invert("1", 297170, "1e-6", "closed", 10)
    assert wider.upper - wider.lower <= Fraction(1, 10**8)
    assert wider.lower <= enclosure.upper
    assert enclosure.lower <= wider.upper


def test_invert_says_when_its_answer_is_out_of_domain() -> None:
    assert dp.invert("1", 297170, "1e-6").in_domain is True
    assert dp.invert("1", 1000, "1e-6").in_domain is False


@pytest.mark.parametrize("method", ["clone", "laplace"])
def test_invert_and_amplify_agree(method: str) -> None:
    epsilon0 = dp.invert("1/4", 10**4, "1e-6", method=method).lower
    assert epsilon0 >= Fraction(1, 4)
    assert dp.amplify(epsilon0, 10**4, "1e-6", method=method).lower <= Fraction(1, 4)
    assert dp.amplify(epsilon0 * 2, 10**4, "1e-6", method=method).lower > Fraction(1, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon0": "0"},
        {"epsilon0": "nan"},
        {"n": 0},
        {"n": 2.5},
        {"delta": "0"},
        {"delta": "1"},
        {"method": "stronger-clone"},
    ],
    ids=str,
)
def test_amplify_refuses_bad_input(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.DpauditError):
        dp.amplify(**{"epsilon0": "1", "n": 1000, "delta": "1e-6", **wrong})


@pytest.mark.parametrize("wrong", [{"epsilon": "-1"}, {"n": 0}, {"delta": "0"}, {"digits": 0}, {"method": ""}], ids=str)
def test_invert_refuses_bad_input(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.DpauditError):
        dp.invert(**{"epsilon": "1", "n": 1000, "delta": "1e-6", **wrong})


@pytest.mark.parametrize("relation", [dp.replace_one, dp.add_remove])
def test_records_may_come_from_a_list_of_values(relation: Any) -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=relation(20, values=[0, 1, 2, 3]))
    def total(records: Any, channel: Any) -> Any:
        return channel.release("total", records.sum(), dp.Laplace(scale=3), sensitivity=3)

    verdict = dp.audit(total, seed=1)
    assert verdict.verdict == "certified"
    assert verdict.upper is not None
    assert verdict.upper.epsilon == 1


def test_a_black_box_may_be_handed_texts() -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(20, values=["yes", "no", "perhaps"]))
    def count(records: Any, rng: Any) -> Any:
        return records.count("yes") + rng.laplace(scale=0.4)

    assert dp.audit(count, samples=1000, seed=1).verdict == "refuted"
