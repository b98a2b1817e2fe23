"""Pinned outputs, other data: what a run asks for, and whether it repeats."""
