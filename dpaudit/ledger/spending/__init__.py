"""Budgets and the filters that keep them."""
