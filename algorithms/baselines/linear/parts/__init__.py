"""What several linear systems are made of: least squares on noisy sums, batches, and clients' reports."""
