"""Frames: the same answers as pandas, sensitivities as computed by hand, and a clear word where nothing is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue, Leak
from dpaudit.sealed import unseal
from dpaudit.sealed.array import Sealed, dependence
from dpaudit.sealed.frames import SealedFrame

BOUNDS = {"age": (0, 100), "income": (0, 1000, None), "city": ["Paris", "Rome", "Oslo"], "sex": ["f", "m", None]}
ZONES = pd.DataFrame({"city": ["Paris", "Rome"], "zone": [1.0, 2.5], "land": ["France", "Italy"]})


def people(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    income = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 1000, n))
    cities = pd.Categorical(rng.choice(["Paris", "Rome"], n), categories=BOUNDS["city"])  # nobody in Oslo
    sexes = pd.Categorical(rng.choice(["f", "m", None], n), categories=["f", "m"])
    return pd.DataFrame({"age": rng.integers(0, 101, n), "income": income, "city": cities, "sex": sexes, "name": "secret"})


def opened(value: Any) -> Any:
    return unseal(value) if isinstance(value, Sealed) else value


ASKED = {
    "sum": lambda f: f["age"].sum(),
    "mean": lambda f: f["age"].mean(),
    "sum of what is there": lambda f: f["income"].sum(),
    "count of what is there": lambda f: f["income"].count(),
    "filter": lambda f: f[f["age"] > 30]["income"].sum(),
    "two filters": lambda f: f[f["age"] > 30][["income", "city"]]["income"].count(),
    "filter of a filter": lambda f: (lambda part: part[part["income"] >= 500]["age"].sum())(f[f["age"] <= 60]),
    "both": lambda f: f[(f["age"] > 30) & ~(f["city"] == "Rome")]["age"].count(),
    "missing compares with nothing": lambda f: f[f["income"] < 500]["age"].count(),
    "except by !=": lambda f: f[f["income"] != 500]["age"].count(),
    "a missing category": lambda f: f[f["sex"] != "f"]["age"].count(),
    "isna": lambda f: f["income"].isna().sum(),
    "clip": lambda f: f["income"].clip(100, 300).sum(),
    "fillna": lambda f: f["income"].fillna(7).sum(),
    "fillna of categories": lambda f: (f["sex"].fillna("m") == "m").sum(),
    "fillna of the frame": lambda f: f.fillna({"income": 3})["income"].sum(),
    "isin": lambda f: f["city"].isin(["Rome", "Bern"]).sum(),
    "between": lambda f: f["age"].between(20, 40).sum(),
    "products": lambda f: (f["age"] * f["income"]).sum(),
    "squares": lambda f: (f["age"] ** 2).sum(),
    "where": lambda f: f["age"].where(f["age"] > 50, 0).sum(),
    "loc": lambda f: f.loc[f["city"] == "Paris", "age"].sum(),
    "assign": lambda f: f.assign(old=f["age"] > 65)["old"].sum(),
    "groups": lambda f: f.groupby("city", observed=False)["age"].sum(),
    "counts of groups": lambda f: f.groupby("city", observed=False)["income"].count(),
    "sizes of groups": lambda f: f.groupby("sex", observed=False).size(),
    "filtered groups": lambda f: f[f["age"] > 40].groupby("city", observed=False)["income"].sum(),
    "two keys": lambda f: f.groupby(["city", "sex"], observed=False)["age"].sum(),
    "value counts": lambda f: f["city"].value_counts(sort=False),
    "filtered value counts": lambda f: f[f["age"] > 40]["sex"].value_counts(sort=False),
    "left join": lambda f: f.merge(ZONES, on="city", how="left")["zone"].sum(),
    "inner join": lambda f: f.merge(ZONES, on="city", how="inner")["age"].sum(),
    "joined categories": lambda f: (f.merge(ZONES, on="city", how="left")["land"] == "Italy").sum(),
    "map": lambda f: f["city"].map({"Paris": 1, "Rome": 2}).astype(float).sum(),
}


@pytest.mark.parametrize("removal", [False, True], ids=["replaced", "removed"])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_answers_are_those_of_pandas(asked: Any, removal: bool) -> None:
    frame = people()
    if removal and asked is ASKED["mean"]:  # how many records there are is private then
        with pytest.raises(Leak, match="divides by the number of records"):
            asked(dp.seal_frame(frame, BOUNDS, removal=True))
        return
    ours = asked(dp.seal_frame(frame, BOUNDS, removal=removal))
    assert isinstance(ours, Sealed)
    np.testing.assert_allclose(opened(ours), np.asarray(asked(frame), dtype=float))


@pytest.mark.parametrize(
    ("asked", "replaced", "removed"),
    [
        (lambda f: f["age"].sum(), 100, 100),
        (lambda f: f["age"].clip(20, 60).sum(), 40, 60),
        (lambda f: f["income"].sum(), 1000, 1000),
        (lambda f: f["income"].count(), 1, 1),
        (lambda f: f[f["city"] == "Rome"]["age"].sum(), 100, 100),
        (lambda f: f.groupby("city")["age"].sum(), 200, 100),
        (lambda f: f[f["age"] > 3].groupby("city")["income"].sum(), 2000, 1000),
        (lambda f: f["city"].value_counts(), 2, 1),
        (lambda f: f.groupby(["city", "sex"]).size(), 2, 1),
        (lambda f: f.merge(ZONES, on="city")["zone"].sum(), 2.5, 2.5),
    ],
)
def test_what_one_record_moves_is_what_it_can_move(asked: Any, replaced: float, removed: float) -> None:
    for removal, moves in ((False, replaced), (True, removed)):
        found = dependence(asked(dp.seal_frame(people(), BOUNDS, removal=removal)))
        assert found.sensitivity(1) == moves  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "leaking",
    [
        lambda f: len(f[f["age"] > 30]),
        lambda f: bool(f["age"].sum() > 3),
        lambda f: float(f["age"].sum()),
        lambda f: f.groupby("city", observed=True),
        lambda f: f["city"].value_counts(sort=True),
        lambda f: [1] if f["age"] is None or f["age"] else [],
    ],
)
def test_what_would_tell_is_refused(leaking: Any) -> None:
    with pytest.raises(Leak):
        leaking(dp.seal_frame(people(), BOUNDS))


def test_only_columns_with_bounds_are_there() -> None:
    frame = dp.seal_frame(people(), BOUNDS)
    assert frame.columns == list(BOUNDS)
    with pytest.raises(InvalidValue, match="give their bounds"):
        frame["name"]
    with pytest.raises(InvalidValue, match="a column of the frame"):
        dp.seal_frame(people(), {"wage": (0, 1)})


def test_numbers_outside_their_bounds_are_brought_inside_and_texts_are_refused_without_showing_them() -> None:
    frame = pd.DataFrame({"age": [-5.0, 500.0, np.nan], "name": ["secret", "b", "c"]})
    assert opened(dp.seal_frame(frame, {"age": (0, 100)})["age"].sum()) == 100
    with pytest.raises(InvalidValue) as caught:
        dp.seal_frame(frame, {"name": (0, 1)})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("bounds", [{}, {"age": (1, 0)}, {"age": "0-100"}, {"city": []}, {"city": ["a", "a"]}, [("age", (0, 1))]])
def test_bounds_that_say_nothing_are_refused(bounds: Any) -> None:
    with pytest.raises(InvalidValue):
        dp.seal_frame(people(), bounds)


def test_nullable_numbers_and_plain_lists_are_read_too() -> None:
    nullable = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")})
    for frame in (nullable, {"x": [1, float("nan"), 3]}):
        sealed = dp.seal_frame(frame, {"x": (0, 10, None)})
        assert isinstance(sealed, SealedFrame)
        assert (opened(sealed["x"].sum()), opened(sealed["x"].count())) == (4, 2)


def test_public_rows_are_chosen_where_their_number_is_public() -> None:
    frame = people()
    sealed = dp.seal_frame(frame, BOUNDS)
    public = np.arange(len(frame)) % 2 == 0
    assert opened(sealed[public]["age"].sum()) == frame[public]["age"].sum()
    assert len(sealed[:50]) == 50
