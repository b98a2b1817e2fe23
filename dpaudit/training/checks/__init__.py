"""Checks of a training while it runs, on the user's own model: each gives a p-value or an exact gap."""
