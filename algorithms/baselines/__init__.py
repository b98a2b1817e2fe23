"""The systems that the paper's Table 1 and its text compare with, each behind the door with its own claim."""
