"""What Opacus and dp-accounting say about the same releases."""
