"""Bets against a claim: an e-process that may be looked at after every run."""
