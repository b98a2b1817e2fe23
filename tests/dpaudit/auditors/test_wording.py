"""What audits say about themselves: no more than they know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.wording import not_yet_refuted, power_words
from dpaudit.claims import Lower
from dpaudit.report.content.audit import audit_report
from dpaudit.report.formats import write

ONE, ZERO = np.ones(1), np.zeros(1)


def respond(epsilon: float) -> Any:
    """Randomised response on a bit, for a claim of 1."""

    def bit(data: Any, rng: Any, trials: Any) -> Any:
        true = rng.random(trials) < 1 / (1 + np.exp(-epsilon))
        return np.where(true, data[0], 1 - data[0])

    return dp.subject(claim=dp.Claim("1"), neighbours=[(ONE, ZERO)])(bit)


def test_power_is_about_these_guesses_and_nothing_is_said_without_any() -> None:
    told = power_words("1.25", "unproven", exact=False)
    assert told == ("on the pairs tried: had these guesses been right as often as ε=1.25 allows, this would have been refuted")
    assert power_words(None, "unproven", exact=False) == "says nothing about larger ε"
    assert power_words(None, "certified", exact=True) is None
    assert power_words("1.25", "refuted", exact=False) is None


def test_nowhere_does_the_product_say_that_something_would_have_been_found() -> None:
    package = Path(dp.__file__).parent
    files = [*package.rglob("*.py"), *package.rglob("*.json"), package.parent / "README.md"]
    assert len(files) > 200
    assert not [file.name for file in files if "would have been found" in " ".join(file.read_text(encoding="utf8").split())]


def test_a_bound_above_the_claim_that_does_not_refute_says_how_many_runs_would() -> None:
    """ε = 1.1 with a thousand runs a side is above 1 at 95 % on this seed, and three stages do not reach 1−10^-6."""
    seed = next(k for k in range(100) if dp.audit(respond(1.05), samples=1000, seed=k).lower.epsilon > 1)
    verdict = dp.audit(respond(1.05), samples=1000, seed=seed)
    assert str(verdict.verdict) == "unproven"
    assert f"the 95 % bound {verdict.lower.epsilon:.6g} is above the claim" in verdict.reason
    assert "confidence 1−10^-6" in verdict.reason
    assert "would do" in verdict.reason or "do not show it again" in verdict.reason
    assert "is above the claim" not in dp.audit(respond(0.5), samples=1000, seed=seed).reason


def test_so_many_runs_are_advised_as_refute() -> None:
    lower = Lower(1.02, 0.95, "guessing game", 1000)
    advice = not_yet_refuted(lower, 0.9812345678, "10^-6", 16_000, 123_456)
    assert "0.981234 after 16,000 runs a side; about 130,000 would do" in advice
    assert "16,000 fresh runs a side do not show it again" in not_yet_refuted(lower, 0.9, "10^-6", 16_000, None)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_text_has_a_power_line_unless_the_claim_was_refuted(epsilon: float) -> None:
    text = write("text", audit_report([dp.audit(respond(epsilon), samples=2000, seed=1)]))
    assert ("  power " in text) == (epsilon < 1)
    assert ("had these guesses been right" in text) == (epsilon < 1)


def test_a_subject_without_noise_is_refuted_at_every_delta() -> None:
    """At δ = 1e-5 a thousand runs show more than 4.6 even at confidence 1−10^-6. The twin has enough noise."""

    def total(scale: float) -> Any:
        def released(data: Any, rng: Any) -> Any:
            return float(data.sum() + scale * rng.normal())

        return dp.subject(claim=dp.Claim("1", "1e-5", arithmetic="ideal"), neighbours=[(ONE, ZERO)])(released)

    for delta in ("0", "1e-6", "1e-5", "0.01"):
        verdict = dp.audit(total(0.0), samples=1000, seed=1, delta=delta)
        assert str(verdict.verdict) == "refuted"
        assert verdict.witness is not None
        assert verdict.witness["epsilon"] >= 4.5
    assert str(dp.audit(total(3.8), samples=1000, seed=1).verdict) == "unproven"
