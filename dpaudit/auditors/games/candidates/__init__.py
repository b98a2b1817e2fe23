"""Scores to choose from: estimates, learned from training runs, of how much likelier one data set is than the other."""
