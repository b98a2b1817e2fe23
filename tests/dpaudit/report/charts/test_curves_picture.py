"""The picture is a PNG of the size that it was drawn in."""

from __future__ import annotations

import struct

import pytest

from dpaudit.report.charts.curves_picture import curves_picture


@pytest.mark.needs(module="matplotlib")
def test_the_bytes_are_a_png():
    regret = [{"horizon": 10**3, "mean": 10.0, "error": 1.0}, {"horizon": 10**4, "mean": 40.0, "error": 2.0}]
    row = {"system": "optimistic", "model": "central", "regret": regret, "slope": 0.6, "exponent": "1/2"}
    picture = curves_picture([row], "title")
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (1100, 650)
