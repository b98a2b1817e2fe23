"""The optimistic private bandit: its theorems and lemmas as checks."""
