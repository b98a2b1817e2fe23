"""Accounting: per record, per observer, per batch, against sums done by hand and by brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accountants import Part, compose
from dpaudit.accountants.composition import account_releases
from dpaudit.channel.release_cost import gaussian_epsilon, rho, zcdp_delta
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, MemoryLedger, Release

DELTA = Fraction(1, 10**6)
STEP = 2**20


def release(noise: Any, cohort: Any = None, steps: int = STEP, kind: str = "release", n: int = 1, **more: Any) -> Release:
    return Release(
        name=more.pop("name", "v"), mechanism=noise.name, parameters=noise.parameters(), sensitivity=Fraction(steps, STEP),
        epsilon=noise.epsilon(steps), cohort=Cohort.of(cohort), kind=kind, n=n, steps=steps, **more,
    )  # fmt: skip


def shuffled(n: int, cohort: Any = None, scale: Any = 1) -> Release:
    return release(dp.Laplace(scale), cohort, kind="shuffled", n=n, to="shuffled")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.integers(1, 9)), max_size=8))
@settings(deadline=None)
def test_pure_costs_add_up_per_record_and_the_worst_record_counts(parts: Any) -> None:
    """The independent route: every record's own sum."""
    releases = [release(dp.Laplace(scale), range(start, start + size)) for start, size, scale in parts]
    spent = [sum(Fraction(1, scale) for start, size, scale in parts if start <= r < start + size) for r in range(20)]
    bound = account_releases(releases, Fraction(0))
    assert bound.epsilon == max(spent)
    assert bound.delta == 0
    touched = [sum(start <= r < start + size for start, size, _ in parts) for r in range(20)]
    worst = bound.worst_client["client"]
    assert (worst is None) == (not parts)
    if worst is not None:
        assert spent[worst] == max(spent)
        assert bound.worst_client["releases"] == touched[worst]


def test_many_releases_cost_less_than_their_sum_and_least_where_parameters_were_fixed() -> None:
    releases = [release(dp.Laplace(10))] * 500
    safe = account_releases(releases, DELTA)
    fixed = account_releases(releases, DELTA, fixed=True)
    assert fixed.epsilon == compose([Part(dp.Laplace(10), STEP, 500)], DELTA).upper < safe.epsilon < 50
    assert "numerical" in fixed.method
    assert not fixed.notes
    assert "zCDP" in safe.method
    assert ["numerical composition refused" in note for note in safe.notes] == [True, False]
    assert ["set in advance" in note for note in safe.notes] == [False, True]
    assert account_releases(releases, Fraction(0), fixed=True).epsilon == 50
    assert not account_releases(releases[:1], DELTA).notes


def test_each_record_is_charged_for_what_touches_it_alone() -> None:
    """Half of the releases about each half of the records, and one about everybody."""
    halves = [release(dp.Laplace(10), range(100 * (k % 2), 100 * (k % 2) + 100)) for k in range(400)]
    together = account_releases([*halves, release(dp.Gaussian(20))], DELTA, fixed=True)
    parts = [Part(dp.Laplace(10), STEP, 200), Part(dp.Gaussian(20), STEP)]
    assert together.epsilon == compose(parts, DELTA).upper
    assert together.epsilon < account_releases([release(dp.Laplace(10))] * 400, DELTA, fixed=True).epsilon


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.sampled_from([4, 9, 20])), min_size=1, max_size=25))
@settings(deadline=None, max_examples=25)
def test_fixed_is_never_above_adaptive_and_that_never_above_the_sum(parts: Any) -> None:
    releases = [release(dp.Laplace(scale), range(start, start + size)) for start, size, scale in parts]
    pure, safe, fixed = (
        account_releases(releases, Fraction(0)), account_releases(releases, Fraction(1, 100)),
        account_releases(releases, Fraction(1, 100), fixed=True),
    )  # fmt: skip
    assert 0 <= fixed.epsilon <= safe.epsilon <= pure.epsilon


def test_gaussian_charges_that_were_never_used_still_count() -> None:
    """Their ε is not known without δ; their facts are."""
    ledger = MemoryLedger()
    with dp.simulate(1, ledger=ledger) as channel:
        channel.release("g", 0.0, dp.Gaussian(8), sensitivity=1)
    ledger.charge(next(iter(ledger.releases())).charge())
    assert dp.account(ledger, delta="1e-6").epsilon == account_releases([release(dp.Gaussian(8))] * 2, DELTA).epsilon


def test_nothing_released_costs_nothing() -> None:
    assert account_releases([], DELTA).epsilon == 0


def test_gaussian_releases_of_the_same_records_add_up_their_rho() -> None:
    noise = dp.Gaussian(8)
    bound = account_releases([release(noise)] * 4, DELTA)
    total = 4 * rho(noise, STEP)
    assert bound.delta == DELTA
    assert zcdp_delta(total, bound.epsilon) <= DELTA < zcdp_delta(total, bound.epsilon - Fraction(1, 10**6))
    one, two = (account_releases([release(noise)] * k, DELTA).epsilon for k in (1, 2))
    assert one < two < bound.epsilon < 4 * one


def test_gaussian_releases_of_disjoint_records_cost_one_of_them() -> None:
    noise = dp.Gaussian(8)
    parts = [release(noise, range(10 * k, 10 * k + 10)) for k in range(5)]
    assert account_releases(parts, DELTA).epsilon == gaussian_epsilon(noise, STEP, DELTA)
    bridge = release(noise, range(5, 15))
    assert account_releases([*parts, bridge], DELTA).epsilon > gaussian_epsilon(noise, STEP, DELTA)


def test_gaussian_noise_without_delta_is_refused() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        account_releases([release(dp.Gaussian(8))], Fraction(0))


def test_pure_and_gaussian_costs_add_up() -> None:
    both = account_releases([release(dp.Laplace(4)), release(dp.Gaussian(8))], DELTA)
    assert both.epsilon == Fraction(1, 4) + gaussian_epsilon(dp.Gaussian(8), STEP, DELTA)


def test_a_shuffled_batch_costs_less_than_a_report_and_more_clients_cost_less() -> None:
    bounds = [account_releases([shuffled(n)], DELTA) for n in (100, 10_000, 1_000_000)]
    figures = [bound.per_observer["shuffled"] for bound in bounds]
    assert [delta for _, delta in figures] == [DELTA] * 3
    assert 1 >= figures[0][0] > figures[1][0] > figures[2][0] > 0
    assert account_releases([shuffled(10_000)], Fraction(0)).epsilon == 1


@pytest.mark.parametrize("batches", [2, 5])
def test_batches_of_the_same_clients_share_the_delta(batches: int) -> None:
    """Each at the whole δ would be (Σε, kδ): more than was asked for."""
    apart = account_releases([shuffled(10_000, range(k * 10_000, (k + 1) * 10_000)) for k in range(batches)], DELTA)
    together = account_releases([shuffled(10_000)] * batches, DELTA)
    one = account_releases([shuffled(10_000)], DELTA / batches)
    assert apart.delta == together.delta == DELTA
    assert together.epsilon == batches * one.epsilon
    assert apart.epsilon == account_releases([shuffled(10_000)], DELTA).epsilon


def test_shuffled_and_gaussian_releases_share_the_delta_too() -> None:
    bound = account_releases([shuffled(10_000), release(dp.Gaussian(8))], DELTA)
    assert bound.delta == DELTA
    half = DELTA / 2
    expected = account_releases([shuffled(10_000)], half).epsilon + gaussian_epsilon(dp.Gaussian(8), STEP, half)
    assert bound.epsilon == expected


def test_charges_that_were_never_used_still_count(tmp_path: Path) -> None:
    """A crash between charge and release: the noise may have been seen."""
    ledger = dp.open_ledger(tmp_path / "a.ledger")

    def crash() -> None:
        with dp.live(ledger) as channel:
            channel.release("good", 0.0, dp.Laplace(2), sensitivity=2)
            charge = next(iter(ledger.releases())).charge()
            with ledger.charge(charge):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crash()
    assert dp.account(ledger).epsilon == 2


def test_a_derived_sensitivity_above_the_declared_one_is_named() -> None:
    noise = dp.Laplace(2)
    short = Release(
        name="short", mechanism=noise.name, parameters=noise.parameters(), sensitivity=Fraction(1), derived=Fraction(2),
        epsilon=Fraction(1), steps=2 * STEP,
    )  # fmt: skip
    bound = account_releases([short], Fraction(0))
    assert bound.epsilon == 1
    assert [finding.rule for finding in bound.findings] == ["DPA003"]


def test_releases_that_somebody_wrote_down_are_accounted_from_their_sensitivity() -> None:
    noise = dp.Laplace(2)
    plain = Release(name="v", mechanism="laplace", parameters=noise.parameters(), sensitivity=Fraction(2), epsilon=None)
    assert dp.account([plain, plain]).epsilon == 2


def test_delta_is_the_one_asked_for_else_the_budgets_else_a_millionth_where_one_is_needed(tmp_path: Path) -> None:
    ledger = dp.open_ledger(tmp_path / "a.ledger")
    with dp.live(ledger, budget=("9", "1e-9")) as channel:
        channel.release("v", 0.0, dp.Gaussian(4), sensitivity=1)
    assert dp.account(ledger).delta == Fraction(1, 10**9)
    assert dp.account(ledger, delta="1e-3").delta == Fraction(1, 1000)
    assert dp.account([release(dp.Gaussian(4))]).delta == DELTA
    assert dp.account([release(dp.Laplace(4))]).delta == 0


def test_every_line_names_its_theorem_and_what_it_rests_on() -> None:
    lines = account_releases([release(dp.Laplace(2)), release(dp.Gaussian(8)), shuffled(10_000)], DELTA).lines
    assert all(line.theorem and line.preconditions for line in lines)
    assert [line.n for line in lines] == [1, 1, 10_000]
    (several,) = account_releases([replace(shuffled(10_000), count=5)], DELTA).lines
    assert several.theorem.startswith("5 × Laplace mechanism (Dwork et al. 2006), shuffled: privacy blanket")
    assert "n honest clients, one report each" in several.preconditions


def test_a_shuffled_report_hides_among_no_more_clients_than_its_cohort_names() -> None:
    """n = 10^4 reports of a cohort of ten: whoever they are from, ten clients are known, and at least one sent many of them."""
    named = account_releases([shuffled(10_000, range(10))], DELTA)
    assert named.epsilon == account_releases([shuffled(10, range(10))], DELTA).epsilon > Fraction(99, 100)
    assert "hidden among the 10 clients of its cohort" in named.lines[0].preconditions
    whole = account_releases([shuffled(10_000, range(10_000))], DELTA)  # the twin: as many clients as reports
    assert whole.epsilon == account_releases([shuffled(10_000)], DELTA).epsilon < Fraction(4, 100)
    assert "hidden among" not in whole.lines[0].preconditions


def test_a_shuffled_report_hides_among_no_more_than_were_sent() -> None:
    stated = release(dp.Laplace(1), kind="shuffled", n=2, to="shuffled", crowd=10**6)
    assert account_releases([stated], DELTA).epsilon == account_releases([shuffled(2)], DELTA).epsilon > Fraction(99, 100)


def test_tags_whose_secrecy_nobody_stated_are_public() -> None:
    """Two of 10^4 reports carry a tag of their own: they hide each other, unless a door says that tags were dealt in secret."""
    tagged = release(dp.Laplace(1), kind="shuffled", n=10_000, to="shuffled", tags={"0": 2, "1": 9_998})
    assert account_releases([tagged], DELTA).epsilon == account_releases([shuffled(2)], DELTA).epsilon
    dealt = replace(tagged, crowd=10_000)  # the twin
    assert account_releases([dealt], DELTA).per_observer["shuffled"][0] < Fraction(4, 100)


def test_gaussian_reports_are_not_said_to_be_amplified() -> None:
    batch = {"mechanism": "gaussian", "sigma": "4", "sensitivity": "1", "to": "shuffled", "n": 1000}
    assert "amplification" not in dp.account([batch], delta="1e-6").method
    laplace = {"mechanism": "laplace", "scale": "1", "sensitivity": "1", "to": "shuffled", "n": 1000}
    assert "amplification" in dp.account([laplace], delta="1e-6").method


@pytest.mark.parametrize("count", [1, 3])
def test_a_written_batch_above_its_cohort_is_amplified_among_the_cohort(count: int) -> None:
    batch = {"mechanism": "laplace", "scale": "1", "sensitivity": "1", "to": "shuffled", "n": 10_000, "count": count}
    above = dp.account([{**batch, "cohort": [[0, 1]]}], delta="1e-6").epsilon
    assert above > Fraction(99, 100) * count
    assert above > 5 * dp.account([{**batch, "cohort": [[0, 10_000]]}], delta="1e-6").epsilon


def test_who_sees_only_what_sums_decide_sees_the_noise_of_every_report_in_the_sum() -> None:
    def batch(read: str | None, first: int) -> Release:
        parameters = {"scale": "2", "grid": "1/1048576"}
        return Release(
            name=f"batch {first}", mechanism="laplace", sensitivity=Fraction(2), parameters=parameters, epsilon=Fraction(1),
            kind="reports", n=1000, tags={"0": 100, "1": 900}, cohort=Cohort.of(range(first, first + 1000)), read=read,
        )  # fmt: skip

    sums = "sums"
    seen = dp.account([batch(sums, 0), batch(sums, 1000)], delta="1e-6").per_observer
    assert seen["server"] == (1, 0)
    assert seen["actions"][0] < Fraction(261, 1000)  # the smallest group has 100 reports
    assert dp.account([batch(None, 0)], delta="1e-6").per_observer["actions"][0] == 1  # twin: reports may be read one by one
    assert dp.account([batch(sums, 0)], delta="0").per_observer["actions"] == (1, 0)
    twice = dp.account([batch(sums, 0), batch(sums, 500)], delta="1e-6").per_observer["actions"]
    assert seen["actions"][0] < twice[0] < 1  # a client in both: the two add up, and share δ
    assert twice[1] <= Fraction(1, 10**6)
