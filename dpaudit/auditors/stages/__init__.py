"""One module per auditor: what it needs to know before it attacks, and what it adds."""
