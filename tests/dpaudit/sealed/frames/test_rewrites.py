"""What of pandas is not traced says so at the user's line, with what to write instead; and what it says to write is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.sealed.array import dependence
from dpaudit.sealed.frames import NotTraced

BOUNDS = {"age": (0, 120), "income": (0, 1000, None), "city": ["Paris", "Rome", "Oslo"]}


def people() -> pd.DataFrame:
    columns = {"age": [20.0, 70.0], "income": [100.0, np.nan], "city": ["Paris", "Rome"]}
    return pd.DataFrame({name: values * 5 for name, values in columns.items()})


@pytest.mark.parametrize(
    ("asked", "rewrite"),
    [
        (lambda f: f["age"].median(), "channel.select"),
        (lambda f: f["age"].std(), "release .sum()"),
        (lambda f: f[f["age"] > 3]["age"].mean(), "release .sum() and .count()"),
        (lambda f: f["income"].mean(), "release .sum() and .count()"),
        (lambda f: f["age"].apply(abs), "numpy functions"),
        (lambda f: f.groupby("city")["age"].mean(), "release .sum() and .count()"),
        (lambda f: f.iterrows(), "frame[condition]"),
        (lambda f: f["city"].nunique(), "channel.threshold_counts"),
        (lambda f: f.pivot_table("age"), "groupby([first, second])"),
        (lambda f: f.frobnicate(), ".groupby("),
        (lambda f: f.query("age > 3"), 'frame[frame["column"] > 3]'),
        (lambda f: f.dropna(), "notna()"),
        (lambda f: f.groupby("city").agg({"age": "sum"}), "groupby(…)[column].sum()"),
        (lambda f: f["city"].str.lower(), ".map({value: …})"),
        (lambda f: f.rename(columns={"age": "years"}), "frame.assign(new=frame[old])"),
        (lambda f: f["city"].value_counts(normalize=True), "release the counts"),
        (lambda f: pd.cut(f["age"], [0, 18, 120]), "np.histogram"),
    ],
)
def test_what_is_not_traced_names_the_line_and_what_to_write(asked: Any, rewrite: str) -> None:
    with pytest.raises(NotTraced) as caught:
        asked(dp.seal_frame(people(), BOUNDS))
    assert rewrite in str(caught.value)
    assert caught.value.where.startswith("test_rewrites.py:")


@pytest.mark.parametrize(
    "asked",
    [
        lambda f: f[(f["age"] > 3) & (f["city"] == "Rome")]["income"].sum(),
        lambda f: f[f["income"].notna()]["income"].count(),
        lambda f: f.groupby("city")["age"].sum(),
        lambda f: f["city"].map({"Paris": 1, "Rome": 2, "Oslo": 3}).sum(),
        lambda f: f.assign(years=f["age"])["years"].sum(),
        lambda f: f["city"].value_counts(),
        lambda f: np.histogram(f["age"].to_numpy(), bins=[0, 18, 65, 120])[0],
    ],
)
def test_what_one_is_told_to_write_is_traced(asked: Any) -> None:
    assert dependence(asked(dp.seal_frame(people(), BOUNDS))) is not None
