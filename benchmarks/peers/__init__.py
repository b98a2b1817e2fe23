"""Peers in environments of their own: the same work side by side, and their own expected values."""
