"""Features: atoms apart from continuous parts, missing things apart from numbers, the same columns on later runs."""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.games.candidates.features import Atoms, Features
from dpaudit.auditors.games.output_columns import Parts
from dpaudit.auditors.runs.output_cells import Kind


def parts(numbers: np.ndarray, kinds: np.ndarray | None = None) -> Parts:
    return Parts(np.full(numbers.shape, float(Kind.FLOAT)) if kinds is None else kinds, numbers)


def test_a_sentinel_among_continuous_values_is_an_atom_and_rare_values_are_not() -> None:
    rng = np.random.default_rng(1)
    values = np.where(rng.random(2000) < 0.3, -1000.0, rng.normal(size=2000))
    table = parts(values[:, None])
    atoms = Atoms.of(0, table.kinds[:, 0], values)
    assert atoms.numbers.tolist() == [-1000.0]
    assert atoms.continuous
    continuous, code = atoms.read(table)
    assert (np.isnan(continuous) == (values == -1000)).all()
    assert set(code.tolist()) == {0.0, 1.0}


def test_few_values_are_all_atoms_and_odd_things_have_codes_of_their_own() -> None:
    kinds = np.array([Kind.FLOAT] * 20 + [Kind.NOTHING] * 20 + [Kind.TEXT] * 20, float)
    numbers = np.array([1.0, 2.0] * 10 + [0.0] * 20 + [77.0] * 10 + [78.0] * 10)
    atoms = Atoms.of(0, kinds, numbers)
    assert not atoms.continuous
    codes = atoms.read(Parts(kinds[:, None], numbers[:, None]))[1]
    assert len(set(codes.tolist())) == 5
    later = atoms.read(Parts(np.array([[Kind.TEXT], [0.0], [Kind.BYTES]], float), np.array([[79.0], [0.0], [77.0]])))[1]
    assert not set(later.tolist()) & set(codes.tolist())
    assert len(set(later.tolist())) == 3


def test_rows_are_summed_up_over_the_parts_that_are_there() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(1000, 3))
    values[rng.random((1000, 3)) < 0.4] = -5.0
    features = Features.of(parts(values), rng.random(1000) < 0.5)
    table = features(parts(values))
    there = np.where(values == -5.0, np.nan, values)
    wanted = [(~np.isnan(there)).sum(axis=1), np.nan_to_num(there).sum(axis=1), (values == -5).sum(axis=1)]
    for column in wanted:
        assert any(np.array_equal(column, np.nan_to_num(found)) for found in table.T)
    some = ~np.isnan(there).all(axis=1)
    assert any(np.allclose(found[some], np.nanmax(there[some], axis=1)) for found in table.T)
    assert features(parts(values[:1])).shape == (1, table.shape[1])


def test_features_that_never_differ_are_left_out() -> None:
    features = Features.of(parts(np.ones((50, 4))), np.arange(50) % 2 == 0)
    assert features(parts(np.ones((7, 4)))).shape == (7, 0)
