"""Porous noise: what the last bits of float outputs tell."""
