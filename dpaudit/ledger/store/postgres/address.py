"""Addresses of ledgers in PostgreSQL: libpq's own, and ``ledger=NAME`` for one of several in a database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from dpaudit.ledger.errors import UnreadableLedger

DEFAULT = "main"

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}\Z")


@dataclass(frozen=True)
class Address:
    """``server``: what libpq is given. ``shown``: what people see, without a password; ``database``: also without the ledger."""

    server: str
    ledger: str
    shown: str
    database: str


def parse_address(place: str) -> Address:
    """Raises UnreadableLedger for a name that no ledger can have; the message shows no password."""
    try:
        parts = urlsplit(place)
    except ValueError:  # a bracket that is never closed; what stands in it may be a password
        raise UnreadableLedger("postgresql://…", "not an address of PostgreSQL: postgresql://user@host:port/database") from None
    options = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for key, value in options if key == "ledger"] or [DEFAULT]
    rest = urlencode([(key, value) for key, value in options if key != "ledger"], quote_via=quote)
    public = [(key, value) for key, value in options if key not in ("ledger", "password", "sslpassword")]
    host = parts.netloc.rpartition("@")
    user = host[0].partition(":")[0]
    named = [*public, *([("ledger", names[0])] if names != [DEFAULT] else [])]
    where = f"{user}@{host[2]}" if user else host[2]
    shown, database = (
        urlunsplit(("postgresql", where, parts.path, urlencode(told, quote_via=quote), "")) for told in (named, public)
    )
    if len(names) != 1 or not _NAME.match(names[0]):
        raise UnreadableLedger(shown, "ledger=NAME takes one name of letters, digits and _ . : -")
    return Address(urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), names[0], shown, database)
