"""An optimistic private linear bandit: one loop, three privacy steps, with proofs of privacy, validity and regret."""
