"""Released values as JSON: long arrays packed, one form for each."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.ledger.records.grid_values import is_json_of, units_from_json, units_to_json


def test_long_arrays_are_packed_and_compared_in_parts_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    units = np.random.default_rng(4).integers(-(2**33), 2**33, (25, 40))
    whole = units_to_json(units)
    monkeypatch.setattr("dpaudit.ledger.records.grid_values._PART", 96)
    assert units_to_json(units) == whole
    assert np.array_equal(units_from_json(whole), units)
    assert is_json_of(whole, units)
    for change in ({"least": whole["least"] + 1}, {"data": whole["data"][:-4]}, {"data": "A" + whole["data"][1:]}, {"more": 1}):
        assert not is_json_of({**whole, **change}, units)
