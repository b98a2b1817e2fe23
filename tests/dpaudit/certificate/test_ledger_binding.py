"""A certificate that is bound opens doors of one ledger only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpaudit.certificate import NotAsCertified
from dpaudit.certificate.ledger_binding import hold_to_ledger
from dpaudit.ledger import open_ledger


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    (tmp_path / "cert.json").write_text("{}", encoding="utf-8")
    return tmp_path / "cert.json"


def test_the_first_ledger_is_the_only_one(certificate: Path) -> None:
    hold_to_ledger(certificate, "first", bind=True)
    hold_to_ledger(certificate, "first", bind=True)
    hold_to_ledger(certificate, "first", bind=False)
    for bind in (True, False):
        with pytest.raises(NotAsCertified, match="bound to another ledger"):
            hold_to_ledger(certificate, "second", bind=bind)
    assert sorted(file.name for file in certificate.parent.iterdir()) == ["cert.json", "cert.json.bound"]


def test_without_binding_any_ledger_will_do(certificate: Path) -> None:
    hold_to_ledger(certificate, "first", bind=False)
    hold_to_ledger(certificate, "second", bind=False)
    assert not certificate.with_name("cert.json.bound").exists()


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "dpaudit.bound/1", "ledger": "first"}'])
def test_a_binding_that_says_nothing_opens_no_door(certificate: Path, text: str) -> None:
    certificate.with_name("cert.json.bound").write_text(text, encoding="utf-8")
    with pytest.raises(NotAsCertified, match="does not say"):
        hold_to_ledger(certificate, "first", bind=True)


def test_a_binding_of_another_certificate_is_none_of_this(certificate: Path) -> None:
    hold_to_ledger(certificate, "first", bind=True)
    certificate.write_text("{ }", encoding="utf-8")
    with pytest.raises(NotAsCertified, match="does not say"):
        hold_to_ledger(certificate, "first", bind=False)


@pytest.mark.slow
@pytest.mark.needs(module="psycopg_pool")
def test_a_fleet_is_one_ledger_for_all_its_hosts_and_another_fleet_is_refused(certificate: Path, postgres: Any) -> None:
    """Whoever opens the same address, over any connection, has the same ledger."""
    fleet, other = (f"{postgres.address}?ledger={name}" for name in ("bound", "unbound"))
    for host in (fleet, f"{fleet}&application_name=another"):
        with open_ledger(host) as ledger:
            hold_to_ledger(certificate, ledger.identity, bind=True)
    with open_ledger(other) as ledger, pytest.raises(NotAsCertified, match="bound to another ledger"):
        hold_to_ledger(certificate, ledger.identity, bind=True)
