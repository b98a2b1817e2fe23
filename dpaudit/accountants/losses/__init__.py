"""Privacy losses and how they add up: numerical composition, Rényi, and the optimal composition of known guarantees."""
