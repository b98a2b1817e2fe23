"""Ledgers in a PostgreSQL database: one budget for many hosts. ``postgresql://host/database?ledger=NAME``."""

from dpaudit.ledger.store.postgres.opening import create, open_entries

__all__ = ["create", "open_entries"]
