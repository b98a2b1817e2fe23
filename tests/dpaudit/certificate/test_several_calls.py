"""A ledger may hold several calls of the certified code: the certificate then says what all of them cost, not what one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.certificate import audit_subject, read_ledger, refuse, registry_entry, sign, statement
from dpaudit.certificate.envelope import open_certificate
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of, subjects_of

HALF = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1", delta="DELTA"), neighbours=dp.replace_one(n=100, low=-1, high=1)PLAN)
def half(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=4), sensitivity=2)
"""


def made(folder: Path, delta: str = "0", plan: str = ', plan=[("sum", dp.Laplace(scale=4), 2)]') -> Subject:
    """Each call costs 1/2 of a budget of 1."""
    (folder / "half.py").write_text(HALF.replace("DELTA", delta).replace("PLAN", plan), encoding="utf-8")
    return subjects_of(str(folder / "half.py"))[0]


def certified(subject: Subject, path: Path, firsts: list[int], **options: Any) -> dict[str, Any]:
    """The statement about a ledger with one call for each of these first ids of 100 records."""
    with dp.open_ledger(path, code=code_of(subject)) as ledger, dp.live(ledger, subject.claim, proven=True) as channel:
        for first in firsts:
            subject.run(dp.seal(np.full(100, 0.5), -1, 1, first=first), channel)
    ledger_read, audited = read_ledger(path), audit_subject(subject, seed=1, **options)
    refuse(ledger_read, audited, [])
    return statement(ledger_read, audited, [], [])


@pytest.mark.parametrize(("firsts", "upper"), [([0], "0.5"), ([0, 0], "1")])
def test_the_interval_covers_what_the_ledger_spent(firsts: list[int], upper: str, tmp_path: Path, key: Ed25519PrivateKey) -> None:
    document = certified(made(tmp_path), tmp_path / "l.ledger", firsts)
    seen = document["predicate"]
    interval, spent = seen["guarantee"]["interval"], seen["ledger"]["spent"]["epsilon"]
    assert (interval["upper"], spent) == (upper, upper)
    assert interval["lower"] == "0.5"  # one call was attacked
    (tmp_path / "c.json").write_text(sign(document, key), encoding="utf-8")
    draft = registry_entry(open_certificate(tmp_path / "c.json", [key.public_key()]))
    assert f"epsilon <= {upper};" in draft["deployment"]["privacy_loss"]["privacy_parameters_details"]


def test_calls_of_a_ledger_are_bounded_by_the_door_not_by_a_plan(tmp_path: Path) -> None:
    """What one call releases is fixed by its plan; how often it is called is not."""
    subject = made(tmp_path)
    seen = certified(subject, tmp_path / "l.ledger", [0, 0])["predicate"]
    alone = statement(None, audit_subject(subject, seed=1), [], [])["predicate"]
    for predicate, by in ((seen, "the door refuses"), (alone, "its plan: the door refuses")):
        first = predicate["theorems"]["composition"]["preconditions"][0]
        assert first["by"].startswith(by)
        assert ("fixed in advance" in first["condition"]) is (predicate is alone)
    assert alone["configuration"]["plan"] == ['("sum", dp.Laplace(scale="4"), "2")']
    told = {one["id"]: one["reason"] for one in seen["hazards"]}
    assert "the budget bounds every path" in told["query-model"]


@pytest.mark.parametrize(("firsts", "records", "status"), [([0], 100, "met"), ([0, 100, 200], 300, "not assessed")])
def test_the_horizon_covers_every_record_of_the_ledger(firsts: list[int], records: int, status: str, tmp_path: Path) -> None:
    """δ = 1/200 is below one in a hundred, not below one in the three hundred that the ledger touches."""
    seen = certified(made(tmp_path, "0.005"), tmp_path / "l.ledger", firsts, samples=200)["predicate"]
    assert seen["horizon"]["records"] == records
    assert next(one for one in seen["hazards"] if one["id"] == "delta")["status"] == status


def test_named_clients_are_counted(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "l.ledger") as ledger, dp.live(ledger, 1, proven=True) as channel:
        for name in ("ann", "bob", "cas"):
            channel.release(name, dp.seal([0.5], 0, 1).sum(), dp.Laplace(scale=4), sensitivity=1, cohort=name)
    seen = statement(read_ledger(tmp_path / "l.ledger"), None, [], [])["predicate"]
    assert seen["horizon"]["records"] == 4  # record 0 and three names
