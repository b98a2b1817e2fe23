"""Linear systems: least squares over all rounds, one action for each block of rounds."""
