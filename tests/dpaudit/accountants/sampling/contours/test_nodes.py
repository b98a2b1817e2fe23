"""Nodes of a contour: errors of products and powers."""

from __future__ import annotations

import numpy as np

from dpaudit.accountants.sampling.contours.nodes import Nodes


def test_products_and_powers_keep_their_errors() -> None:
    """Values moved by their whole error stay inside, and an error half as large would not contain them."""
    base, off = np.array([0.8 + 0.3j, 0.1 - 0.9j]), np.array([1e-6, 1e-7])
    nodes = Nodes(base, off)
    moved = base + off * base / np.abs(base)
    for count in (2, 7, 1000):
        found = nodes.power(count)
        error = np.abs(moved**count - found.values)
        assert (error <= found.errors).all()
        assert (error > found.errors / 4).all()
    product = nodes * nodes
    assert (np.abs(moved * moved - product.values) <= product.errors).all()
