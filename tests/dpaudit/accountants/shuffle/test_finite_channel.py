from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit.accountants import amplify
from dpaudit.accountants.shuffle.finite_channel import read_channel
from dpaudit.claims import InvalidValue
from tests.dpaudit.accountants.shuffle.brute_force import exact_delta, random_channel, response

EFFORT = Fraction(1, 10**9)


def test_random_channels_lie_between_their_attack_and_their_blanket() -> None:
    rng = np.random.default_rng(3)
    for trial in range(12):
        matrix = random_channel(rng, int(rng.integers(2, 4)), int(rng.integers(2, 4)), 1.0, staircase=trial % 2 == 0)
        channel, n = read_channel(matrix), int(rng.integers(1, 4))
        for epsilon in (0.0, 0.2):
            truth = exact_delta(matrix, n, epsilon)
            arguments = channel.epsilon0[1], n, Fraction(epsilon), EFFORT
            assert float(channel.attack().delta(*arguments)[0]) <= truth * (1 + 1e-9) + 1e-12
            assert truth <= float(channel.blanket().delta(*arguments)[1]) * (1 + 1e-9) + 1e-12


def test_a_matrix_of_k_ary_response_costs_what_that_method_says() -> None:
    """The largest ratio is 3, so ε0 = log 3, which is no rational number: its enclosure is used."""
    matrix = [["3/6" if x == y else "1/6" for y in range(4)] for x in range(4)]
    channel = read_channel(matrix)
    assert channel.epsilon0[0] < Fraction(math.log(3)) + Fraction(1, 10**12)
    assert channel.epsilon0[1] - channel.epsilon0[0] < Fraction(1, 10**20)
    found = amplify(None, 1000, "1e-6", method="channel", channel=matrix)
    other = amplify(channel.epsilon0[1], 1000, "1e-6", method="krr", k=4)
    assert float(found.upper) == pytest.approx(float(other.upper), rel=1e-6)
    assert found.method == "channel"
    assert found.attack is not None
    assert Fraction(0) < found.attack <= found.upper


def test_rows_that_were_rounded_cost_a_little_more() -> None:
    exact = [["1/3", "2/3"], ["2/3", "1/3"]]
    rounded = [[0.333333333333, 0.666666666667], [0.666666666667, 0.3333333333333]]
    bounds = [amplify(None, 1000, "1e-4", method="channel", channel=matrix) for matrix in (exact, rounded)]
    assert read_channel(rounded).rounding > 0
    assert bounds[0].upper < bounds[1].upper < bounds[0].upper * Fraction(1001, 1000)
    assert bounds[1].lower <= bounds[0].lower
    with pytest.raises(InvalidValue, match="written exactly"):
        amplify(None, 10**13, "1e-4", method="channel", channel=rounded)


def test_a_file_is_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "channel.json"
    path.write_text(json.dumps([["1/4", 0.75], ["0.75", 0.25]]), encoding="utf-8")
    assert read_channel(path).rows == ((Fraction(1, 4), Fraction(3, 4)), (Fraction(3, 4), Fraction(1, 4)))
    assert read_channel(str(path)).rounding == 0
    path.write_text(json.dumps({"rows": [[0.5, 0.5], [0.25, 0.75]]}), encoding="utf-8")
    assert len(read_channel(path).rows) == 2


@pytest.mark.parametrize(
    "matrix",
    [
        [[1]],
        [[0.5, 0.5]],
        [[0.5, 0.5], [1.0]],
        [[0.5, 0.5], [0.5, 0.4]],
        [[0.5, 0.5], [1, 0]],
        [[1.5, -0.5], [0.5, 0.5]],
        [["a", "b"], ["c", "d"]],
        ["ab", "cd"],
        {"matrix": []},
        7,
    ],
    ids=str,
)
def test_what_is_no_local_randomiser_is_refused(matrix: object) -> None:
    with pytest.raises(InvalidValue):
        read_channel(matrix)


def test_a_claimed_local_cost_below_the_channels_own_is_refused() -> None:
    matrix = response(3, 1.0)
    with pytest.raises(InvalidValue, match="epsilon0"):
        amplify("0.99", 100, "1e-6", method="channel", channel=matrix)
    assert amplify("1.01", 100, "1e-6", method="channel", channel=matrix).upper <= Fraction("1.01")


def test_a_channel_that_tells_nothing_costs_nothing() -> None:
    assert amplify(None, 10, "1e-6", method="channel", channel=[["1/2", "1/2"], ["1/2", "1/2"]]).upper == 0
