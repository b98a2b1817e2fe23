"""Tumult Core: measurements with the budget that their ``privacy_function`` states for inputs at distance 1.

A guarantee in zCDP is read as (ε, δ) by the library's own conversion, ε = ρ + 2√(ρ ln 1/δ), rounded up. A Spark measurement
groups many copies of the same records, each copy a group of its own: every group is one run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from case import Case

GROUPS = 500
VALUES = [5, 2, 4, 6, 8, 3, 7, 1, 9, 10]
REMOVED = (VALUES, VALUES[:-1])
BY_ONE = "one record added or removed"
ONE_APART = "queries at distance 1"
RHO = "1/32"  # of a Gaussian of variance 16
ZCDP = ("0.7901", "0.01")  # what ρ = 1/32 says at δ = 0.01, rounded up
BOUNDS: dict[str, Any] = {"measure_column": "x", "lower": 0, "upper": 10}


@cache
def session() -> Any:
    """Spark on one core, with its tables in a folder of the system's temporary ones."""
    import os
    import sys
    import tempfile

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="spark-")
    settings = {
        "spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1", "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": folder, "spark.local.dir": folder,
    }  # fmt: skip
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def noise(name: str, **parameters: Any) -> Any:
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements import noise_mechanisms

    domain = {"input_domain": NumpyFloatDomain()} if name in ("AddLaplaceNoise", "AddGaussianNoise") else {}
    return getattr(noise_mechanisms, name)(**domain, **parameters)


def made(build: Callable[[], Any], prepare: Callable[[Any], Any] = lambda value: value) -> Callable[[Any], Any]:
    """A measurement that is made once."""
    measurement = cache(build)
    return lambda value: measurement()(prepare(value))


def column(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values)


def series(name: str, **parameters: Any) -> Any:
    from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries

    return AddNoiseToSeries(noise(name, **parameters))


def quantile(fraction: float) -> Any:
    from tmlt.core.domains.numpy_domains import NumpyIntegerDomain
    from tmlt.core.domains.pandas_domains import PandasSeriesDomain
    from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
    from tmlt.core.measures import PureDP

    return NoisyQuantile(PandasSeriesDomain(NumpyIntegerDomain()), PureDP(), fraction, 0, 10, 1)


def two_releases() -> Any:
    from tmlt.core.measurements.composition import Composition

    return Composition([noise("AddGeometricNoise", alpha=2), noise("AddGeometricNoise", alpha=2)])


def converted(name: str, inner: str, **parameters: Any) -> Any:
    from tmlt.core.measurements import converters

    return getattr(converters, name)(noise(inner, **parameters))


def processed() -> Any:
    from tmlt.core.measurements.postprocess import PostProcess

    return PostProcess(noise("AddGeometricNoise", alpha=1), lambda value: max(value, 0))


@cache
def table(records: tuple[int, ...]) -> Any:
    """Copies of the records, by group; the columns are there without records too."""
    from pyspark.sql.types import LongType, StructField, StructType

    schema = StructType([StructField("g", LongType(), False), StructField("x", LongType(), False)])
    return session().createDataFrame([(group, value) for group in range(GROUPS) for value in records], schema).cache()


@cache
def groups(squared: bool) -> tuple[Any, Any, Any]:
    from tmlt.core.domains.spark_domains import SparkDataFrameDomain, SparkIntegerColumnDescriptor
    from tmlt.core.metrics import SymmetricDifference
    from tmlt.core.transformations.spark_transformations.groupby import GroupBy

    domain = SparkDataFrameDomain({"g": SparkIntegerColumnDescriptor(), "x": SparkIntegerColumnDescriptor()})
    keys = session().createDataFrame([(group,) for group in range(GROUPS)], "g long")
    return domain, SymmetricDifference(), GroupBy(domain, SymmetricDifference(), use_l2=squared, group_keys=keys)


def answers(measured: Any) -> list[list[float]]:
    """One run for each group: whether it is answered, and its numbers."""
    names = sorted(name for name in measured.columns if name != "g")
    found = {row["g"]: [1.0, *(float(row[name]) for name in names)] for row in measured.collect()}
    return [found.get(group, [0.0] * (1 + len(names))) for group in range(GROUPS)]


def aggregation(name: str, mechanism: str = "", squared: bool = False, **parameters: Any) -> Callable[[Any], Any]:
    """``name``: of a function of ``measurements.aggregations``, at a budget of ε = 1, or of ρ = 1/32 where noise is Gaussian."""

    @cache
    def measurement() -> Any:
        import sympy
        from tmlt.core.measurements import aggregations
        from tmlt.core.measures import PureDP, RhoZCDP

        domain, metric, by = groups(squared)
        chosen = {"noise_mechanism": aggregations.NoiseMechanism[mechanism]} if mechanism else {}
        budget = (RhoZCDP(), sympy.Rational(RHO)) if squared else (PureDP(), 1)
        return getattr(aggregations, name)(domain, metric, *budget, groupby_transformation=by, **chosen, **parameters)

    return lambda records: answers(measurement()(table(tuple(records))))


def partitions(records: Any) -> Any:
    from tmlt.core.measurements.aggregations import create_partition_selection_measurement

    return answers(create_partition_selection_measurement(groups(False)[0], 1, "1/100")(table(tuple(records))))


def grouped(name: str, mechanism: str = "", squared: bool = False, **parameters: Any) -> Case:
    budget = ZCDP if squared else ("1", "0")
    title = f"{name}, {mechanism.lower()}" if mechanism else name
    return Case(title, aggregation(name, mechanism, squared, **parameters), REMOVED, *budget, BY_ONE, GROUPS)


CASES = [
    Case("AddLaplaceNoise", made(lambda: noise("AddLaplaceNoise", scale=1)), (0.0, 1.0), neighbours=ONE_APART),
    Case("AddGeometricNoise", made(lambda: noise("AddGeometricNoise", alpha=1)), (0, 1), neighbours=ONE_APART),
    Case(
        "AddDiscreteGaussianNoise", made(lambda: noise("AddDiscreteGaussianNoise", sigma_squared=16)), (0, 1), *ZCDP, ONE_APART,
    ),
    Case("AddGaussianNoise", made(lambda: noise("AddGaussianNoise", sigma_squared=16)), (0.0, 1.0), *ZCDP, ONE_APART),
    Case(
        "AddNoiseToSeries, geometric", made(lambda: series("AddGeometricNoise", alpha=1), column), ([0, 5], [1, 5]),
        neighbours=ONE_APART,
    ),
    Case(
        "AddNoiseToSeries, Laplace", made(lambda: series("AddLaplaceNoise", scale=1), column), ([0.0, 0.5], [0.5, 1.0]),
        neighbours=ONE_APART,
    ),
    *(
        Case(f"NoisyQuantile, {share}", made(lambda share=share: quantile(share), column), REMOVED, neighbours=BY_ONE)
        for share in (0.25, 0.5, 0.9)
    ),
    Case("Composition", made(two_releases), (0, 1), neighbours=ONE_APART),
    Case("PostProcess", made(processed), (0, 1), neighbours=ONE_APART),
    Case(
        "PureDPToApproxDP", made(lambda: converted("PureDPToApproxDP", "AddLaplaceNoise", scale=1)), (0.0, 1.0),
        neighbours=ONE_APART,
    ),
    Case(
        "RhoZCDPToApproxDP", made(lambda: converted("RhoZCDPToApproxDP", "AddGaussianNoise", sigma_squared=16)), (0.0, 1.0),
        *ZCDP, ONE_APART,
    ),
    grouped("create_count_measurement", "GEOMETRIC"),
    grouped("create_count_measurement", "DISCRETE_GAUSSIAN", squared=True),
    grouped("create_count_distinct_measurement", "GEOMETRIC"),
    grouped("create_sum_measurement", "GEOMETRIC", **BOUNDS),
    grouped("create_sum_measurement", "DISCRETE_GAUSSIAN", squared=True, **BOUNDS),
    grouped("create_average_measurement", "LAPLACE", **BOUNDS),
    grouped("create_variance_measurement", "LAPLACE", **BOUNDS),
    grouped("create_standard_deviation_measurement", "LAPLACE", **BOUNDS),
    grouped("create_quantile_measurement", quantile=0.5, **BOUNDS),
    grouped("create_bounds_measurement", measure_column="x", threshold=0.9),
    Case("create_partition_selection_measurement", partitions, ([7], []), "1", "0.01", BY_ONE, GROUPS),
]  # fmt: skip
