"""Events with exact probabilities, and transcripts whose loss is exact."""
