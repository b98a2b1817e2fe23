"""What ε-bounded-range releases, such as exponential mechanisms, cost together."""
