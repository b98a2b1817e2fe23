"""How much noise is enough: the least that keeps (ε, δ)."""
