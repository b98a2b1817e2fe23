"""Nets cover their sets, lie in them and state their price; malformed actions are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import cKDTree

from algorithms.actions.action_sets import Ball, Box, Ellipsoid, Finite, Sphere, random_instance, simulated_instance, validate
from dpaudit.claims import DpauditError, InvalidValue

POINTS = 20_000


def on_sphere(rng, count, dim):
    vectors = rng.standard_normal((count, dim))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def in_ball(rng, count, dim):
    """Half of them on the surface, where nets are hardest to get right."""
    radii = np.where(np.arange(count) % 2, 1.0, rng.uniform(size=count) ** (1 / dim))
    return on_sphere(rng, count, dim) * radii[:, None]


SKEW = np.array([[0.8, 0.3, 0.0], [0.0, 0.3, 0.1], [0.1, 0.0, 0.05]])
FLAT = np.diag([0.9, 0.4, 0.0])

# A set, random points of it, and its membership (the excess over the boundary, at most rounding).
CASES = {
    "ball 1": (Ball(1), lambda r, n: in_ball(r, n, 1), lambda p: np.linalg.norm(p, axis=1) - 1),
    "ball 2": (Ball(2, 0.7), lambda r, n: 0.7 * in_ball(r, n, 2), lambda p: np.linalg.norm(p, axis=1) - 0.7),
    "ball 4": (Ball(4), lambda r, n: in_ball(r, n, 4), lambda p: np.linalg.norm(p, axis=1) - 1),
    "circle": (Sphere(2), lambda r, n: on_sphere(r, n, 2), lambda p: np.abs(np.linalg.norm(p, axis=1) - 1)),
    "sphere 3": (
        Sphere(3, 0.5),
        lambda r, n: 0.5 * on_sphere(r, n, 3),
        lambda p: np.abs(np.linalg.norm(p, axis=1) - 0.5),
    ),
    "sphere 4": (Sphere(4), lambda r, n: on_sphere(r, n, 4), lambda p: np.abs(np.linalg.norm(p, axis=1) - 1)),
    "box": (
        Box([0.8, 0.3, 0.1]),
        lambda r, n: r.uniform(-1, 1, (n, 3)) * [0.8, 0.3, 0.1],
        lambda p: (np.abs(p) - [0.8, 0.3, 0.1]).max(axis=1),
    ),
    "ellipsoid": (
        Ellipsoid(SKEW),
        lambda r, n: in_ball(r, n, 3) @ SKEW.T,
        lambda p: np.linalg.norm(p @ np.linalg.inv(SKEW).T, axis=1) - 1,
    ),
    "needle": (
        Ellipsoid(np.diag([1.0, 1e-3])),
        lambda r, n: in_ball(r, n, 2) * [1, 1e-3],
        lambda p: np.linalg.norm(p / [1, 1e-3], axis=1) - 1,
    ),
}


def farthest(points, net):
    return float(cKDTree(net).query(points)[0].max())


@pytest.mark.parametrize("horizon", [3, 12, 10**6])
@pytest.mark.parametrize("name", CASES)
def test_a_net_lies_in_its_set_spans_it_and_covers_it(name, horizon):
    shape, sample, excess = CASES[name]
    net = shape.actions(horizon, limit=2000)
    assert len(net.points) <= 2000
    assert excess(net.points).max() <= 1e-9
    assert np.linalg.matrix_rank(net.points) == net.points.shape[1]
    assert farthest(sample(np.random.default_rng(1), POINTS), net.points) <= net.zeta * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if name != "needle"])
def test_a_thinned_net_does_not_cover(name):
    # Twin: half of the points are gone, and the same random points find the holes.
    shape, sample, _ = CASES[name]
    net = shape.actions(10**6, limit=2000)
    thinned = net.points[::2] if name in ("ball 1", "circle") else net.points[: len(net.points) // 2]
    assert farthest(sample(np.random.default_rng(1), POINTS), thinned) > net.zeta


@pytest.mark.parametrize("name", CASES)
def test_the_covering_radius_is_not_stated_far_too_large(name):
    shape, sample, _ = CASES[name]
    net = shape.actions(10**6, limit=2000)
    assert farthest(sample(np.random.default_rng(2), POINTS), net.points) > 0.3 * net.zeta


@pytest.mark.parametrize("name", CASES)
def test_a_net_that_fits_is_as_fine_as_one_over_the_horizon_and_says_nothing(name):
    net = CASES[name][0].actions(4)
    assert 0 < net.zeta <= 1 / 4
    assert net.price == pytest.approx(4 * net.zeta)
    assert net.notice == ""


def test_a_net_that_does_not_fit_is_coarser_and_states_its_price():
    net = Ball(2).actions(10**6)
    assert 2000 < len(net.points) <= 4096
    assert 1e-6 < net.zeta < 0.03
    assert net.price == pytest.approx(1e6 * net.zeta)
    assert str(math.ceil(net.price)) in net.notice
    assert "1/1000000" in net.notice


@pytest.mark.parametrize("shape", [Ball(2), Sphere(3), Box([0.5, 0.5]), Ellipsoid([[0.5, 0.2], [0.0, 0.3]])])
def test_more_points_make_a_finer_net(shape):
    zetas = [shape.actions(10**6, limit=limit).zeta for limit in (50, 500, 5000)]
    assert zetas == sorted(zetas, reverse=True)
    assert zetas[2] < zetas[0] / 3


def test_equal_angles_are_the_least_that_cover_the_circle():
    # Exact: n angles leave arcs of half-width π/n, a chord of 2 sin(π/2n).
    net = Sphere(2).actions(100)
    n = len(net.points)
    assert 2 * math.sin(math.pi / (2 * n)) <= 0.01 < 2 * math.sin(math.pi / (2 * (n - 1)))
    assert net.zeta == pytest.approx(2 * math.sin(math.pi / (2 * n)))


def test_the_sphere_of_the_line_is_two_points_without_a_price():
    net = Sphere(1, 0.5).actions(10**9)
    assert net.points.ravel().tolist() == [-0.5, 0.5]
    assert (net.zeta, net.price, net.notice) == (0.0, 0.0, "")


def test_a_box_net_holds_the_corners():
    net = Box([0.6, 0.3]).actions(20)
    assert {(-0.6, -0.3), (-0.6, 0.3), (0.6, -0.3), (0.6, 0.3)} <= set(map(tuple, net.points.tolist()))


def test_flat_sets_are_covered_in_their_span_with_a_notice():
    rng = np.random.default_rng(3)
    flat = Ellipsoid(FLAT).actions(15)
    assert farthest(in_ball(rng, POINTS, 3) @ FLAT.T, flat.points) <= flat.zeta * (1 + 1e-9)
    assert "span 2 of 3" in flat.notice
    assert "span 1 of 2" in Box([0.5, 0.0]).actions(15).notice


@pytest.mark.parametrize("shape", [Ball(30), Sphere(30), Box(np.full(30, 0.18)), Ellipsoid(np.eye(400))])
def test_a_dimension_without_a_net_is_refused_with_advice(shape):
    with pytest.raises(DpauditError, match="raise the limit"):
        shape.actions(1000)


def test_a_finite_set_is_its_own_net_at_no_price():
    rows = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    net = Finite(rows).actions(10**9, limit=1)
    assert net.points.tolist() == rows
    assert (net.zeta, net.price, net.notice) == (0.0, 0.0, "")
    assert "span 1 of 2" in Finite([[1.0, 0.0]]).actions(10).notice


def test_a_finite_set_does_not_change_with_the_array_it_came_from():
    rows = np.eye(2)
    actions = Finite(rows)
    rows[0, 0] = 0.5
    assert actions.array.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="read-only"):
        actions.array[0, 0] = 0.5


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([], "non-empty"),
        (np.zeros((0, 3)), "non-empty"),
        (np.zeros((3, 0)), "non-empty"),
        ([1.0, 0.0], "shape"),
        (np.ones((2, 2, 2)), "shape"),
        ([[1.0], [1.0, 0.0]], "numbers"),
        ([["a", "b"]], "numbers"),
        ([[math.nan, 0.0]], "finite"),
        ([[math.inf, 0.0]], "finite"),
        ([[0.1, 0.0], [0.9, 0.9]], "norm at most 1 .see row 1."),
        ([[1 + 1e-8, 0.0]], "norm at most 1"),
        ([[0.0, 0.0]], "non-zero"),
    ],
)
def test_malformed_actions_are_refused_in_one_line(actions, said):
    for check in (validate, Finite):
        with pytest.raises(InvalidValue, match=said) as caught:
            check(actions)
        assert "\n" not in str(caught.value)


def test_actions_that_are_fine_pass_without_a_notice():
    assert validate([[1 + 1e-10, 0.0], [0.0, 1.0]]) == ""
    assert validate([[0.6, 0.8], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]) == ""
    assert "span 1 of 2" in validate([[0.6, 0.8], [0.6, 0.8]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ball(0),
        lambda: Ball(2, 1.5),
        lambda: Sphere(2, 0.0),
        lambda: Sphere(2, math.nan),
        lambda: Box([]),
        lambda: Box([0.9, 0.9]),
        lambda: Box([-0.1, 0.2]),
        lambda: Box([0.0, 0.0]),
        lambda: Ellipsoid([[1.0, 0.0]]),
        lambda: Ellipsoid([[1.1]]),
        lambda: Ellipsoid([[math.nan]]),
        lambda: Ellipsoid(np.zeros((2, 2))),
        lambda: Ball(2).actions(0),
        lambda: Ball(2).actions(10, limit=0),
    ],
)
def test_sets_outside_the_unit_ball_and_senseless_parameters_are_refused(make):
    with pytest.raises(InvalidValue):
        make()


def test_random_instances_have_the_shapes_asked_for_and_unit_norm():
    actions, theta = random_instance(np.random.default_rng(1))
    assert actions.shape == (10, 2)
    assert theta.shape == (2,)
    actions, theta = random_instance(np.random.default_rng(1), actions=7, dim=3, instances=5)
    assert actions.shape == (5, 7, 3)
    assert theta.shape == (5, 3)
    assert np.linalg.norm(actions, axis=-1) == pytest.approx(1)
    assert np.linalg.norm(theta, axis=-1) == pytest.approx(1)
    assert validate(actions[0]) == ""


def uniform_p_value(vectors):
    """On the sphere of R³ each coordinate is uniform on [−1, 1] (Archimedes); Bonferroni over the three."""
    return 3 * min(stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue for column in vectors.T)


def test_random_instances_are_uniform_on_the_sphere():
    # Each of the two checks fails a correct sampler with probability 1e-4; seed fixed.
    actions, theta = random_instance(np.random.default_rng(7), actions=20, dim=3, instances=5000)
    assert uniform_p_value(actions.reshape(-1, 3)) > 1e-4
    assert uniform_p_value(theta) > 1e-4
    # Twin: normalised points of the cube are on the sphere too, but not uniform.
    cube = np.random.default_rng(7).uniform(-1, 1, (100_000, 3))
    assert uniform_p_value(cube / np.linalg.norm(cube, axis=1, keepdims=True)) < 1e-4


def test_the_same_seed_gives_the_same_instance():
    first, second = (random_instance(np.random.default_rng(3), instances=2) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


def test_an_evaluation_keeps_the_actions_of_one_run_and_draws_an_instance_for_each_trial():
    actions = random_instance(np.random.default_rng(1), 4, 3)[0]
    same, means = simulated_instance(actions, None, np.random.default_rng(2))
    assert same is actions
    theta = np.linalg.lstsq(actions, means, rcond=None)[0]
    assert actions @ theta == pytest.approx(means)
    assert np.linalg.norm(theta) == pytest.approx(1)
    every, thetas = random_instance(np.random.default_rng(2), 4, 3, instances=5)
    drawn, means = simulated_instance(actions, 5, np.random.default_rng(2))
    assert np.array_equal(drawn, every)
    for one, row in enumerate(means):
        assert row == pytest.approx(every[one] @ thetas[one])
