"""Claims of papers, each decided by a computation: one folder per paper, and ``shared`` for what checks have in common.

A check is a function from ``quick`` (fewer points, seconds instead of minutes) to a Decision; what it tests is an argument of it,
so that a planted variant shows that it can come out the other way.
"""
