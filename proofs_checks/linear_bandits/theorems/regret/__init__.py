"""The regret of Theorems 1 to 3, step by step."""
