"""A process of its own for each budget: what runs there, how it is started, and what notices that it was tampered with."""
