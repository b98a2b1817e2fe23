"""The JSON that programs read."""

from __future__ import annotations

import json
import math

import pytest

from dpaudit.claims.json_text import as_json


def test_json_reads_back_and_keeps_greek_letters() -> None:
    document = {"claim": "ε = 1/2", "lines": [1, None, "δ"]}
    assert json.loads(as_json(document)) == document
    assert as_json({"claim": "ε"}) == '{\n  "claim": "ε"\n}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        as_json({"epsilon": value})
