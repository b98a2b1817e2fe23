"""What the entries of a ledger add up to, and the tables and snapshots that are made of it."""
