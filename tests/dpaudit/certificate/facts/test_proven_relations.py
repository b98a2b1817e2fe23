"""A certificate is about one neighbour relation, and data sealed for another one neither passes its door nor is certified.

Each refusal has a twin in which the data is sealed as certified.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.certificate import NotAsCertified, Refused, audit_subject, read_ledger, refuse, sign, statement
from dpaudit.certificate.envelope import open_certificate
from dpaudit.certificate.validity import check
from dpaudit.sealed import Sealed
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of, subjects_of

COUNTED = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.add_remove(n=50, low="0.5", high=1))
def total(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=1), sensitivity=1)
"""

Deploy = Callable[..., Path]


@pytest.fixture
def total(tmp_path: Path) -> Subject:
    """One record more or less moves the sum by up to 1; one replaced moves it by 1/2."""
    (tmp_path / "total.py").write_text(COUNTED, encoding="utf-8")
    return subjects_of(str(tmp_path / "total.py"))[0]


@pytest.fixture
def certified(total: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> Path:
    path = tmp_path / "total.json"
    path.write_text(sign(statement(None, audit_subject(total, seed=1), [], []), key), encoding="utf-8")
    return path


def records(*, removal: bool) -> Sealed:
    return dp.seal(np.full(50, 0.75), low="0.5", high=1, removal=removal)


@pytest.fixture
def deployed(total: Subject, tmp_path: Path) -> Deploy:
    """A ledger of a door that was opened without a certificate, with data sealed either way."""

    def deploy(*removals: bool) -> Path:
        path = tmp_path / f"{'-'.join(map(str, removals))}.ledger"
        with dp.open_ledger(path, code=code_of(total)) as ledger, dp.live(ledger, 1, proven=True) as channel:
            for place, removal in enumerate(removals):
                noise = dp.Laplace(scale=len(removals))
                channel.release("sum" if not place else "more", records(removal=removal).sum(), noise, sensitivity=1)
        return path

    return deploy


def test_the_ledger_records_for_which_neighbours_a_release_is_proven(deployed: Deploy) -> None:
    for removal, name in ((True, "add-remove"), (False, "replace-one")):
        with dp.open_ledger(deployed(removal), readonly=True) as ledger:
            assert [release.relation for release in ledger.releases()] == [name]


def test_a_declared_release_is_proven_for_no_neighbours(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "d.ledger") as ledger, dp.live(ledger) as channel:
        channel.release("sum", 0.5, dp.Laplace(scale=1), sensitivity=1)
        assert next(ledger.releases()).relation is None


def test_reports_record_it_too(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "r.ledger") as ledger, dp.live(ledger) as channel:
        _ = channel.reports("each", dp.seal(np.zeros(3), 0, 1), dp.Laplace(scale=1), sensitivity=1).values
        assert next(ledger.releases()).relation == "replace-one"


def test_data_sealed_for_other_neighbours_does_not_pass_the_certified_door(
    total: Subject, certified: Path, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    door = {"certificate": certified, "subject": total, "trusted_key": key.public_key()}
    with dp.open_ledger(tmp_path / "live.ledger") as ledger, dp.live_certified(ledger, **door) as channel:
        with pytest.raises(dp.DpauditError, match="sealed for replace-one neighbours, and this door is for add-remove"):
            total.run(records(removal=False), channel)
        assert ledger.spent() == (0, 0)
        total.run(records(removal=True), channel)  # the twin
        assert ledger.spent() == (1, 0)


def test_a_ledger_of_other_neighbours_is_not_certified_with_the_subject(total: Subject, deployed: Deploy) -> None:
    audited = audit_subject(total, seed=1)
    with pytest.raises(Refused) as refused:
        refuse(read_ledger(deployed(False)), audited, [])
    told = str(refused.value)
    assert "the ledger's data is sealed for replace-one neighbours, the subject's claim is about add_remove ones" in told
    assert "'sum' of the ledger is proven for less sensitivity than the audit saw" in told
    refuse(read_ledger(deployed(True)), audited, [])  # the twin


def test_two_relations_in_one_ledger_are_refused(deployed: Deploy) -> None:
    with pytest.raises(Refused, match="sealed for different neighbours: add-remove and replace-one"):
        refuse(read_ledger(deployed(True, False)), None, [])
    refuse(read_ledger(deployed(True, True)), None, [])  # the twin


def test_verify_does_not_take_a_ledger_of_other_neighbours(certified: Path, deployed: Deploy, key: Ed25519PrivateKey) -> None:
    opened = open_certificate(certified, [key.public_key()])
    with pytest.raises(NotAsCertified, match="not sealed for add-remove neighbours"):
        check(opened, ledger=deployed(False))
    check(opened, ledger=deployed(True))  # the twin


def test_data_sealed_in_a_narrower_range_than_was_audited_is_refused(subject: Subject, tmp_path: Path) -> None:
    """The audit saw a move of 2; a ledger that proves 1 for the same declaration is about other data."""
    audited = audit_subject(subject, seed=1)
    for high, refused in ((0, True), (1, False)):
        path = tmp_path / f"{high}.ledger"
        with dp.open_ledger(path, code=code_of(subject)) as ledger, dp.live(ledger, 1, proven=True) as channel:
            subject.run(dp.seal(np.zeros(100), -1, high), channel)
        if refused:
            with pytest.raises(Refused, match="proven for less sensitivity than the audit saw"):
                refuse(read_ledger(path), audited, [])
        else:
            refuse(read_ledger(path), audited, [])


def test_a_door_knows_two_relations(tmp_path: Path) -> None:
    with (
        dp.open_ledger(tmp_path / "l.ledger") as ledger,
        pytest.raises(dp.DpauditError, match="replace-one or add-remove"),
        dp.live(ledger, relation="replace_one"),
    ):
        pass
