"""diffprivlib: mechanisms, tools and models, with the ε and δ that their parameters are documented to give."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from case import Case, replaced

LOW, HIGH = 0.0, 1.0
AGES = [0.5, 0.2, 0.4, 0.6, 0.8, 0.3, 0.7, 0.1, 0.9, 0.5]
PEOPLE = (replaced(AGES, 0.0), replaced(AGES, 1.0))
ROWS = [[0.1 * place, 1 - 0.1 * place] for place in range(10)]
TABLES = (replaced(ROWS, [0.0, 0.0]), replaced(ROWS, [1.0, 1.0]))
LABELS = [0, 1] * 5
BY_ONE = "one record added or removed"
QUERY = "a value that moves by at most the sensitivity 1"


def mechanism(name: str, **parameters: Any) -> Callable[[Any], Any]:
    """``randomise`` of a mechanism that is made once."""

    @lru_cache(maxsize=1)
    def made() -> Any:
        from diffprivlib import mechanisms

        return getattr(mechanisms, name)(**parameters)

    return lambda value: made().randomise(value)


def tool(name: str, **parameters: Any) -> Callable[[Any], Any]:
    def call(data: Any) -> Any:
        from diffprivlib import BudgetAccountant, tools

        return getattr(tools, name)(data, accountant=BudgetAccountant(), **parameters)

    return call


def hist(name: str, **parameters: Any) -> Callable[[Any], Any]:
    return lambda data: tool(name, **parameters)(data)[0]


def cells(data: Any) -> Any:
    import numpy as np

    return hist("histogramdd", epsilon=1.0, bins=2, range=[(0, 1), (0, 1)])(np.array(data, float))


def model(name: str, fitted: Callable[[Any], Any], labels: bool, **parameters: Any) -> Callable[[Any], Any]:
    def call(data: Any) -> Any:
        import numpy as np
        from diffprivlib import BudgetAccountant, models

        made = getattr(models, name)(accountant=BudgetAccountant(), **parameters)
        rows = np.array(data, float)
        return fitted(made.fit(rows, np.array(LABELS)) if labels else made.fit(rows))

    return call


def corners(fit: Any) -> Any:
    """What a classifier says of two points."""
    return fit.predict([[0.1, 0.9], [0.9, 0.1]])


def scalar(name: str, pair: tuple[Any, Any] = (0.0, 1.0), delta: str = "0", **parameters: Any) -> Case:
    budget = {"epsilon": 1.0, **({"delta": float(delta)} if delta != "0" else {})}
    return Case(f"mechanisms.{name}", mechanism(name, **budget, **parameters), pair, delta=delta, neighbours=QUERY)


UTILITIES = [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 2.0)]
BOUNDED: dict[str, Any] = {"epsilon": 1.0, "bounds": (LOW, HIGH)}
BOX: dict[str, Any] = {"epsilon": 1.0, "bounds": ([0.0, 0.0], [1.0, 1.0])}
LETTER = {"a": 0, "b": 1, "c": 2}

CASES = [
    scalar("Laplace", sensitivity=1),
    scalar("LaplaceTruncated", sensitivity=1, lower=0, upper=1),
    scalar("LaplaceFolded", sensitivity=1, lower=0, upper=1),
    scalar("LaplaceBoundedDomain", sensitivity=1, lower=0, upper=1),
    scalar("LaplaceBoundedNoise", delta="0.1", sensitivity=1),
    scalar("Gaussian", delta="0.01", sensitivity=1),
    scalar("GaussianAnalytic", delta="0.01", sensitivity=1),
    scalar("GaussianDiscrete", (0, 1), "0.01", sensitivity=1),
    scalar("Geometric", (0, 1), sensitivity=1),
    scalar("GeometricTruncated", (0, 1), sensitivity=1, lower=0, upper=3),
    scalar("GeometricFolded", (0, 1), sensitivity=1, lower=0, upper=3),
    scalar("Staircase", sensitivity=1),
    scalar("Snapping", sensitivity=1, lower=-10, upper=10),
    Case("mechanisms.Uniform", mechanism("Uniform", delta=0.1, sensitivity=1), (0.0, 1.0), "1e-9", "0.1", QUERY),
    Case(
        "mechanisms.Binary", lambda value: mechanism("Binary", epsilon=1.0, value0="a", value1="b")(value) == "b", ("a", "b"),
        neighbours="one value, in the local model",
    ),
    Case(
        "mechanisms.ExponentialCategorical",
        lambda value: LETTER[mechanism("ExponentialCategorical", epsilon=1.0, utility_list=UTILITIES)(value)], ("a", "c"),
        neighbours="one value, in the local model",
    ),
    Case(
        "mechanisms.ExponentialHierarchical",
        lambda value: LETTER[mechanism("ExponentialHierarchical", epsilon=1.0, hierarchy=[["a"], ["b", "c"]])(value)], ("a", "c"),
        neighbours="one value, in the local model",
    ),
    *(
        Case(
            f"mechanisms.{name}",
            lambda utility, name=name: mechanism(name, epsilon=1.0, sensitivity=1.0, utility=utility)(None),
            ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]), neighbours="every utility moves by at most the sensitivity 1",
        )
        for name in ("Exponential", "PermuteAndFlip")
    ),
    *(
        Case(f"tools.{name}", tool(name, **BOUNDED), PEOPLE)
        for name in ("mean", "var", "std", "sum", "nanmean", "nanvar", "nanstd", "nansum", "median")
    ),
    Case("tools.count_nonzero", tool("count_nonzero", epsilon=1.0), PEOPLE),
    Case("tools.quantile", tool("quantile", quant=0.25, **BOUNDED), PEOPLE),
    Case("tools.percentile", tool("percentile", percent=75, **BOUNDED), PEOPLE),
    # counts have the sensitivity 1 where a record is added or removed: the reading of the claim that asks least of them
    Case("tools.histogram", hist("histogram", epsilon=1.0, bins=3, range=(0, 1)), (AGES, AGES[1:]), neighbours=BY_ONE),
    Case("tools.histogramdd", cells, (ROWS, ROWS[1:]), neighbours=BY_ONE),
    Case("models.GaussianNB", model("GaussianNB", lambda fit: [fit.theta_, fit.var_], True, **BOX), TABLES),
    Case("models.StandardScaler", model("StandardScaler", lambda fit: [fit.mean_, fit.var_], False, **BOX), TABLES),
    Case("models.KMeans", model("KMeans", lambda fit: fit.cluster_centers_, False, n_clusters=2, **BOX), TABLES),
    Case("models.PCA", model("PCA", lambda fit: fit.components_, False, n_components=1, data_norm=1.5, **BOX), TABLES),
    Case(
        "models.LogisticRegression",
        model("LogisticRegression", lambda fit: fit.coef_, True, epsilon=1.0, data_norm=1.5), TABLES,
    ),
    Case(
        "models.LinearRegression",
        model("LinearRegression", lambda fit: fit.coef_, True, epsilon=1.0, bounds_X=([0, 0], [1, 1]), bounds_y=(0, 1)), TABLES,
    ),
    Case(
        "models.DecisionTreeClassifier",
        model("DecisionTreeClassifier", corners, True, max_depth=2, classes=[0, 1], **BOX),
        TABLES,
    ),
    Case(
        "models.RandomForestClassifier",
        model(
            "RandomForestClassifier", corners, True, n_estimators=2, max_depth=2, classes=[0, 1], **BOX,
        ),
        TABLES,
    ),
]  # fmt: skip
