"""Commands about ledgers as files."""
