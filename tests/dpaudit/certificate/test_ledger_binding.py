"""A certificate that is bound opens doors of one ledger only: by its signature, in a database, and beside its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from dpaudit.certificate import NotAsCertified
from dpaudit.certificate.envelope import Opened
from dpaudit.certificate.ledger_binding import hold_to_ledger, require_named
from dpaudit.ledger import Ledger, open_ledger

Ledgers = Callable[[str], Ledger]


def certificate_in(folder: Path, predicate: dict[str, Any] | None = None) -> Opened:
    folder.mkdir(exist_ok=True)
    (folder / "cert.json").write_text("{}", encoding="utf-8")
    return Opened(str(folder / "cert.json"), "key", True, predicate or {}, {})


@pytest.fixture
def certificate(tmp_path: Path) -> Opened:
    return certificate_in(tmp_path / "here")


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[Ledgers]:
    opened: dict[str, Ledger] = {}

    def named(name: str) -> Ledger:
        opened.setdefault(name, open_ledger(tmp_path / f"{name}.ledger"))
        return opened[name]

    yield named
    for ledger in opened.values():
        ledger.close()


def test_the_first_ledger_is_the_only_one(certificate: Opened, ledgers: Ledgers) -> None:
    hold_to_ledger(certificate, ledgers("first"), bind=True)
    hold_to_ledger(certificate, ledgers("first"), bind=True)
    hold_to_ledger(certificate, ledgers("first"), bind=False)
    for bind in (True, False):
        with pytest.raises(NotAsCertified, match="bound to another ledger"):
            hold_to_ledger(certificate, ledgers("second"), bind=bind)
    assert sorted(file.name for file in Path(certificate.path).parent.iterdir()) == ["cert.json", "cert.json.bound"]


def test_without_binding_any_ledger_will_do(certificate: Opened, ledgers: Ledgers) -> None:
    hold_to_ledger(certificate, ledgers("first"), bind=False)
    hold_to_ledger(certificate, ledgers("second"), bind=False)
    assert not Path(f"{certificate.path}.bound").exists()


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "dpaudit.bound/1", "ledger": "first"}'])
def test_a_binding_that_says_nothing_opens_no_door(certificate: Opened, ledgers: Ledgers, text: str) -> None:
    Path(f"{certificate.path}.bound").write_text(text, encoding="utf-8")
    with pytest.raises(NotAsCertified, match="does not say"):
        hold_to_ledger(certificate, ledgers("first"), bind=True)


def test_a_binding_of_another_certificate_is_none_of_this(certificate: Opened, ledgers: Ledgers) -> None:
    hold_to_ledger(certificate, ledgers("first"), bind=True)
    Path(certificate.path).write_text("{ }", encoding="utf-8")
    with pytest.raises(NotAsCertified, match="does not say"):
        hold_to_ledger(certificate, ledgers("first"), bind=False)


def test_the_ledger_that_it_names_is_the_only_one_wherever_it_goes(tmp_path: Path, ledgers: Ledgers) -> None:
    named = {"bound_to": {"ledger": ledgers("first").identity}}
    for folder in ("here", "elsewhere"):
        certificate = certificate_in(tmp_path / folder, named)
        hold_to_ledger(certificate, ledgers("first"), bind=False)
        for bind in (True, False):
            with pytest.raises(NotAsCertified, match="names another ledger"):
                hold_to_ledger(certificate, ledgers("second"), bind=bind)
        assert not Path(f"{certificate.path}.bound").exists()  # a ledger that is refused binds nothing


@pytest.mark.parametrize("named", ["", "first", {}, {"id": "first"}, {"ledger": None}, {"ledger": "first", "more": 1}])
def test_a_name_of_another_form_names_no_ledger(tmp_path: Path, named: Any) -> None:
    with pytest.raises(NotAsCertified, match="names another ledger"):
        require_named(certificate_in(tmp_path, {"bound_to": named}), "first", "ledger")


@pytest.mark.slow
@pytest.mark.needs(module="psycopg_pool")
def test_a_fleet_is_one_ledger_for_all_its_hosts_and_another_fleet_is_refused(tmp_path: Path, postgres: Any) -> None:
    """Each host has a copy of the certificate in a folder of its own: what holds them together is the database."""
    fleet, other = (f"{postgres.address}?ledger={name}" for name in ("bound", "unbound"))
    for place, host in enumerate((fleet, f"{fleet}&application_name=another")):
        with open_ledger(host) as ledger:
            hold_to_ledger(certificate_in(tmp_path / f"host{place}"), ledger, bind=True)
    for bind in (True, False):
        with open_ledger(other) as ledger, pytest.raises(NotAsCertified, match="bound to another ledger"):
            hold_to_ledger(certificate_in(tmp_path / "new"), ledger, bind=bind)
    assert not (tmp_path / "new" / "cert.json.bound").exists()


@pytest.mark.slow
@pytest.mark.needs(module="psycopg_pool")
def test_of_hosts_that_bind_at_once_one_is_first(tmp_path: Path, postgres: Any) -> None:
    together, passed = Barrier(8), []

    def host(place: int) -> None:
        certificate = certificate_in(tmp_path / f"host{place}")
        Path(certificate.path).write_text('{"race": 1}', encoding="utf-8")
        with open_ledger(f"{postgres.address}?ledger=race{place}") as ledger:
            together.wait(60)
            try:
                hold_to_ledger(certificate, ledger, bind=True)
                passed.append(place)
            except NotAsCertified:
                pass

    hosts = [Thread(target=host, args=(place,)) for place in range(8)]
    for one in hosts:
        one.start()
    for one in hosts:
        one.join(120)
    assert len(passed) == 1
