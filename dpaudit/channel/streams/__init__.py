"""What a door hands out over time or from a part of the data: running sums, samples, counts of unknown keys."""
