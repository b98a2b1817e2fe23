"""Ledgers in SQLite files, each with its durable head beside it."""

from dpaudit.ledger.store.sqlite.creation import create
from dpaudit.ledger.store.sqlite.entries import MAGIC, SqliteEntries, is_open_here

__all__ = ["MAGIC", "SqliteEntries", "create", "is_open_here"]
