"""Selection at the door: the index of the best of several scores, and comparisons with a noisy threshold."""
