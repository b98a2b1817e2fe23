"""Boosted trees on binned features: Newton steps of logistic loss (Friedman 2001; Chen and Guestrin 2016), in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

ROUNDS = 60
DEPTH = 3
RATE = 0.15
RIDGE = 2.0
FEWEST = 15  # runs in a leaf
NO_GAIN = 1e-9
BINS = 48  # of a feature, beside one for missing values
SHARE = 0.6  # of the features that a tree may look at
MOST = 30_000  # training runs of a score that is used, and …
JUDGED = 15_000  # … of one that is tried


@dataclass(frozen=True)
class Binning:
    """A table as bins: 0 for missing, then 1, 2, … by quantiles of training."""

    edges: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, table: np.ndarray) -> Binning:
        steps = np.linspace(0, 1, BINS + 1)[1:-1]
        tails = np.array([0.001, 0.004, 0.01, 0.99, 0.996, 0.999])
        wanted = np.unique(np.concatenate([steps, tails]))
        edges = []
        for column in table.T:
            values = column[~np.isnan(column)]
            distinct = np.unique(values)
            few = len(distinct) <= BINS
            edges.append((distinct[1:] + distinct[:-1]) / 2 if few else np.unique(np.quantile(values, wanted)))
        return cls(tuple(edges))

    @property
    def width(self) -> int:
        return max((len(edges) for edges in self.edges), default=0) + 2

    def __call__(self, table: np.ndarray) -> np.ndarray:
        """(features, runs)"""
        codes = np.empty((len(self.edges), len(table)), dtype=np.int16)
        for place, edges in enumerate(self.edges):
            column = table[:, place]
            codes[place] = np.where(np.isnan(column), 0, np.searchsorted(edges, column, side="right") + 1)
        return codes


@dataclass(frozen=True)
class Tree:
    """Node k has the children 2k+1 (bin at most ``limit``) and 2k+2; after DEPTH steps a leaf."""

    feature: np.ndarray
    limit: np.ndarray
    leaf: np.ndarray

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        node, every = np.zeros(codes.shape[1], dtype=np.int64), np.arange(codes.shape[1])
        for _ in range(DEPTH):
            node = 2 * node + 1 + (codes[self.feature[node], every] > self.limit[node])
        return self.leaf[node - (2**DEPTH - 1)]


@dataclass(frozen=True)
class Trees:
    """The sum of their leaves: log-odds."""

    binning: Binning
    trees: tuple[Tree, ...]

    def __call__(self, table: np.ndarray) -> np.ndarray:
        codes, odds = self.binning(table), np.zeros(len(table))
        for tree in self.trees:
            odds += tree(codes)
        return odds


def fit_trees(table: np.ndarray, coins: np.ndarray, most: int = MOST) -> Trees:
    """The same table and coins always give the same trees. ``most``: training runs that are looked at."""
    table, target = table[:most], coins[:most] * 1.0
    binning, rng = Binning.of(table), np.random.default_rng(0)
    codes, odds, trees = binning(table), np.zeros(len(table)), []
    looked = max(1, round(SHARE * len(codes)))
    for _ in range(ROUNDS if len(codes) else 0):
        p = expit(odds)
        features = np.sort(rng.permutation(len(codes))[:looked])
        tree = _grow(codes, features, target - p, p * (1 - p), binning.width)
        odds += tree(codes)
        trees.append(tree)
    return Trees(binning, tuple(trees))


def try_trees(table: np.ndarray, coins: np.ndarray) -> Trees:
    return fit_trees(table, coins, JUDGED)


def _grow(codes: np.ndarray, features: np.ndarray, gradient: np.ndarray, weight: np.ndarray, width: int) -> Tree:
    """Sums in bins are counted for the smaller child of each split; the other has what its parent has besides."""
    inner = 2**DEPTH - 1
    feature, limit = np.zeros(inner, dtype=np.int64), np.full(inner, width)  # a limit of ``width`` sends every run to the left
    node, every = np.zeros(codes.shape[1], dtype=np.int64), np.arange(codes.shape[1])
    sums = _sums(codes[features], np.zeros(len(every), dtype=np.int64), gradient, weight, 1, width)
    for depth in range(DEPTH):
        first, nodes = 2**depth - 1, 2**depth
        if depth:
            sums = _of_children(sums, codes, features, node - first, gradient, weight)
        gain, place = _best_splits(sums)
        best, mine = gain.argmax(axis=0), np.arange(nodes)
        split = gain[best, mine] > NO_GAIN
        feature[first:][:nodes][split] = features[best[split]]
        limit[first:][:nodes][split] = place[best, mine][split]
        node = 2 * node + 1 + (codes[feature[node], every] > limit[node])
    leaves = [np.bincount(node - inner, side, minlength=inner + 1) for side in (gradient, weight)]
    return Tree(feature, limit, RATE * leaves[0] / (leaves[1] + RIDGE))


def _sums(codes: np.ndarray, node: np.ndarray, gradient: np.ndarray, weight: np.ndarray, nodes: int, width: int) -> np.ndarray:
    """(gradient weight count, features, nodes, bins)"""
    sums = np.empty((3, len(codes), nodes, width))
    start = node * width
    for place, column in enumerate(codes):
        keys = start + column
        for kind, side in enumerate((gradient, weight, None)):
            sums[kind, place] = np.bincount(keys, side, minlength=nodes * width).reshape(nodes, width)
    return sums


def _of_children(
    parents: np.ndarray, codes: np.ndarray, features: np.ndarray, node: np.ndarray, gradient: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Of the nodes one level down, where ``node`` says which each run is in."""
    _, _, nodes, width = parents.shape
    sizes = np.bincount(node, minlength=2 * nodes).reshape(nodes, 2)
    smaller = sizes.argmin(axis=1)
    runs = np.flatnonzero(node % 2 == smaller[node // 2])
    counted = _sums(codes[np.ix_(features, runs)], node[runs] // 2, gradient[runs], weight[runs], nodes, width)
    children = np.empty((*parents.shape[:2], nodes, 2, width))
    children[:, :, np.arange(nodes), smaller] = counted
    children[:, :, np.arange(nodes), 1 - smaller] = parents - counted
    return children.reshape(*parents.shape[:2], 2 * nodes, width)


def _best_splits(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(features, nodes): the gain of the best split, and the last bin of its left part."""
    g, h, c = np.cumsum(sums, axis=3)
    left, right = g**2 / (h + RIDGE), (g[..., -1:] - g) ** 2 / (h[..., -1:] - h + RIDGE)
    gain = left + right - g[..., -1:] ** 2 / (h[..., -1:] + RIDGE)
    gain[(c < FEWEST) | (c[..., -1:] - c < FEWEST)] = -np.inf
    place = gain.argmax(axis=2)
    return np.take_along_axis(gain, place[..., None], axis=2)[..., 0], place
