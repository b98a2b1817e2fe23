"""Callers: a leak names the user's own line, and what would do instead."""

from __future__ import annotations

import json
import logging
import statistics
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims.leak_watch import watching
from dpaudit.sealed.callers import caller


def line_of(leak: pytest.ExceptionInfo[dp.Leak]) -> str:
    return str(leak.value)


@pytest.fixture
def x() -> Any:
    return dp.seal([0.5, 0.25], 0, 1)


def test_the_line_is_that_of_the_user_also_below_other_code(x: Any) -> None:
    with pytest.raises(dp.Leak) as leak:
        statistics.fmean(x)
    assert f"at {caller().partition(':')[0]}:" in line_of(leak)


@pytest.mark.needs(module="torch")
def test_a_conversion_by_torch_is_named_with_the_rewrite(x: Any) -> None:
    import torch

    for convert in (lambda: torch.tensor(x), lambda: torch.as_tensor(x)):
        with pytest.raises(dp.Leak) as leak:
            convert()
        assert "conversion to a torch tensor at test_callers.py:" in line_of(leak)
        assert "numpy functions of the sealed data" in line_of(leak)


def test_a_fit_of_scikit_learn_is_named_with_the_way_to_audit_it(x: Any) -> None:
    from sklearn.linear_model import Ridge

    with pytest.raises(dp.Leak, match="which sklearn asks for") as leak:
        Ridge().fit(x[:, None], x)
    assert "at test_callers.py:" in line_of(leak)
    assert "audit it as a black box" in line_of(leak)
    with pytest.raises(dp.Leak, match="release it through the channel") as own:  # twin: the user's own code asks
        _ = x.device
    assert "asks for" not in line_of(own)


def test_a_conversion_by_pandas_is_named_with_the_rewrite(x: Any) -> None:
    import pandas as pd

    public = pd.DataFrame({"a": [1.0, 2.0]})
    converts = (
        lambda: pd.Series(x),
        lambda: pd.DataFrame({"a": x}),
        lambda: pd.cut(x, [0, 1]),
        lambda: pd.concat([public, pd.Index(x)]),
    )
    for convert in converts:
        with pytest.raises(dp.Leak) as leak:
            convert()
        assert f"conversion to a pandas object at {caller().partition(':')[0]}:" in line_of(leak)
        assert "numpy functions of the sealed data" in line_of(leak)
    with pytest.raises(dp.Leak, match=r"at test_callers\.py:\d+"):
        public.assign(b=x)


def test_a_conversion_to_a_plain_array_says_what_would_do(x: Any) -> None:
    with pytest.raises(dp.Leak) as leak:
        np.eye(2)[x.astype(int)]
    assert "x[:, None] == np.arange(k)" in line_of(leak)
    with pytest.raises(dp.Leak) as leak:
        x[x > 0.3]
    assert "np.where(mask, x, 0)" in line_of(leak)


def test_a_private_length_says_what_to_release() -> None:
    records = dp.seal([0.5, 0.25], 0, 1, removal=True)
    with pytest.raises(dp.Leak) as leak:
        len(records)
    assert "np.isfinite(x).sum()" in line_of(leak)
    with dp.simulate(1) as channel:
        channel.release("count", np.isfinite(records).sum(), dp.Laplace(1), sensitivity=1)
    assert channel.events[0].derived == 1
    with pytest.raises(dp.Leak, match="divides by the number of records"):
        records.mean()


@pytest.mark.parametrize(
    "write", [str, "{}".format, lambda v: f"{v:.3f}", lambda v: "%s".__mod__(v), lambda v: f"{v!r}", lambda v: str([v])]
)
def test_text_made_from_sealed_data_is_noticed_and_tells_nothing(write: Any, x: Any) -> None:
    with watching() as noticed:
        text = write(x)
    assert "sealed private data" in text
    assert [leak.rule for leak in noticed.leaks if isinstance(leak, dp.Leak)] == ["DPA002"]


def test_a_line_in_a_log_is_found(x: Any, caplog: pytest.LogCaptureFixture) -> None:
    with watching() as noticed, caplog.at_level(logging.INFO):
        logging.getLogger("service").info("sum %s", x.sum())
    assert noticed.leaks
    with pytest.raises(TypeError):
        json.dumps(x)


def test_outside_an_audit_a_debugger_may_show_that_it_is_sealed(x: Any) -> None:
    with dp.simulate(1, proven=True, budget=1) as channel:
        assert "sealed private data" in repr(x)
        channel.release("sum", x.sum(), dp.Laplace(1), sensitivity=1)
    assert [event.name for event in channel.events] == ["sum"]
