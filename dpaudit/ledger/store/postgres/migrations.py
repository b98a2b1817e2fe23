"""The tables of ledgers in a database, by versions: each is applied once, in order, by whoever writes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpaudit.ledger.errors import UnreadableLedger

if TYPE_CHECKING:
    from psycopg import Connection

# A version is never edited once it was released; a change is a new one.
MIGRATIONS = (
    """
    CREATE TABLE dpaudit.ledgers (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, size bigint NOT NULL, root text NOT NULL);
    CREATE TABLE dpaudit.entries (
        ledger bigint NOT NULL REFERENCES dpaudit.ledgers, place bigint NOT NULL, entry text NOT NULL, token uuid NOT NULL,
        PRIMARY KEY (ledger, place));
    """,
    """
    CREATE FUNCTION dpaudit.refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END $$;
    CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON dpaudit.entries
        FOR EACH ROW EXECUTE FUNCTION dpaudit.refuse_change();
    """,
    """
    CREATE TABLE dpaudit.refusals (
        ledger bigint NOT NULL REFERENCES dpaudit.ledgers, hour text NOT NULL, reason text NOT NULL, count bigint NOT NULL,
        PRIMARY KEY (ledger, hour, reason));
    CREATE TABLE dpaudit.certificates (
        digest text PRIMARY KEY, ledger text NOT NULL, bound timestamptz NOT NULL DEFAULT now());
    CREATE TRIGGER bound_once BEFORE UPDATE OR DELETE ON dpaudit.certificates
        FOR EACH ROW EXECUTE FUNCTION dpaudit.refuse_change();
    """,
)

_LOCK = 0x64704C31  # "dpL1": one migration at a time


def migrate(connection: Connection[Any], where: str) -> None:
    """Bring the tables to the newest version. Raises UnreadableLedger if they are from the future."""
    if version_of(connection) == len(MIGRATIONS):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE SCHEMA IF NOT EXISTS dpaudit")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS dpaudit.migrations (version int PRIMARY KEY, made timestamptz NOT NULL DEFAULT now())"
        )
        found = version_of(connection)
        refuse_future(found, where)
        for version, statements in enumerate(MIGRATIONS[found:], found + 1):
            connection.execute(statements)
            connection.execute("INSERT INTO dpaudit.migrations (version) VALUES (%s)", (version,))


def version_of(connection: Connection[Any]) -> int:
    """The version of the tables; 0 where there are none."""
    row = connection.execute("SELECT to_regclass('dpaudit.migrations') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return 0
    row = connection.execute("SELECT coalesce(max(version), 0) FROM dpaudit.migrations").fetchone()
    return 0 if row is None else int(row[0])


def refuse_future(found: int, where: str) -> None:
    if found > len(MIGRATIONS):
        raise UnreadableLedger(where, f"its tables have version {found}, this dpaudit knows {len(MIGRATIONS)}; upgrade it")
