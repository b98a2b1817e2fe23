"""Mechanisms that look at several scores at once and release one index, or that compare numbers with a noisy threshold."""
