"""Noise from fair coins: how many of them show heads."""
