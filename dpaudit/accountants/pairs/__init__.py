"""One pair of output laws of one release: δ(ε), Rényi divergences and hit rates, enclosed. ``losses`` composes."""
