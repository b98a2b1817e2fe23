"""Every check of every paper is rated, and needs only claims that exist, without a circle."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.catalogue import checks as linear
from proofs_checks.optimistic_bandit.catalogue import checks as optimistic
from proofs_checks.shared.ratings import Rating, rated

PLAIN = Check("a.b", "here", "it holds", lambda quick: Decision("verified", {"summary": "s"}))


@pytest.mark.parametrize("paper", [linear, optimistic])
def test_needs_are_claims_of_the_paper_and_no_circle(paper) -> None:
    graph = {check.id: set(check.needs) for check in paper()}
    assert set().union(*graph.values()) <= set(graph)
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(graph)
    with pytest.raises(CycleError):  # the twin
        list(TopologicalSorter({**graph, order[0]: {order[-1]}, order[-1]: {order[0]}}).static_order())


@pytest.mark.parametrize("paper", [linear, optimistic])
def test_every_check_has_a_severity_if_it_fails_and_a_basis_if_it_holds(paper) -> None:
    assert all(check.severity != "none" and check.basis is not None for check in paper())


def test_a_check_without_a_rating_and_a_rating_without_a_check_are_refused() -> None:
    assert rated([PLAIN], {"a.b": Rating("slip", "range", ("a.c",))})[0].severity == "slip"
    with pytest.raises(KeyError):
        rated([PLAIN], {})
    with pytest.raises(KeyError, match=r"a\.z"):
        rated([PLAIN], {"a.b": Rating(), "a.z": Rating()})


def test_the_same_guarantee_has_the_same_severity_wherever_it_is_printed() -> None:
    ratings = {check.id: check.severity for check in linear()}
    assert ratings["table1.central"] == ratings["thm1.privacy"] == "fatal"
    assert ratings["table1.local"] == ratings["thm2.privacy"] == "fatal"
    assert ratings["alg1.elimination"] == ratings["alg3.elimination"] == "slip"
