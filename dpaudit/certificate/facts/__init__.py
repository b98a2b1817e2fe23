"""What a certificate states, gathered: evidence, context, hazards, releases, reliance. Nothing is decided here."""
