"""Commands about what releases cost."""
