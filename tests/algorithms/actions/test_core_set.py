"""Designs, against the dense pseudo-inverse and against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.actions.core_set import Design, Designs, core_set, core_sets, leverage
from algorithms.actions.design_weights import prune, raise_to_floor, support_bound, support_of
from algorithms.actions.span import exchange, reconstruction_error, span
from dpaudit.claims import DpauditError, InvalidValue

KINDS = ("frank-wolfe", "minimal")


def sphere(rng, *shape):
    vectors = rng.standard_normal(shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def dense_leverage(actions, support, weights):
    """The definition: max a^T V^+ a with numpy's pseudo-inverse; ∞ off the span of the support."""
    chosen = actions[support]
    moment = (chosen.T * weights) @ chosen
    inverse = np.linalg.pinv(moment, rcond=1e-12, hermitian=True)
    if not np.allclose(actions @ inverse @ moment, actions, atol=1e-6):
        return math.inf
    return float(np.einsum("kd,de,ke->k", actions, inverse, actions).max())


def meets(actions, design, target=2.0):
    """Is it a design, and is its leverage what it says and at most target·rank, by the independent route?"""
    reached = dense_leverage(actions, design.support, design.weights)
    return (
        design.rank == np.linalg.matrix_rank(actions)
        and math.isclose(design.weights.sum(), 1, abs_tol=1e-12)
        and design.weights.min() > 0
        and len(set(design.support.tolist())) == len(design.support)
        and math.isclose(reached, design.leverage, rel_tol=1e-6)
        and design.leverage <= target * design.rank
    )


def degenerate_sets():
    rng = np.random.default_rng(5)
    angles = np.pi / 3 * np.arange(3)
    return {
        "one action": np.array([[0.5, 0.2]]),
        "one dimension": rng.standard_normal((5, 1)),
        "repeated": np.repeat(np.eye(3), 4, axis=0),
        "with zero vectors": np.vstack([np.zeros((2, 3)), np.eye(3)[:2]]),
        "opposite": np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]]),
        "hexagon": np.stack([np.cos(angles), np.sin(angles)], axis=1),
        "plane in six dimensions": rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6)),
        "a crowd and one stranger": np.vstack([np.tile([1.0, 0.0, 0.0], (500, 1)), [[0, 1e-3, 0], [0, 0, 1e-4]]]),
        "very thin": rng.standard_normal((100, 3)) * [1, 1e-2, 1e-4],
        "long tail": rng.standard_normal((400, 6)) * np.exp(2 * rng.standard_normal((400, 1))),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", degenerate_sets())
def test_degenerate_sets_have_a_design_in_their_span(name, kind):
    actions = degenerate_sets()[name]
    for target in (2.0, 1.1):
        assert meets(actions, core_set(actions, target=target, kind=kind), target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("count", "dim"), [(30, 2), (200, 5), (3000, 12), (2000, 30)])
def test_random_sets_meet_the_target_within_the_support_bound(count, dim, kind):
    rng = np.random.default_rng(count)
    for actions in (sphere(rng, count, dim), sphere(rng, count, dim) * rng.uniform(size=(count, 1))):
        design = core_set(actions, kind=kind)
        assert meets(actions, design)
        assert dim <= len(design.support) <= support_bound(dim)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=12).filter(lambda rows: any(map(any, rows))),
    st.sampled_from(KINDS),
    st.sampled_from([2.0, 1.3]),
)
def test_integer_sets_meet_the_target(rows, kind, target):
    actions = np.array(rows, dtype=float)
    assert meets(actions, core_set(actions, target=target, kind=kind), target)


def test_the_check_of_this_file_sees_a_leverage_above_the_target():
    # Twin of the tests above: the same design with most of its weight on one action is no design any more.
    actions = sphere(np.random.default_rng(1), 40, 3)
    design = core_set(actions)
    assert meets(actions, design)
    skewed = np.full(len(design.support), 0.02 / (len(design.support) - 1))
    skewed[0] = 0.98
    bad = Design(design.support, skewed, 3, leverage(actions, design.support, skewed), 0)
    assert bad.leverage > 2 * 3
    assert not meets(actions, bad)


def test_leverage_is_exact_on_a_set_worked_out_in_fractions():
    # V = diag(1/4·1, 3/4·1/4): leverages 4, 16/3·1/4, and (1/2, 1/2): 1 + 4/3.
    actions = np.array([[1.0, 0.0], [0.0, 0.5], [0.5, 0.5]])
    a, b = Fraction(1, 4), Fraction(3, 16)
    expected = max(1 / a, Fraction(1, 4) / b, Fraction(1, 4) / a + Fraction(1, 4) / b)
    assert leverage(actions, [0, 1], [0.25, 0.75]) == pytest.approx(float(expected), rel=1e-14)
    assert leverage(actions, [0, 1, 0], [0.1, 3 * 0.25, 0.15]) == pytest.approx(float(expected), rel=1e-14)


def test_leverage_agrees_with_the_pseudo_inverse_for_arbitrary_weights():
    rng = np.random.default_rng(2)
    for dim, inner in ((2, 2), (4, 4), (6, 3)):
        actions = sphere(rng, 25, inner) @ np.linalg.qr(rng.standard_normal((dim, inner)))[0].T
        support = rng.choice(25, size=8, replace=False)
        weights = rng.dirichlet(np.ones(8))
        assert leverage(actions, support, weights) == pytest.approx(dense_leverage(actions, support, weights), rel=1e-8)


def test_leverage_is_infinite_when_the_support_does_not_span_the_actions():
    actions = np.eye(3)
    assert leverage(actions, [0, 1], [0.5, 0.5]) == math.inf
    assert leverage(np.vstack([actions, actions[:1]]), [0, 1, 3], [0.4, 0.4, 0.2]) == math.inf
    assert leverage(actions[:2], [0, 1], [0.5, 0.5]) == pytest.approx(2)


def test_leverage_refuses_weights_that_are_none():
    with pytest.raises(InvalidValue, match="positive sum"):
        leverage(np.eye(2), [0, 1], [0.0, 0.0])
    with pytest.raises(InvalidValue, match="positive sum"):
        leverage(np.eye(2), [0, 1], [2.0, -1.0])


def test_low_targets_approach_the_optimal_design():
    # Kiefer–Wolfowitz: the least leverage is m; for the square's corners two of them reach it.
    actions = sphere(np.random.default_rng(3), 60, 4)
    for kind in KINDS:
        assert 4 <= core_set(actions, target=1.01, kind=kind).leverage <= 4.04
    assert core_set([[0.7, 0.7], [0.7, -0.7]], target=1.0001).leverage == pytest.approx(2, rel=1e-4)


def test_the_minimal_design_has_two_actions_in_the_plane_and_never_more_than_frank_wolfe_on_average():
    rng = np.random.default_rng(4)
    sizes = {kind: [] for kind in KINDS}
    for _ in range(200):
        assert len(core_set(sphere(rng, 10, 2), kind="minimal").support) == 2
    for _ in range(100):
        actions = sphere(rng, 10, 5)
        for kind in KINDS:
            sizes[kind].append(len(core_set(actions, kind=kind).support))
    assert np.mean(sizes["minimal"]) < np.mean(sizes["frank-wolfe"])


def test_an_exchange_ends_in_a_barycentric_spanner():
    actions = sphere(np.random.default_rng(6), 20, 50, 4)
    before = span(actions)
    after = exchange(before, aim=0.0)
    assert np.abs(after.coordinates).max() <= 1 + 1e-8
    assert np.abs(before.coordinates).max() > 1.01  # so the exchange had something to do
    assert reconstruction_error(actions, after).max() < 1e-12


def test_wrong_coordinates_do_not_pass_the_reconstruction_check():
    actions = sphere(np.random.default_rng(7), 1, 50, 4)
    frame = span(actions)
    assert reconstruction_error(actions, frame).max() < 1e-14
    frame.coordinates[0, 10, 2] += 1e-6
    assert reconstruction_error(actions, frame).max() > 1e-7


def test_rank_counts_real_directions_and_not_rounding():
    rng = np.random.default_rng(8)
    plane = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 5))
    assert core_set(plane).rank == 2
    assert core_set(plane + 1e-13 * rng.standard_normal((300, 5))).rank == 2
    assert core_set(plane + 1e-6 * rng.standard_normal((300, 5))).rank == 5


def test_one_action_that_barely_leaves_a_plane_is_found_among_a_thousand_that_do_not():
    rng = np.random.default_rng(15)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    actions = np.column_stack([sphere(rng, 1000, 2), np.zeros(1000)])
    for off, rank in ((1e-8, 3), (1e-10, 2)):
        actions[500, 2] = off
        design = core_set(actions @ rotation)
        assert design.rank == rank
        assert (500 in design.support) == (rank == 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_floor_is_kept_together_with_the_target(kind):
    rng = np.random.default_rng(9)
    for dim, target in ((3, 1.2), (6, 1.5), (10, 1.8)):
        actions = sphere(rng, 200, dim) * rng.uniform(size=(200, 1))
        free = core_set(actions, target=target, kind=kind)
        least, even = free.weights.min(), 1 / len(free.support)
        assert least < 0.95 * even  # so the floor has something to do
        floor = (2 * least + even) / 3
        design = core_set(actions, target=target, floor=floor, kind=kind)
        assert meets(actions, design, target)
        assert design.weights.min() >= floor * (1 - 1e-12)


def test_a_floor_that_cannot_be_kept_is_refused():
    with pytest.raises(InvalidValue, match="floor must be smaller"):
        core_set(sphere(np.random.default_rng(10), 100, 4), floor=0.26)  # four actions need 4·0.26 > 1


def test_raising_to_a_floor_keeps_the_sum_and_the_support():
    weights = np.array([[0.9, 0.05, 0.0, 0.05], [0.5, 0.5, 0.0, 0.0]])
    raised = raise_to_floor(weights, 0.2)
    assert raised[0].tolist() == pytest.approx([0.6, 0.2, 0.0, 0.2])
    assert raised[1].tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert raise_to_floor(weights, 0.4)[0].tolist() == pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3])


@pytest.mark.parametrize(("count", "dim"), [(40, 2), (200, 3), (60, 5)])
def test_pruning_keeps_few_actions_and_raises_no_leverage(count, dim):
    rng = np.random.default_rng(dim)
    x = rng.standard_normal((count, dim))
    weights = rng.dirichlet(np.ones(count))
    pruned = prune(x, weights)
    assert (pruned > 0).sum() <= dim * (dim + 1) // 2
    assert pruned.sum() == pytest.approx(1, abs=1e-12)
    before, after = (x.T * weights) @ x, (x.T * pruned) @ x
    assert np.linalg.eigvalsh(after - before).min() > -1e-10
    # Twin: simply keeping the heaviest actions does lower V somewhere.
    heavy = np.where(weights >= np.sort(weights)[-dim * (dim + 1) // 2], weights, 0)
    assert np.linalg.eigvalsh((x.T * heavy) @ x / heavy.sum() - before).min() < -1e-3


def test_a_support_above_the_bound_is_pruned():
    # In the plane a target of 1.00001 makes Frank–Wolfe collect many points of a fine circle.
    turns = np.pi * np.arange(2000) / 2000
    actions = np.stack([np.cos(turns), 0.9 * np.sin(turns)], axis=1) * (1 + 0.01 * np.sin(7 * turns))[:, None]
    design = core_set(actions, target=1.0005)
    assert meets(actions, design, 1.0005)
    assert len(design.support) <= support_bound(2)


def test_the_support_bound_is_at_least_the_rank_and_follows_its_formula():
    assert [support_bound(m) for m in (1, 2, 3)] == [16, 16, 17]
    assert support_bound(20) == math.floor(80 * math.log(math.log(20)) + 16) == 103
    assert all(support_bound(m) >= m for m in range(1, 500))


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (np.zeros((3, 2)), "at least one non-zero"),
        (np.zeros((0, 2)), "non-empty"),
        (np.ones(3), "array of vectors"),
        (np.ones((2, 2, 2)), "shape"),
        ([[1.0, math.nan]], "finite"),
        ([[1.0, math.inf]], "finite"),
    ],
)
def test_malformed_actions_are_refused_in_one_line(actions, said):
    with pytest.raises(DpauditError, match=said) as caught:
        core_set(actions)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"target": 1.0}, {"target": math.nan}, {"floor": -0.1}, {"kind": "uniform"}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidValue, match=next(iter(wrong))):
        core_set(np.eye(2), **wrong)


def failures(actions, active, designs: Designs, target=2.0):
    """Indices of the sets whose design, taken alone, fails the independent check."""
    failed = []
    for g, mask in enumerate(active):
        used = designs.weights[g] > 0
        support, rows = designs.support[g][used], np.flatnonzero(mask)
        inside = np.searchsorted(rows, support)
        single = Design(inside, designs.weights[g][used], int(designs.rank[g]), float(designs.leverage[g]), 0)
        own = (actions[g] if actions.ndim == 3 else actions)[rows]
        if not mask[designs.support[g]].all() or not meets(own, single, target):
            failed.append(g)
    return failed


def random_stack(rng, sets, count, dim):
    actions = sphere(rng, sets, count, dim)
    active = rng.uniform(size=(sets, count)) < rng.uniform(0.05, 1, size=(sets, 1))
    active[np.arange(sets), rng.integers(count, size=sets)] = True  # ranks from 1 to d
    actions[: sets // 4, :, -1] = 0.0
    actions[sets // 4 : sets // 3, ::2] = actions[sets // 4 : sets // 3, 1::2]  # repeated actions
    return actions, active


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("count", "dim"), [(10, 2), (10, 3), (64, 8), (4, 6)])
def test_each_set_of_a_stack_has_a_design_of_its_own_rank(count, dim, kind):
    actions, active = random_stack(np.random.default_rng(count * dim), 150, count, dim)
    designs = core_sets(actions, active, kind=kind)
    assert failures(actions, active, designs) == []
    assert len(set(designs.rank.tolist())) > 1


def test_a_stack_gives_what_the_single_sets_give():
    rng = np.random.default_rng(11)
    actions, active = sphere(rng, 12, 4), rng.uniform(size=(40, 12)) < 0.6
    active[:, 0] = True
    for kind in KINDS:
        designs = core_sets(actions, active, kind=kind)
        for g in range(40):
            rows = np.flatnonzero(active[g])
            single = core_set(actions[rows], kind=kind)
            assert designs.rank[g] == single.rank
            used = designs.weights[g] > 0
            assert designs.support[g][used].tolist() == rows[single.support].tolist()
            assert designs.weights[g][used] == pytest.approx(single.weights, rel=1e-9)
            assert designs.leverage[g] == pytest.approx(single.leverage, rel=1e-9)


def test_padding_repeats_the_first_action_with_weight_zero():
    actions = np.array([[1.0, 0.0], [0.0, 1.0]])
    designs = core_sets(actions, [[True, True], [False, True]])
    assert designs.support.tolist() == [[0, 1], [1, 1]]
    assert designs.weights.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert designs.rank.tolist() == [2, 1]
    assert designs.leverage.tolist() == pytest.approx([2, 1])


def test_a_stack_larger_than_one_part_is_the_same_as_its_parts(monkeypatch):
    actions, active = random_stack(np.random.default_rng(12), 60, 10, 3)
    whole = core_sets(actions, active)
    monkeypatch.setattr("algorithms.actions.core_set._STACK", 7 * 10 * 3)
    parts = core_sets(actions, active)
    assert np.array_equal(whole.support, parts.support)
    assert parts.weights == pytest.approx(whole.weights, rel=1e-12)


def test_the_stack_check_of_this_file_finds_the_one_bad_design():
    actions, active = random_stack(np.random.default_rng(13), 40, 10, 3)
    active[17] = True
    designs = core_sets(actions, active)
    designs.weights[17] = np.where(designs.weights[17] > 0, 1e-3, 0)
    designs.weights[17, 0] = 1 - designs.weights[17, 1:].sum()
    assert failures(actions, active, designs) == [17]


def test_a_floor_is_kept_in_every_set_of_a_stack():
    rng = np.random.default_rng(14)
    actions = sphere(rng, 100, 10, 3)
    active = np.ones((100, 10), dtype=bool)
    designs, free = core_sets(actions, active, floor=0.2), core_sets(actions, active)
    assert failures(actions, active, designs) == []
    assert designs.weights[designs.weights > 0].min() >= 0.2 * (1 - 1e-12)
    assert free.weights[free.weights > 0].min() < 0.2  # so the floor had something to do


def test_a_set_without_an_active_action_is_named():
    with pytest.raises(InvalidValue, match="all zero in set 1"):
        core_sets(np.eye(2), [[True, True], [False, False]])


@pytest.mark.parametrize(
    ("actions", "active"),
    [
        (np.ones((3, 4, 2)), np.ones((2, 4))),
        (np.ones((4, 2)), np.ones((2, 3))),
        (np.ones((4, 2)), np.ones(4)),
        (np.ones((4, 2)), np.ones((0, 4))),
    ],
)
def test_masks_that_do_not_fit_the_actions_are_refused(actions, active):
    with pytest.raises(InvalidValue, match="active"):
        core_sets(actions, active)


def test_supports_are_read_off_dense_weights_in_order():
    support, weights = support_of(np.array([[0.0, 0.4, 0.0, 0.6], [0.0, 0.0, 1.0, 0.0]]))
    assert support.tolist() == [[1, 3], [2, 2]]
    assert weights.tolist() == [[0.4, 0.6], [1.0, 0.0]]
