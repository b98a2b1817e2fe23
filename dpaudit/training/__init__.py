"""Trainings: what canaries in one run show about the (ε,δ) that it claims."""
