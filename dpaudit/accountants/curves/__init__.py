"""What an account says beside ε at one δ: δ at one ε, Rényi divergences, hit rates of a test, groups of records, μ."""
