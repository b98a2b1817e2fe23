"""Lemmas 1 and 2, the remark after them, and the concentration lemmas of the appendix."""
