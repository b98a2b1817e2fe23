"""Variants of the sparse vector technique, as Lyu, Su and Li compare them (VLDB 2017, arXiv:1603.01699)."""
