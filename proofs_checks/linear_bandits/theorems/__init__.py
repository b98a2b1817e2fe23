"""Theorems 1 to 3 and Table 1: privacy, and what is said of it."""
