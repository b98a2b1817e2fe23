"""A certificate opens a door with its own budget, for the certified code and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import dpaudit as dp
from dpaudit.certificate import NotAsCertified, TamperedCertificate, audit_subject, read_ledger, refuse, sign, statement
from dpaudit.certificate.envelope import open_certificate
from dpaudit.certificate.validity import check
from dpaudit.channel import Channel
from dpaudit.ledger import TamperedLedger
from dpaudit.sealed import Sealed
from dpaudit.subjects.subject import Subject, make_subject
from dpaudit.subjects.targets import code_of, make_algorithm, subjects_of

DATA = np.linspace(-1, 1, 100)


@pytest.fixture
def certified(subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> Path:
    path = tmp_path / "subject.json"
    path.write_text(sign(statement(None, audit_subject(subject, seed=1), [], []), key), encoding="utf-8")
    return path


def through(ledger: Path, certificate: Path, subject: Subject, key: Any) -> float:
    """Deploy once; what was released."""
    with dp.open_ledger(ledger) as opened, dp.live_certified(opened, certificate, subject=subject, trusted_key=key) as channel:
        return float(subject.run(dp.seal(DATA, -1, 1), channel))


def test_the_door_has_the_certified_budget(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    through(tmp_path / "live.ledger", certified, subject, key.public_key())
    with dp.open_ledger(tmp_path / "live.ledger", readonly=True) as ledger:
        assert ledger.budget is not None
        assert (ledger.budget.epsilon, ledger.budget.delta, ledger.proven) == (1, 0, True)
        assert ledger.spent() == (1, 0)
    with pytest.raises(dp.BudgetExceeded):  # the budget is spent, also for the next process
        through(tmp_path / "live.ledger", certified, subject, key.public_key())


def test_what_went_through_it_can_be_certified_and_belongs_to_the_certificate(
    certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    ledger = tmp_path / "live.ledger"
    through(ledger, certified, subject, key.public_key())
    refuse(read_ledger(ledger), audit_subject(subject, seed=2), [])
    found = check(open_certificate(certified, [key.public_key()]), ledger=ledger, source=code_of(subject))
    assert any("says that it was opened for the certified code" in one for one in found.checked)
    with dp.open_ledger(tmp_path / "other.ledger") as other, dp.live(other, 2, proven=True) as channel:
        channel.release("sum", dp.seal(DATA, -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)
    with pytest.raises(NotAsCertified, match="budget"):
        check(open_certificate(certified, [key.public_key()]), ledger=tmp_path / "other.ledger")


def test_unproven_releases_do_not_pass(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    with (
        dp.open_ledger(tmp_path / "live.ledger") as ledger,
        dp.live_certified(ledger, certified, subject=subject, trusted_key=key.public_key()) as channel,
        pytest.raises(dp.DpauditError, match="proven releases only"),
    ):
        channel.release("sum", DATA.sum(), dp.Laplace(scale=2), sensitivity=2)


def test_changed_source_is_refused(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    code = code_of(subject)
    assert code is not None
    whole = code.read_text(encoding="utf-8")
    code.write_text(whole.replace("scale=2", "scale=3"), encoding="utf-8")
    (changed,) = subjects_of(str(code))
    with pytest.raises(NotAsCertified, match="source code is not the one"):
        through(tmp_path / "live.ledger", certified, changed, key.public_key())
    with dp.open_ledger(tmp_path / "live.ledger", readonly=True) as ledger:
        assert not list(ledger.releases())
    code.write_text(whole, encoding="utf-8")  # the twin: as certified, it passes
    through(tmp_path / "live.ledger", certified, subject, key.public_key())


def test_another_configuration_is_refused(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    for changed in (
        replace(subject, neighbours=dp.replace_one(n=101, low=-1, high=1)),
        replace(subject, notes={"calibration": "other"}),
        replace(subject, name="other"),
    ):
        with pytest.raises(NotAsCertified, match="configuration"):
            through(tmp_path / "live.ledger", certified, changed, key.public_key())


def test_another_horizon_of_an_algorithm_is_another_configuration(key: Ed25519PrivateKey, tmp_path: Path) -> None:
    made = [make_algorithm("central", {"epsilon": "1", "horizon": horizon}) for horizon in (300, 301)]
    path = tmp_path / "central.json"
    path.write_text(sign(statement(None, audit_subject(made[0], seed=1, samples=200), [], []), key), encoding="utf-8")
    opened = {"certificate": path, "trusted_key": key.public_key()}
    with dp.open_ledger(tmp_path / "c.ledger") as ledger:
        with dp.live_certified(ledger, subject=made[0], **opened) as channel:
            assert made[0].evaluate is not None
            made[0].evaluate(channel, np.random.default_rng(1))
        with pytest.raises(NotAsCertified, match="configuration"), dp.live_certified(ledger, subject=made[1], **opened):
            pass


def test_a_stranger_or_a_changed_certificate_opens_nothing(
    certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    stranger = Ed25519PrivateKey.generate().public_key()
    with pytest.raises(NotAsCertified, match="did not sign"):
        through(tmp_path / "live.ledger", certified, subject, stranger)
    text = certified.read_text(encoding="utf-8")
    certified.write_text(text[:400] + ("A" if text[400] != "A" else "B") + text[401:], encoding="utf-8")
    with pytest.raises(TamperedCertificate, match="DPA007"):
        through(tmp_path / "live.ledger", certified, subject, key.public_key())


def test_a_trusted_key_may_be_a_file(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    pem = tmp_path / "auditor.pub"
    pem.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    through(tmp_path / "live.ledger", certified, subject, pem)
    with dp.open_ledger(tmp_path / "live.ledger", readonly=True) as ledger:
        assert ledger.spent() == (1, 0)
    pem.write_bytes(Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(dp.DpauditError):
        through(tmp_path / "other.ledger", certified, subject, pem)


def test_a_ledger_with_another_budget_or_a_past_is_refused(
    certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    for name, budget in (("smaller", "1/2"), ("larger", "2"), ("declared", "1"), ("past", None)):
        path = tmp_path / f"{name}.ledger"
        with dp.open_ledger(path) as ledger, dp.live(ledger, budget, proven=budget != "1") as channel:
            if budget is None:
                channel.release("sum", dp.seal(DATA, -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)
        with pytest.raises(NotAsCertified):
            through(path, certified, subject, key.public_key())


def test_a_certificate_about_a_ledger_alone_binds_no_code(
    deployment: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(sign(statement(read_ledger(deployment), None, [], []), key), encoding="utf-8")
    with pytest.raises(NotAsCertified, match="ledger alone"):
        through(tmp_path / "live.ledger", path, subject, key.public_key())


@pytest.fixture
def both(deployment: Path, subject: Subject) -> dict[str, Any]:
    """The statement of ``certify LEDGER --subject``."""
    return statement(read_ledger(deployment), audit_subject(subject, seed=1), [], [])


def signed(document: dict[str, Any], key: Ed25519PrivateKey, path: Path) -> Path:
    path.write_text(sign(document, key), encoding="utf-8")
    return path


def test_a_certificate_of_a_ledger_and_its_code_opens_that_ledger_alone(
    both: dict[str, Any], deployment: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    certificate, other = signed(both, key, tmp_path / "both.json"), tmp_path / "other.ledger"
    with pytest.raises(NotAsCertified, match="names another ledger"):
        through(other, certificate, subject, key.public_key())
    with pytest.raises(dp.BudgetExceeded):  # it opens, and its budget is spent
        through(deployment, certificate, subject, key.public_key())
    before = {**both, "predicate": {name: fact for name, fact in both["predicate"].items() if name != "bound_to"}}
    through(other, signed(before, key, tmp_path / "before.json"), subject, key.public_key())


def test_a_ledger_that_was_put_back_to_before_its_certificate_is_refused(
    subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    """The same ledger by its name, with its durable head, and nothing spent any more."""
    with dp.open_ledger(tmp_path / "new.ledger", code=code_of(subject)) as ledger:
        ledger.limit(subject.claim, proven=True)
    files = [file for file in tmp_path.iterdir() if file.name.startswith("new.ledger")]
    early = {file: file.read_bytes() for file in files}
    with dp.open_ledger(tmp_path / "new.ledger") as ledger, dp.live(ledger) as channel:
        subject.run(dp.seal(DATA, -1, 1), channel)
    document = statement(read_ledger(tmp_path / "new.ledger"), audit_subject(subject, seed=1), [], [])
    certificate = signed(document, key, tmp_path / "both.json")
    for file, data in early.items():
        file.write_bytes(data)
    with pytest.raises(TamperedLedger, match="entries, 2 are left"):
        through(tmp_path / "new.ledger", certificate, subject, key.public_key())


def test_what_no_running_sum_can_keep_binds_no_door(key: Ed25519PrivateKey, tmp_path: Path) -> None:
    """Two releases at ε = 1, fixed by a plan: together 1.9 at δ = 0.05, where sums of ε give 2 and sums of ρ more."""

    def many(rewards: Sealed, channel: Channel) -> None:
        for step in range(2):
            channel.release(f"step {step}", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)

    plan = [(f"step {step}", dp.Laplace(scale=2), 2) for step in range(2)]
    subject = make_subject(many, dp.Claim("1.9", "0.05"), dp.replace_one(n=3, low=-1, high=1), plan=plan)
    audited = audit_subject(subject, seed=1, samples=200)
    refuse(None, audited, [])
    path = tmp_path / "many.json"
    path.write_text(sign(statement(None, audited, [], []), key), encoding="utf-8")
    assert open_certificate(path).predicate["door"] is None
    with pytest.raises(NotAsCertified, match="no running sum"):
        through(tmp_path / "live.ledger", path, subject, key.public_key())


def test_a_budget_for_proven_releases_stays_one(tmp_path: Path) -> None:
    """The ledger remembers it: a later door that does not ask for proven releases takes nothing else all the same."""
    with dp.open_ledger(tmp_path / "p.ledger") as ledger, dp.live(ledger, 4, proven=True) as channel:
        channel.release("sum", dp.seal(DATA, -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)
    with dp.open_ledger(tmp_path / "p.ledger") as ledger, dp.live(ledger) as channel:
        assert ledger.proven
        with pytest.raises(dp.DpauditError, match="proven releases only"):
            channel.release("sum", 0.5, dp.Laplace(scale=2), sensitivity=2)
    with dp.open_ledger(tmp_path / "d.ledger") as ledger, dp.live(ledger, 4) as channel:  # the twin
        channel.release("sum", 0.5, dp.Laplace(scale=2), sensitivity=2)
        assert not ledger.proven


def test_a_bound_certificate_opens_no_door_of_a_second_ledger(
    certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    def opened(name: str, bind: bool) -> None:
        with (
            dp.open_ledger(tmp_path / name) as ledger,
            dp.live_certified(ledger, certified, subject=subject, trusted_key=key.public_key(), bind=bind),
        ):
            pass

    opened("first.ledger", bind=True)
    opened("first.ledger", bind=False)
    with pytest.raises(NotAsCertified, match="another ledger"):
        opened("second.ledger", bind=False)


def test_a_changed_helper_is_refused_at_the_door_and_by_verify(key: Ed25519PrivateKey, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("SCALE = 2\n", encoding="utf-8")
    code = (
        "import dpaudit as dp\nimport helper\n\n"
        '@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=100, low=-1, high=1))\n'
        "def noisy(data, channel):\n"
        '    return channel.release("sum", data.sum(), dp.Laplace(scale=helper.SCALE), sensitivity=2)\n'
    )
    (tmp_path / "service.py").write_text(code, encoding="utf-8")
    (service,) = subjects_of(f"{tmp_path / 'service.py'}:noisy")
    certificate = tmp_path / "cert.json"
    certificate.write_text(sign(statement(None, audit_subject(service, seed=1), [], []), key), encoding="utf-8")
    through(tmp_path / "first.ledger", certificate, service, key.public_key())
    opened = open_certificate(certificate, [key.public_key()])
    assert any("imports" in one for one in check(opened, source=tmp_path / "service.py").checked)
    (tmp_path / "helper.py").write_text("SCALE = 1\n", encoding="utf-8")
    with pytest.raises(NotAsCertified, match="imports of its project"):
        through(tmp_path / "second.ledger", certificate, service, key.public_key())
    with pytest.raises(NotAsCertified, match="imports of its project"):
        check(opened, source=tmp_path / "service.py")


def test_keys_are_rotated_and_revoked(certified: Path, subject: Subject, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    """While a key takes over from another, both are trusted; what a revoked one signed opens no door, trusted or not."""
    old, new = key.public_key(), Ed25519PrivateKey.generate()
    renewed = tmp_path / "renewed.json"
    renewed.write_text(sign(statement(None, audit_subject(subject, seed=1), [], []), new), encoding="utf-8")
    both = [old, new.public_key()]

    def opens(ledger: str, certificate: Path, trusted: Any, **revoked: Any) -> bool:
        with dp.open_ledger(tmp_path / ledger) as opened:
            try:
                with dp.live_certified(opened, certificate, subject=subject, trusted_key=trusted, **revoked):
                    return True
            except NotAsCertified:
                return False

    assert opens("a.ledger", certified, both)
    assert opens("b.ledger", renewed, both)
    assert not opens("c.ledger", renewed, old)
    assert not opens("d.ledger", certified, both, revoked_keys=[old])
    assert opens("e.ledger", renewed, both, revoked_keys=[old])
    public = tmp_path / "old.pub"
    public.write_bytes(old.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    assert not opens("f.ledger", certified, public, revoked_keys=[public])
    assert not opens("g.ledger", certified, [])
