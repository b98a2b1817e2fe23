"""Does a certificate still fit what is at hand: the ledger, the source, this dpaudit, the claims it relies on?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpaudit.certificate.envelope import Opened
from dpaudit.certificate.errors import NotAsCertified, TamperedCertificate, UnreadableCertificate
from dpaudit.certificate.facts.evidence import read_ledger
from dpaudit.certificate.facts.proven_relations import relations
from dpaudit.certificate.facts.reliance import changed_since
from dpaudit.certificate.ledger_binding import require_named
from dpaudit.certificate.source.surrounding_code import IMPORTS, LOCK, surroundings
from dpaudit.ledger import Budget, PureSums
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.opening import read_entries, shown_place
from dpaudit.ledger.records.source_digests import sources


@dataclass
class CertificateCheck:
    """What was held beside the certificate and fits, and what was not looked at, each in words."""

    opened: Opened
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        predicate, names = self.opened.predicate, ("name", "verdict", "assurance", "guarantee", "observer", "issued", "hazards")
        return {
            "schema": "dpaudit.verify-certificate/1", "file": self.opened.path, "signer": self.opened.keyid,
            "trusted": self.opened.trusted, **{name: predicate.get(name) for name in names}, "digests": self.opened.digests,
            "checked": self.checked, "not_checked": self.not_checked,
        }  # fmt: skip


def check(opened: Opened, *, ledger: str | Path | None = None, source: str | Path | None = None) -> CertificateCheck:
    """Raises TamperedCertificate for a ledger that does not continue the certified one, NotAsCertified for other code or another
    budget (exit code 1 for both), and the errors of ledgers."""
    result = CertificateCheck(opened, ["the signature, and that nothing in the certificate was changed"])
    try:
        _check_ledger(result, ledger)
        _check_source(result, source)
        _check_surroundings(result)
    except (KeyError, TypeError, AttributeError):
        raise UnreadableCertificate(opened.path, "fields are missing or of another form") from None
    result.not_checked.append("the proof and the audit, which this command does not repeat")
    return result


def _check_ledger(result: CertificateCheck, path: str | Path | None) -> None:
    certified = result.opened.predicate["ledger"]
    if path is None:
        if certified is not None:
            result.not_checked.append("the ledger: give --ledger FILE")
        return
    if certified is None:
        _belongs(result, path)
        return
    entries, where = read_entries(path), shown_place(path)
    try:
        with entries.snapshot():
            book, root = replay(entries, PureSums, certified["size"])
    finally:
        entries.close()
    if book.identity != certified["id"]:
        raise TamperedCertificate(where, "another ledger than the certified one")
    if book.tree.size < certified["size"] or root is None or root.hex() != result.opened.digests.get("ledger"):
        raise TamperedCertificate(where, "the entries that were certified are cut off or changed")
    later = book.tree.size - certified["size"]
    result.checked.append(f"the ledger: {certified['size']} entries are as certified")
    if later:
        result.not_checked.append(f"what was written to the ledger since ({later} more); certify again to cover it")


def _belongs(result: CertificateCheck, path: str | Path) -> None:
    """A certificate about code alone: was this ledger opened for that code, behind a door with the certified budget?"""
    ledger, door = read_ledger(path), result.opened.predicate["door"]
    opening, where = ledger.opening, shown_place(path)
    require_named(result.opened, ledger.identity, where)
    if ledger.kind != "deployment":
        raise NotAsCertified(where, "a simulated ledger is no deployment of what was certified")
    if door is None or opening is None or not opening.proven or opening.charges_before:
        raise NotAsCertified(
            where, "its door had no budget for proven releases from the start, so it is not bound to the certificate"
        )
    if opening.budget != Budget(door["epsilon"], door["delta"]):
        raise NotAsCertified(where, "its budget is not the certified one")
    if any(ledger.sources.get(name) != result.opened.digests.get(as_named) for name, as_named in SOURCES):
        raise NotAsCertified(where, "it was opened for other code than the certified one")
    if ledger.rewritten:
        raise NotAsCertified(where, "it was opened for other code, too, which released before")
    if ledger.releases and relations(ledger.releases) != [door["relation"]]:
        raise NotAsCertified(where, f"its data was not sealed for {door['relation']} neighbours, as certified")
    statement = "the ledger: it says that it was opened for the certified code, with the certified budget"
    result.checked.append(f"{statement}, {_releases(len(ledger.releases))}")


SOURCES = (("dpaudit", "dpaudit"), ("subject", "source"))  # their names in a ledger and in a certificate


def _check_source(result: CertificateCheck, path: str | Path | None) -> None:
    certified = result.opened.digests.get("source")
    if path is None:
        result.not_checked.append(
            "the source: give --source FILE or FOLDER" if certified else "the source, which it does not name"
        )
        return
    if certified is None or sources(path)["subject"] != certified:
        raise NotAsCertified(str(path), "not the source that was certified")
    result.checked.append("the source: as certified")
    require_surroundings(result.opened, Path(path), str(path))
    covered = [word for name, word in SURROUNDINGS.items() if name in result.opened.digests]
    if covered:
        result.checked.append(f"{' and '.join(covered)}: as certified")


SURROUNDINGS = {IMPORTS: "what the source imports of its project", LOCK: "the lock file of its packages"}


def require_surroundings(opened: Opened, code: Path | None, where: str) -> None:
    """Raises NotAsCertified where the code imports other modules of its project now, or stands beside another lock file."""
    now = surroundings(code)
    for name, word in SURROUNDINGS.items():
        if now.get(name) != opened.digests.get(name):
            raise NotAsCertified(where, f"{word} is not as it was certified; certify it again")


def _check_surroundings(result: CertificateCheck) -> None:
    """This dpaudit and the claims. That they changed since makes no certificate false; it says what a new one would rest on."""
    same = sources()["dpaudit"] == result.opened.digests.get("dpaudit")
    own = (
        "this dpaudit is the one that certified it" if same else "another version of dpaudit certified it than the one that runs"
    )
    (result.checked if same else result.not_checked).append(own)
    claims = result.opened.predicate["claims"]
    changed = changed_since(claims)
    if claims and not changed:
        result.checked.append("the claims relied upon: their code is unchanged")
    if changed:
        result.not_checked.append(f"claims whose code changed since: {', '.join(changed)}")


def _releases(count: int) -> str:
    return "1 release" if count == 1 else f"{count} releases"
