"""Stated guarantees as records hold them: read back exactly, and refused where they are none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.claims import InvalidValue
from dpaudit.ledger import Release
from dpaudit.ledger.records.guarantees import GUARANTEES, LossGuarantee, guarantee_from, read_guarantee
from dpaudit.noise import written_forms

WRITTEN: list[dict[str, Any]] = [
    {"mechanism": "known", "epsilon": 0.5, "delta": "1e-6"},
    {"mechanism": "zcdp", "rho": "1/3"},
    {"mechanism": "rdp", "curve": [[8, 1], [1.5, "1/7"]]},
    {"mechanism": "discrete-loss", "losses": [["infinity", "1e-3"], [1, "0.749"], [-1, 0.15], ["-1", "0.1"]]},
]


@pytest.mark.parametrize("fields", WRITTEN, ids=lambda fields: fields["mechanism"])
def test_a_release_reads_back_what_was_stated(fields: dict[str, Any]) -> None:
    release = Release.from_json(fields, forms=written_forms())
    stated = guarantee_from(release.mechanism, release.parameters)
    assert stated == read_guarantee(GUARANTEES[fields["mechanism"]], fields)
    assert Release.from_json(release.to_json()) == release  # as a ledger keeps it


@pytest.mark.parametrize("seed", range(5))
def test_losses_are_merged_sorted_and_add_up_to_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(Fraction(int(rng.integers(0, 4)), 3), int(rng.integers(1, 100))) for _ in range(5)]
    whole = sum(weight for _, weight in pairs)
    stated = LossGuarantee.read({"losses": [[str(loss), str(Fraction(weight, whole))] for loss, weight in pairs]})
    assert [loss for loss, _ in stated.losses] == sorted({loss for loss, _ in pairs}, reverse=True)
    assert sum(share for _, share in stated.losses) + stated.infinite == 1


def test_what_probabilities_lack_of_one_counts_as_infinite_loss() -> None:
    short = LossGuarantee.read({"losses": [["1", "0.9999999999"]]})
    assert short.infinite == Fraction(1, 10**10)
    with pytest.raises(InvalidValue):
        LossGuarantee.read({"losses": [["1", "0.999999"]]})


def test_a_law_whose_other_side_has_more_than_all_is_refused() -> None:
    """P(−1) = 1 would give Q(−1) = e; randomised response, written in floats, is within rounding."""
    with pytest.raises(InvalidValue, match="at most 1"):
        LossGuarantee.read({"losses": [["0.1", "0.5"], ["-0.3", "0.5"]]})
    LossGuarantee.read({"losses": [["1", "0.7310585786300049"], ["-1", "0.2689414213699951"]]})


def test_a_mechanism_with_noise_states_nothing() -> None:
    assert guarantee_from("laplace", {"scale": "1"}) is None
