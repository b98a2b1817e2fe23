"""Multi-armed systems: actions are arms, and nothing is made of their vectors."""
