"""The claims of "Differentially Private Stochastic Linear Bandits: (Almost) for Free", each decided by a computation.

One file per theorem, lemma, algorithm or figure. A check is a function from ``quick`` (fewer points, seconds instead of
minutes) to a Decision; what it tests is an argument of it, so that a planted variant shows that it can come out the other way.
"""
