"""Releases as accountants read them: one by one, and a ledger of them as a table."""
