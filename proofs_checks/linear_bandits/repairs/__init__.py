"""Our corrections, each a claim of its own: privacy and regret."""
