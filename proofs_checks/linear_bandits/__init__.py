"""The claims of "Differentially Private Stochastic Linear Bandits: (Almost) for Free", each decided by a computation."""
