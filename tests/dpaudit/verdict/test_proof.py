"""The upper half of a verdict: what is proven, what only declared, and what bounds the paths that no run took."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants import Part, compose
from dpaudit.verdict.proof import Proof, prove

TEN = dp.replace_one(n=10, low=-1, high=1)


def proof(
    function: Any, claim: str = "1", delta: str = "0", neighbours: Any = TEN, observer: str = "server", plan: Any = None
) -> Proof:
    subject = dp.subject(claim=dp.Claim(claim, delta, observer), neighbours=neighbours, plan=plan)(
        lambda data, channel: function(data, channel)
    )
    return prove(subject, subject.claim, 7)


def release(channel: Any, value: Any, scale: Any = 2, name: str = "v") -> Any:
    return channel.release(name, value, dp.Laplace(scale), sensitivity=2)


def rules(found: Proof) -> set[str]:
    return {finding.rule for finding in found.findings}


def test_a_traced_sum_is_proven_behind_a_door_and_by_a_plan_at_its_own_cost() -> None:
    """What a budget enforces is the budget; a plan costs what it says, whatever is claimed."""
    plan = [("v", dp.Laplace(2), 2)]
    for claim, figure in (("1", 1), ("3", 3)):
        upper = proof(lambda d, c: release(c, d.sum()), claim).upper
        assert upper is not None
        assert (upper.epsilon, upper.sensitivity, upper.path) == (figure, "proven", "enforced")
        upper = proof(lambda d, c: release(c, d.sum()), claim, plan=plan).upper
        assert upper is not None
        assert (upper.epsilon, upper.sensitivity, upper.path) == (1, "proven", "single")


def many(data: Any, channel: Any, adaptive: bool) -> None:
    """300 releases of ε = 0.1; an adaptive one looks at what it released before it goes on."""
    for k in range(300):
        noisy = channel.release(f"v{k}", data.sum(), dp.Laplace(20), sensitivity=2)
        if adaptive and noisy > 1e6:
            return


def test_planned_releases_are_composed_numerically_also_where_queries_look_back() -> None:
    plan = [dp.Planned(f"v{k}", dp.Laplace(20), 2) for k in range(300)]
    for adaptive in (False, True):
        upper = proof(lambda d, c, looks=adaptive: many(d, c, adaptive=looks), "10", "1e-6", plan=plan).upper
        assert upper is not None
        assert upper.path == "single"
        assert upper.epsilon == compose([Part(dp.Laplace(20), 2**21, 300)], "1e-6").upper < 10
        assert "numerical" in upper.method


def test_a_plan_is_charged_whole_and_where_it_does_not_fit_a_budget_may() -> None:
    """Nothing is inferred from runs that stop early: only the door that they passed bounds the others."""
    plan = [dp.Planned("v", dp.Laplace(2), 2, count=3)]
    for claim, path, epsilon in (("3", "single", 3), ("2", "enforced", 2), ("1/2", "single", 3)):
        upper = proof(lambda d, c: release(c, d.sum()), claim, plan=plan).upper
        assert upper is not None
        assert (upper.path, upper.epsilon) == (path, epsilon)


def test_a_plan_that_declares_too_little_is_charged_what_is_proven() -> None:
    found = proof(lambda d, c: c.release("v", 3 * d.sum(), dp.Laplace(2), sensitivity=2), plan=[("v", dp.Laplace(2), 2)])
    assert found.upper is not None
    assert (found.upper.epsilon, found.upper.path) == (3, "single")
    assert rules(found) == {"DPA003"}


def test_releases_that_only_a_plan_certifies_are_written_as_one() -> None:
    """300 releases at ε = 0.1: together 9.0 by numerical composition, 9.9 by sums of ρ. Runs that differ make no plan."""
    found = proof(lambda d, c: [release(c, d.sum(), 20) for _ in range(300)], "9.5", "1e-6")
    assert found.upper is not None
    assert found.upper.path == "observed"
    assert found.ready is not None
    assert found.ready.plan.python_code() == 'plan=[dp.Planned("v", dp.Laplace(scale="20"), "2", count=300)]'
    differs = proof(lambda d, c: [release(c, d.sum(), 20 + int(c.rng.integers(2))) for _ in range(300)], "9.5", "1e-6")
    assert differs.ready is None
    assert proof(lambda d, c: [release(c, d.sum(), 20) for _ in range(300)], "8", "1e-6").ready is None


def test_many_releases_that_look_back_are_kept_by_a_filter_of_rho() -> None:
    """Numerical composition would give 9.0, which adaptive parameters may exceed; sums of ρ keep 9.9."""
    found = {epsilon: proof(lambda d, c: many(d, c, adaptive=True), epsilon, "1e-6").upper for epsilon in ("9.5", "10.5")}
    assert all(upper is not None for upper in found.values())
    assert [(float(upper.epsilon) > 9.5, upper.path) for upper in found.values()] == [(True, "observed"), (True, "enforced")]
    assert found["10.5"].epsilon == Fraction("10.5")
    assert "zCDP" in found["10.5"].method


@pytest.mark.parametrize("operate", [np.median, lambda d: np.sort(d)[5], lambda d: np.var(d)])
def test_an_untraced_value_is_declared_and_its_place_is_named(operate: Any) -> None:
    found = proof(lambda d, c: release(c, operate(d)))
    assert found.upper is not None
    assert found.upper.sensitivity == "declared"
    assert "test_proof.py" in found.untraced
    assert rules(found) == set()


def test_pairs_without_bounds_are_declared() -> None:
    found = proof(lambda d, c: release(c, d.sum()), neighbours=[(np.zeros(3), np.ones(3))])
    assert found.upper is not None
    assert found.upper.sensitivity == "declared"


def test_a_declared_sensitivity_that_is_too_small_is_recomputed() -> None:
    found = proof(lambda d, c: c.release("v", 3 * d.sum(), dp.Laplace(2), sensitivity=2))
    assert found.upper is not None
    assert found.upper.epsilon == 3
    assert rules(found) == {"DPA003"}


LEAKS: dict[str, Any] = {
    "branch": lambda d, c: release(c, d.sum(), 2 if d.sum() > 0 else 4),
    "scale": lambda d, c: release(c, d.sum(), abs(d.sum()) + 1),
    "sensitivity": lambda d, c: c.release("v", d.sum(), dp.Laplace(2), sensitivity=abs(d.sum()) + 1),
    "cohort": lambda d, c: c.release("v", d.sum(), dp.Laplace(2), sensitivity=2, cohort=(d > 0)),
    "length of what is positive": lambda d, c: [release(c, d.sum(), 20) for _ in np.flatnonzero(d > 0)],
    "plain array": lambda d, c: release(c, np.asarray(d).sum()),
    "buffer": lambda d, c: release(c, np.add(d, 0, out=np.zeros(10)).sum()),
    "entry": lambda d, c: release(c, [0.0].__setitem__(0, float(d[0])) or 0.0),
    "returned": lambda d, c: (release(c, d.sum()), d.sum())[1],
    "returned inside": lambda d, c: {"noisy": release(c, d.sum()), "rest": [d[0]]},
    "caught": lambda d, c: _caught(d) + release(c, d.sum()),
}


def _caught(data: Any) -> float:
    try:
        return float(data[0])
    except Exception:
        return 0.0


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS.keys())
def test_data_that_leaves_beside_the_door_removes_the_bound(leak: Any) -> None:
    found = proof(lambda d, channel: leak(d, channel))
    assert rules(found) == {"DPA002"}
    assert found.upper is None


def test_an_array_that_is_changed_in_place_under_two_names_is_told_with_its_line() -> None:
    """Plain data changes under both names, sealed data under one. The twins have one name, or tell sealed data by its type."""

    def under_two_names(data: Any, channel: Any) -> Any:
        data = data.copy()
        part = data[:5]
        part += data[5:]
        return release(channel, data[:5].sum())

    def under_one_name(data: Any, channel: Any) -> Any:
        part = data[:5]
        part += data[5:]
        return release(channel, part.sum())

    told = next(finding.message for finding in proof(under_two_names).findings if finding.rule == "DPA002")
    line = under_two_names.__code__.co_firstlineno + 3
    assert f"test_proof.py:{line} changes an array in place" in told
    assert rules(proof(under_one_name)) == set()
    sniffing = proof(lambda d, c: release(c, d.sum() if type(d) is np.ndarray else d.sum() * 0))
    assert "in place" not in next(finding.message for finding in sniffing.findings if finding.rule == "DPA002")


def test_a_leak_that_numpy_reports_as_its_own_error_is_found_behind_it() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        buffer = np.zeros(3)
        buffer[0] = data[0]
        return release(channel, buffer.sum())

    assert rules(proof(mechanism)) == {"DPA002"}


def test_an_error_of_the_subject_itself_is_not_hidden() -> None:
    def broken(data: Any, channel: Any) -> Any:
        raise ZeroDivisionError("its own")

    with pytest.raises(ZeroDivisionError, match="its own"):
        proof(broken)


ADAPTIVE: dict[str, Any] = {
    "branch": lambda first, c: 4 if first > 0 else 8,
    "item": lambda first, c: 4 if first.item() > 0 else 8,
    "float": lambda first, c: 4 + abs(float(first)),
    "parameter": lambda first, c: 4 + np.abs(first),
    "list": lambda first, c: 4 + min(4.0, abs(np.ravel(first).tolist()[0])),
    "buffer": lambda first, c: 4 + min(4.0, abs(np.add(first, 0, out=np.zeros(())).item())),
    "text": lambda first, c: 4 if str(first).startswith("-") else 8,
    "public coin": lambda first, c: 4 + int(c.rng.integers(0, 5)),
}


@pytest.mark.parametrize("decide", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_a_scale_that_a_released_value_or_a_coin_decides_is_bounded_by_a_budget_only(decide: Any) -> None:
    """Its costs are not fixed in advance; behind the budget it is enforced, over budget only observed."""

    def mechanism(data: Any, channel: Any) -> Any:
        first = release(channel, data.sum(), 4, "first")
        return release(channel, data.sum(), decide(first, channel), "second")

    within, over = proof(mechanism, "1").upper, proof(mechanism, "1/2").upper
    assert within is not None
    assert over is not None
    assert within.path in {"enforced", "observed"}
    assert over.path == "observed"


def test_a_path_that_some_sealed_run_overspends_is_only_observed() -> None:
    """Each of the runs has to fit through the door: here one in two does not."""

    def mechanism(data: Any, channel: Any) -> Any:
        scale = 4 if channel.rng.integers(2) else 2
        return release(channel, data.sum(), 4, "first") + release(channel, data.sum(), scale, "second")

    paths = {prove(subject, subject.claim, seed).upper.path for subject in [_plain(mechanism)] for seed in range(12)}
    assert paths == {"enforced", "observed"}  # three runs each: all three fit with probability 1/8


def _plain(mechanism: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=TEN)(mechanism)


def test_a_look_after_the_last_release_may_lead_to_another_one_on_a_path_that_no_run_took() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        first = release(channel, data.sum(), 4, "first")
        return release(channel, data.sum(), "0.001", "rare") if first > 10**6 else first

    upper = proof(mechanism).upper
    assert upper is not None
    assert upper.path != "single"
    assert upper.epsilon == 1  # what a budget enforces, not the 1/2 of the runs that were seen


def test_disjoint_slices_compose_in_parallel_and_lying_about_cohorts_does_not_help() -> None:
    halves = proof(lambda d, c: [release(c, d[k::2].sum(), 2, f"{k}") for k in range(2)]).upper
    assert halves is not None
    assert halves.epsilon == 1

    def lying(data: Any, channel: Any) -> Any:
        return [channel.release(f"{k}", data.sum(), dp.Laplace(2), sensitivity=2, cohort=[k]) for k in range(3)]

    for neighbours in (TEN, dp.add_remove(n=10, low=-2, high=2)):
        upper = proof(lying, "3", neighbours=neighbours).upper
        assert upper is not None
        assert upper.epsilon == 3


def test_slices_of_removable_records_prove_nothing() -> None:
    upper = proof(lambda d, c: release(c, d[:5].sum()), neighbours=dp.add_remove(n=10, low=-1, high=1)).upper
    assert upper is not None
    assert upper.sensitivity == "declared"


@pytest.mark.parametrize("delta", ["1e-6", "1e-3"])
def test_gaussian_noise_is_proven_at_its_exact_epsilon(delta: str) -> None:
    unit = dp.replace_one(n=4, low=0, high=1)
    plan = [("v", dp.Gaussian(4), 1)]
    found = proof(lambda d, c: c.release("v", d.sum(), dp.Gaussian(4), sensitivity=1), "2", delta, unit, plan=plan)
    assert found.upper is not None
    assert dp.Gaussian(4).delta(found.upper.epsilon, 2**20) <= Fraction(delta)
    assert dp.Gaussian(4).delta(found.upper.epsilon - Fraction(1, 10**6), 2**20) > Fraction(delta)
    behind = proof(lambda d, c: c.release("v", d.sum(), dp.Gaussian(4), sensitivity=1), "2", delta, unit)
    assert behind.bound is not None
    assert abs(behind.bound.epsilon - found.upper.epsilon) < Fraction(1, 10**6)


def test_gaussian_noise_at_delta_zero_lacks_a_precondition() -> None:
    found = proof(lambda d, c: c.release("v", d.sum(), dp.Gaussian(4), sensitivity=2))
    assert found.upper is None
    assert rules(found) == {"DPA005"}


def test_reports_are_proven_locally_and_amplified_by_a_shuffler() -> None:
    crowd = dp.replace_one(n=3000, low=0, high=1)
    local = proof(lambda d, c: c.reports("r", d, dp.Laplace(1), sensitivity=1).sum(), neighbours=crowd)
    mixed = proof(
        lambda d, c: c.reports("r", d, dp.Laplace(1), sensitivity=1, to="shuffled").sum(), "1", "1e-6", crowd, "shuffled"
    )
    for found in (local, mixed):
        assert found.upper is not None
        assert found.upper.sensitivity == "proven"
        assert found.bound is not None
    assert local.bound is not None
    assert mixed.bound is not None
    assert local.bound.per_observer["server"] == (1, 0)
    assert mixed.bound.per_observer["shuffled"][0] < Fraction(1, 2)


def test_two_shuffled_batches_of_the_same_clients_are_proven_at_the_claims_delta_and_not_at_twice_it() -> None:
    crowd = dp.replace_one(n=3000, low=0, high=1)

    def mechanism(data: Any, channel: Any) -> Any:
        return [channel.reports(n, data, dp.Laplace(1), sensitivity=1, to="shuffled").sum() for n in "ab"]

    found = proof(mechanism, "2", "1e-6", crowd, "shuffled")
    assert found.bound is not None
    epsilon, delta = found.bound.per_observer["shuffled"]
    assert delta <= Fraction(1, 10**6)
    one = proof(lambda d, c: c.reports("a", d, dp.Laplace(1), sensitivity=1, to="shuffled").sum(), "2", "5e-7", crowd, "shuffled")
    assert one.bound is not None
    assert epsilon == 2 * one.bound.per_observer["shuffled"][0]


def test_observed_sensitivities_raise_the_bound_by_the_curve_of_the_noise() -> None:
    """Gaussian ε grows faster than the sensitivity: scaling the figure would not do."""
    unit = dp.replace_one(n=4, low=0, high=1)
    found = proof(lambda d, c: c.release("v", np.median(d) * 8, dp.Gaussian(4), sensitivity=1), "2", "1e-6", unit)
    assert found.upper is not None
    raised = found.raised({"v": Fraction(4)}, dp.Claim("2", "1e-6"))
    assert raised > 4 * found.upper.epsilon
    assert dp.Gaussian(4).delta(raised, 4 * 2**20) <= Fraction(1, 10**6)
    assert found.raised({"other": Fraction(4)}, dp.Claim("2", "1e-6")) == found.upper.epsilon


def test_a_returned_value_is_found_at_its_return_and_at_its_function_where_there_are_several() -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=TEN)
    def one(data: Any, channel: Any) -> Any:
        total = data.sum()
        return total

    @dp.subject(claim=dp.Claim("1"), neighbours=TEN)
    def several(data: Any, channel: Any) -> Any:
        if len(data) > 100:
            return 0
        return data.sum()

    @dp.subject(claim=dp.Claim("1"), neighbours=TEN)
    def late(data: Any, channel: Any) -> Any:
        yield data.sum()

    for subject, further in ((one, 3), (several, 0), (late, 0)):
        (found,) = prove(subject, subject.claim, 7).findings
        line = subject.function.__code__.co_firstlineno + further
        assert (found.rule, found.where) == ("DPA002", f"test_proof.py:{line}")
