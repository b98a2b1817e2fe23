"""A certificate that is bound opens doors of one ledger only."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.certificate import NotAsCertified
from dpaudit.certificate.ledger_binding import hold_to_ledger


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
