"""Action sets of a linear bandit, and core sets of them."""
