"""``dpaudit certify``, and ``dpaudit verify`` of a certificate."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.claims import DpauditError
from dpaudit.commands import (
    HOLDS,
    UNPROVEN,
    Answer,
    Command,
    algorithm_parameters,
    as_json,
    fail,
    progress,
    refuse_algorithm_options,
    write_file,
    write_report,
)
from dpaudit.commands.options import add_certify_options
from dpaudit.commands.subject_output import output_aside

if TYPE_CHECKING:
    from dpaudit.certificate import AuditEvidence, Opened
    from dpaudit.subjects.subject import Subject


def certify_command(options: argparse.Namespace) -> Answer:
    """Prove, attack, read the ledger; then sign what was found, or say what stands in the way and write nothing."""
    from dpaudit.certificate import Refused, read_ledger, refuse, relied_upon, sign, statement
    from dpaudit.gate.certificate_waivers import waivers_of
    from dpaudit.gate.policy import read_config
    from dpaudit.ledger import load_file
    from dpaudit.ledger.keys import read_private_key
    from dpaudit.report.content.certificate import certified_report

    place = Path(options.certificate)
    _refuse_existing(place)
    key, stored = read_private_key(options.key), None if options.evidence is None else load_file(options.evidence)
    path, target = _ledger_and_target(options)
    bound_to = _bound_to(options.ledger, path)
    project = read_config(".")
    try:
        ledger = None if path is None else read_ledger(path)
        if ledger is not None and target is None:
            refuse(ledger, None, [])
        subject = None if target is None else _subject(target, options)
        audited = None if subject is None else _audit(subject, options)
        claims = [] if subject is None else relied_upon(subject, stored)
        refuse(ledger, audited, claims)
        waivers = waivers_of(project, target, audited, path, ledger)
        document = statement(ledger, audited, claims, [waiver.to_dict() for waiver in waivers], bound_to)
        text = sign(document, key)
    except Refused as refused:
        code = fail(f"{refused}; {place} was not written", refused.exit_code)
        answer = {"schema": "dpaudit.certify/1", "certified": False, "name": refused.what, "refused": list(refused.reasons)}
        return code, as_json(answer) if options.format == "json" else ""
    write_new(text, place)
    keyid = _signer(text)
    answer = {"schema": "dpaudit.certify/1", "certified": True, "file": str(place), "signer": keyid, **document}
    return HOLDS, write_report(options, certified_report(document["predicate"], keyid, str(place), answer))


def _bound_to(named: str | None, certified: str | None) -> str | None:
    """The identity of the ledger that a certificate is signed for. Raises DpauditError where there is none, or two."""
    from dpaudit.ledger import open_ledger

    if named is None:
        return None
    if certified is not None:
        raise DpauditError("--ledger is for certificates of code; one of a ledger names that ledger itself")
    with open_ledger(named, readonly=True) as ledger:
        if ledger.kind != "deployment":
            raise DpauditError(f"{ledger.where}: a simulated ledger is no deployment")
        return ledger.identity


def _signer(text: str) -> str:
    from dpaudit.ledger import loads

    return str(loads(text.encode())["signatures"][0]["keyid"])


def _ledger_and_target(options: argparse.Namespace) -> tuple[str | None, str | None]:
    """What is to be certified: a ledger, a subject, or (with --subject) both."""
    from dpaudit.ledger.store.registry import scheme_of
    from dpaudit.subjects.targets import registered

    database = scheme_of(options.target) != "file"
    named = options.target in registered() or options.target.endswith(".py") or ":" in options.target
    if database or (not named and Path(options.target).is_file()):
        if options.subject is None:
            refuse_algorithm_options(options, ("epsilon", "delta", "observer", "samples", "seed"))
        return options.target, options.subject
    if options.subject is not None and not named and not Path(options.target).exists():
        raise DpauditError(f"{options.target}: no such file")
    if options.subject is not None:
        raise DpauditError(f"--subject names the code behind a ledger; {options.target} is no ledger")
    return None, options.target


def _subject(target: str, options: argparse.Namespace) -> Subject:
    from dpaudit.subjects.targets import make_algorithm, registered, subjects_of

    if target in registered():
        return make_algorithm(target, algorithm_parameters(options))
    refuse_algorithm_options(options)
    with output_aside():
        subjects = subjects_of(target)
    if len(subjects) > 1:
        raise DpauditError(
            f"a certificate is about one subject; name one of the {len(subjects)} in {target}, as in {target}:name"
        )
    return subjects[0]


def _audit(subject: Subject, options: argparse.Namespace) -> AuditEvidence:
    from dpaudit.certificate import Refused, audit_subject
    from dpaudit.subjects.failure import explain_failure, full_traceback

    with progress(f"auditing {subject.name}") as tell, output_aside():
        try:
            return audit_subject(
                subject, epsilon=options.epsilon, delta=options.delta, observer=options.observer, samples=options.samples,
                seed=options.seed, progress=tell,
            )  # fmt: skip
        except (Refused, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            if options.traceback:
                print(full_traceback(subject, error), file=sys.stderr)
            raise DpauditError(explain_failure(subject, error)) from error


def verify_certificate(options: argparse.Namespace) -> Answer:
    """Exit 0 when it is whole and signed by a trusted key, 3 when the key is not trusted; DPA007 (1) when it was changed."""
    from dpaudit.certificate import UnreadableCertificate, check, open_certificate, registry_entry, to_fill
    from dpaudit.ledger.keys import read_public_key
    from dpaudit.report.content.certificate import verified_report

    if options.checkpoint is not None:
        raise DpauditError("--checkpoint is for ledgers; a certificate names the head of its ledger itself")
    if options.snapshot is not None:
        raise DpauditError("--snapshot is for ledgers; a certificate is read whole")
    keys = [read_public_key(file) for file in _trusted(options)]
    opened = open_certificate(options.target, keys)
    _refuse_revoked(opened)
    checked = check(opened, ledger=options.ledger, source=options.source)
    code, answer = (HOLDS if checked.opened.trusted else UNPROVEN), checked.to_dict()
    try:
        text = write_report(options, verified_report(answer, checked.opened.predicate))
        if options.registry is not None and code == HOLDS:
            entry = registry_entry(checked.opened)
            write_file(as_json(entry), options.registry)
            empty = "" if options.format == "json" else f"\n{options.registry}: draft for the OpenDP registry; "
            text += empty and empty + f"fill in {', '.join(name.removeprefix('deployment.') for name in to_fill(entry))}"
    except (KeyError, TypeError, AttributeError, ValueError):
        raise UnreadableCertificate(options.target, "fields are missing or of another form") from None
    return code, text


def _refuse_revoked(opened: Opened) -> None:
    """Whatever a key has signed is worth nothing once it is revoked: when it was signed is what its owner says."""
    from dpaudit.certificate import NotAsCertified, keyid_of
    from dpaudit.certificate.certified_door import REVOKED
    from dpaudit.gate.policy import read_config
    from dpaudit.ledger.keys import read_public_key

    if opened.keyid in {keyid_of(read_public_key(file)) for file in read_config(".").revoked_keys}:
        raise NotAsCertified(opened.path, REVOKED)


def _trusted(options: argparse.Namespace) -> Sequence[str | Path]:
    """The key that was given, or those of ``[tool.dpaudit] trusted_keys``."""
    from dpaudit.gate.policy import read_config

    return [options.key] if options.key is not None else read_config(".").trusted_keys


def is_certificate(path: str) -> bool:
    """Is this file JSON in the form of a signed envelope, rather than a ledger?"""
    from dpaudit.ledger import MalformedJson, is_ledger, load_file

    if is_ledger(path):
        return False
    from dpaudit.certificate import is_envelope  # which loads much that a ledger does not need

    try:
        return is_envelope(load_file(path))
    except MalformedJson as error:
        raise DpauditError(f"{path} is neither a ledger nor a certificate: {error}") from None


def _refuse_existing(place: Path) -> None:
    if place.exists() or place.is_symlink():
        raise DpauditError(f"{place} exists already; a certificate is never overwritten")
    if not place.absolute().parent.is_dir():
        raise DpauditError(f"-o {place}: not a file in an existing folder")


def write_new(text: str, place: Path) -> None:
    """All of it, or nothing; never over another file. Raises DpauditError if one came to be there meanwhile."""
    handle, partial = tempfile.mkstemp(prefix=place.name, suffix=".partial", dir=place.absolute().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o644)
        try:
            os.link(partial, place)
        except FileExistsError:
            raise DpauditError(f"{place} exists already; a certificate is never overwritten") from None
        except OSError:  # a file system without links
            place.open("x").close()
            os.replace(partial, place)
    finally:
        Path(partial).unlink(missing_ok=True)


COMMANDS = (
    Command(
        "certify", "prove, attack, and sign the verdict; or say what stands in the way", certify_command, add_certify_options
    ),
)
