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


def reached(graph: dict[str, set[str]], name: str) -> set[str]:
    return set().union(*({need, *reached(graph, need)} for need in graph[name]))


def unproven_needs(bases: dict[str, str | None], graph: dict[str, set[str]], stated: frozenset[str]) -> set[tuple[str, str]]:
    """What a proven correction of ours rests on that is not proven itself; ``stated``: conditions that it states."""
    proven = [name for name in graph if name.startswith("fix.") and bases[name] == "proven"]
    return {(name, need) for name in proven for need in graph[name] if bases[need] != "proven" and need not in stated}


def test_a_proven_repair_rests_on_proven_claims_only() -> None:
    bases = {check.id: check.basis for check in linear()}
    graph = {check.id: set(check.needs) for check in linear()}
    stated = frozenset({"thm3.reduction"})  # fix.theorem3 is claimed for who sees what the shuffler hands on
    assert unproven_needs(bases, graph, stated) == set()
    assert ("fix.theorem1", "fix.span") in unproven_needs({**bases, "fix.span": "range"}, graph, stated)  # the twin
    assert unproven_needs(bases, graph, frozenset()) == {("fix.theorem3", "thm3.reduction")}


@pytest.mark.parametrize("theorem", ["thm1.regret", "thm2.regret", "thm3.regret"])
def test_every_regret_theorem_reaches_the_lemmas_of_its_proof(theorem) -> None:
    graph = {check.id: set(check.needs) for check in linear()}
    lemmas = {"lemma-net.size", "lemma-net.spans", "lemma-core.leverage", "lemma-laplace.mgf-step", "alg.q-range", "alg.horizon"}
    assert lemmas <= reached(graph, theorem)
    assert reached(graph, "fix.theorem1") >= {"fix.noise", "fix.laplace-sum", "fix.batches", "lemma-net.size"}


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
