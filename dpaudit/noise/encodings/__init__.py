"""Local randomisers that send one bit per category instead of one category."""
