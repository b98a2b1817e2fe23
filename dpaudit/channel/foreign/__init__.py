"""Mechanisms of other libraries at the door."""
