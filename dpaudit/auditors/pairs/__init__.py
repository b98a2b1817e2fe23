"""Which neighbouring data to try: search, names, and observed sensitivities."""
