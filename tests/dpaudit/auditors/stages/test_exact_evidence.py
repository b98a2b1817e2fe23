"""Exact evidence: found by search where the listed pairs show nothing, and told in its smallest form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.interface import Attack, Case
from dpaudit.auditors.stages.exact_evidence import search_events, search_transcripts
from dpaudit.claims import Lower

CLAIM = dp.Claim("1")


def evidence(function: Any, neighbours: Any, claim: Any = CLAIM, *, search: bool = True) -> Any:
    subject = dp.subject(claim=claim, neighbours=neighbours)(function)
    case = Case(subject, claim, 0.95, 400, 1, search=search)
    return (search_events if claim.delta else search_transcripts)(case, Attack(Lower(0.0, 1.0, "", 0)))


def median(data: Any, channel: Any) -> Any:
    """Declares the sensitivity of a mean: one record moves the median of a split crowd by the whole range."""
    return channel.release("median", float(np.median(data)), dp.Laplace("1/4"), sensitivity="1/4")


@pytest.mark.parametrize("claim", [CLAIM, dp.Claim("1", "1e-6")])
def test_a_search_finds_the_crowd_that_the_listed_pairs_do_not_hold(claim: Any) -> None:
    relation = dp.replace_one(n=21, low=-1, high=1)
    listed, searched = (evidence(median, relation, claim, search=search).witness for search in (False, True))
    assert listed is None or listed.epsilon <= 1
    assert searched is not None
    assert searched.epsilon > 3.9
    assert relation.related(*(_records(searched.facts["pair"][side]) for side in ("data", "neighbour")))


def _records(sparse: Any) -> np.ndarray:
    records = np.full(sparse["records"], sparse["value"])
    for place, value in sparse["except"].items():
        records[int(place)] = value
    return records


def test_an_honest_median_is_not_refuted_by_any_search() -> None:
    def honest(data: Any, channel: Any) -> Any:
        return channel.release("median", float(np.median(data)), dp.Laplace(2), sensitivity=2)

    witness = evidence(honest, dp.replace_one(n=21, low=-1, high=1)).witness
    assert witness is not None
    assert witness.epsilon <= 1


def test_a_strategy_is_searched_and_shrunk_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = st.lists(st.integers(0, 5), min_size=3, max_size=9).map(lambda r: (np.array(r), np.array([*r[:-1], 0])))

    def counts_large(data: Any, channel: Any) -> Any:
        return channel.release("v", float(data.sum() if (data[:-1] > 3).any() else 0), dp.Laplace(4), sensitivity=4)

    witness = evidence(counts_large, pairs).witness
    assert witness is not None
    assert witness.epsilon > 1
    longest = max(witness.facts["data"], witness.facts["neighbour"], key=sum)
    assert len(longest) == 3  # nothing that the refutation does not need
    assert list(tmp_path.iterdir()) == []


def test_interactive_subjects_are_pinned_too() -> None:
    """The second query depends on the first answer; both are about the same record."""

    def interactive(data: Any, channel: Any) -> Any:
        first = channel.release("first", data.sum(), dp.Laplace(2), sensitivity=1)
        half = data[: len(data) // 2] if first > 0 else data[len(data) // 2 :]
        return channel.release("second", half.sum(), dp.Laplace(1), sensitivity=1)

    witness = evidence(interactive, dp.replace_one(n=6, low=0, high=1)).witness
    assert witness is not None
    assert witness.facts["loss"] == "1.5"
    assert [moved["release"] for moved in witness.facts["moved"]] == ["first", "second"]
