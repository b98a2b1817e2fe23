"""Shuffled reports: what a batch costs, in closed form, by clones, or for the exact randomiser."""
