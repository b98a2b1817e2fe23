"""A certificate binds a deployment: the door that it opens has the certified budget, and opens for the certified code only.

Whoever holds the open door can release through it what it likes, within the budget, proven and for the certified neighbours; that
the subject alone does so is up to the deployment.

with dp.live_certified(ledger, "cert.json", subject=noisy_sum, trusted_key="auditor.pub") as channel:
    noisy_sum.run(sealed, channel)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from dpaudit.certificate.envelope import Opened, keyid_of, open_certificate
from dpaudit.certificate.errors import NotAsCertified
from dpaudit.certificate.facts.configuration import configuration_of, digest_of
from dpaudit.certificate.ledger_binding import hold_to_ledger
from dpaudit.certificate.source.running_code import not_its_code
from dpaudit.certificate.validity import require_surroundings
from dpaudit.channel import Channel
from dpaudit.claims import Claim, InvalidValue
from dpaudit.deployment import live
from dpaudit.ledger import Ledger
from dpaudit.ledger.keys import read_public_key
from dpaudit.ledger.records.source_digests import sources
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of

Key = str | Path | Ed25519PublicKey
REVOKED = "the key that signed it is revoked; certify it again with a new one"


@contextmanager
def live_certified(
    ledger: Ledger, certificate: str | Path, *, subject: Subject, trusted_key: Key | Sequence[Key],
    revoked_keys: Sequence[Key] = (), bind: bool = False,
) -> Iterator[Channel]:  # fmt: skip
    """A live door for ``subject``, with the budget of its certificate, for proven releases only.

    Raises NotAsCertified unless a trusted key signed the certificate and source, the function in it, configuration, dpaudit
    itself and the ledger's budget are the certified ones; TamperedCertificate (DPA007) for one that was changed. Nothing is
    released then. Data that is sealed for other neighbours than the certified ones does not pass. ``trusted_key``: one key or,
    while one takes over from another, several. ``revoked_keys``: what they signed is refused, whenever they signed it, trusted or
    not. ``bind``: from now on the certificate opens no door of another ledger; one that names its ledger (``certify --ledger``,
    ``certify LEDGER --subject``) never does.
    """
    if not isinstance(subject, Subject):
        raise InvalidValue("subject", type(subject).__name__, "a function declared with @dp.subject")
    single = isinstance(trusted_key, str | Path | Ed25519PublicKey)
    opened = open_certificate(certificate, _read([trusted_key] if single else trusted_key))  # type: ignore[list-item, arg-type]
    if opened.keyid in {keyid_of(key) for key in _read(revoked_keys)}:
        raise NotAsCertified(opened.path, REVOKED)
    _require(opened, subject)
    door = opened.predicate["door"]
    claim = Claim(door["epsilon"], door["delta"], str(opened.predicate["observer"]))
    if ledger.budget is None and (next(iter(ledger.releases()), None) is not None or ledger.unused_charges()):
        raise NotAsCertified(ledger.where, "it holds charges from before any budget; a certified deployment needs a new ledger")
    if ledger.budget is not None and not (ledger.proven and _same(ledger, claim)):
        raise NotAsCertified(ledger.where, f"its budget is not {claim} for proven releases, as certified")
    hold_to_ledger(opened, ledger, bind=bind)
    ledger.note_code(code_of(subject))
    with live(ledger, claim, filter=door["filter"], proven=True, relation=door["relation"]) as channel:
        yield channel


def _read(keys: Sequence[Key]) -> list[Ed25519PublicKey]:
    return [key if isinstance(key, Ed25519PublicKey) else read_public_key(key) for key in keys]


def _require(opened: Opened, subject: Subject) -> None:
    where = opened.path
    if not opened.trusted:
        raise NotAsCertified(where, "the trusted key did not sign it")
    if opened.predicate.get("audit") is None:
        raise NotAsCertified(where, "it is about a ledger alone; certify the ledger together with its subject (--subject)")
    if opened.predicate["door"] is None:
        raise NotAsCertified(where, "no running sum keeps the certified budget while the subject runs, so no door is bound to it")
    code = code_of(subject)
    now = sources(code)
    for name, as_named in (("dpaudit", "dpaudit"), ("subject", "source")):
        if now.get(name) is None or now[name] != opened.digests.get(as_named):
            raise NotAsCertified(where, f"the {as_named} code is not the one that was certified; certify it again")
    require_surroundings(opened, code, where)
    other = not_its_code(subject)
    if other is not None:
        raise NotAsCertified(where, other)
    claim = opened.predicate["configuration"]["claim"]
    mine = configuration_of(subject, Claim(claim["epsilon"], claim["delta"], claim["observer"], claim.get("arithmetic", "float")))
    if digest_of(mine) != opened.digests.get("configuration"):
        raise NotAsCertified(where, "the subject's configuration is not the one that was certified")


def _same(ledger: Ledger, claim: Claim) -> bool:
    return ledger.budget is not None and (ledger.budget.epsilon, ledger.budget.delta) == (claim.epsilon, claim.delta)
