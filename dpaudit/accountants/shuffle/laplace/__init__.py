"""Shuffled Laplace reports on a lattice: their exact privacy blanket."""
