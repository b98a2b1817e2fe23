"""Claims name the papers that they are of."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from dpaudit import entry_points
from dpaudit.papers.checks import GROUP, Decided
from dpaudit.papers.titles import paper_titles


def decided(module: str) -> Decided:
    return Decided("a.b", "Theorem 1", "a statement", "verified", {"summary": "s"}, None, {module: "digest"})


def test_claims_of_the_shipped_papers_name_their_titles() -> None:
    bandits = decided("proofs_checks.linear_bandits.theorems.central_privacy")
    variants = decided("proofs_checks.sparse_vector.privacy")
    assert paper_titles([bandits, bandits]) == ["Differentially Private Stochastic Linear Bandits: (Almost) for Free"]
    assert len(paper_titles([variants, bandits])) == 2
    assert paper_titles([decided("proofs_checks.shared.ratings")]) == []


@pytest.mark.parametrize(("title", "shown"), [("My paper", "My paper"), (None, "mine"), ("two\nlines", "mine"), (7, "mine")])
def test_a_paper_without_a_title_goes_by_its_name(title: object, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("mine")
    if title is not None:
        module.TITLE = title  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", module)
    monkeypatch.setattr(entry_points, "points", lambda group: [EntryPoint("mine", "mine:checks", GROUP)])
    assert paper_titles([decided("mine")]) == [shown]


def test_a_paper_that_no_longer_loads_goes_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_points, "points", lambda group: [EntryPoint("gone", "no_such_module:checks", GROUP)])
    assert paper_titles([decided("no_such_module")]) == ["gone"]
