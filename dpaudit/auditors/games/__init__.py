"""Guessing games: scores learned from runs, and bounds from counts of right and wrong guesses."""
