"""Commands of a release process: check budgets, sign certificates."""
