"""What the tests of the algorithms share: the O(T) reference, and p-values of "both samples follow one law"."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

Test = Callable[..., float]


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bandit_reference", Path(__file__).with_name("reference.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def same_mean() -> Test:
    """Welch's z-test, two-sided: samples here are large enough for the normal law."""

    def p_value(one: np.ndarray, other: np.ndarray) -> float:
        error = math.sqrt(np.var(one) / len(one) + np.var(other) / len(other))
        gap = abs(float(np.mean(one) - np.mean(other)))
        return float(2 * stats.norm.sf(gap / error)) if error > 0 else float(gap == 0)

    return p_value


@pytest.fixture(scope="session")
def same_frequencies() -> Test:
    """Chi-square test of homogeneity on hashable outcomes; outcomes seen fewer than 20 times in all are pooled."""

    def p_value(one: list, other: list) -> float:
        values, where = np.unique(np.array([repr(x) for x in [*one, *other]]), return_inverse=True)
        first = np.bincount(where[: len(one)], minlength=len(values))
        second = np.bincount(where[len(one) :], minlength=len(values))
        rare = (first + second) * min(len(one), len(other)) / (len(one) + len(other)) < 10
        table = np.array([[*row[~rare], row[rare].sum()] for row in (first, second)])
        table = table[:, table.sum(axis=0) > 0]
        return float(stats.chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0

    return p_value


@pytest.fixture(scope="session")
def fits() -> Test:
    """Pearson's chi-square of draws against probabilities {value: p}; cells below 10 expected draws are pooled."""

    def p_value(draws: np.ndarray, law: dict) -> float:
        values = np.array(sorted(law))
        expected = np.array([law[v] for v in values]) * len(draws)
        if not np.isin(draws, values).all():
            return 0.0
        observed = np.array([(draws == v).sum() for v in values])
        rare = expected < 10
        if rare.any():
            observed = np.append(observed[~rare], observed[rare].sum())
            expected = np.append(expected[~rare], expected[rare].sum())
        keep = expected > 1e-9
        if keep.sum() == 1:
            return 1.0  # one possible outcome, and nothing else was drawn
        return float(stats.chisquare(observed[keep], expected[keep] * (observed[keep].sum() / expected[keep].sum())).pvalue)

    return p_value
