"""Where a ledger is kept: in memory or in SQLite, as a Merkle tree of entries."""
