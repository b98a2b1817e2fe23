"""Exact samplers, and where their random words come from."""
