"""The peers' figures for the same releases: a table, judged by our interval, and measured anew where the peers are installed."""

from __future__ import annotations

import importlib.metadata
import json
import math
import sys
from dataclasses import dataclass
from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.peers.comparison import INSTALL, PEERS, Figure, ask_peers, judge
from dpaudit.accountants.peers.same_releases import of_worst_client, our_enclosure
from dpaudit.claims import Enclosure
from dpaudit.ledger import Cohort, Release
from dpaudit.noise import GRID, Noise

STEPS = int(1 / GRID)
VERSIONS = {"opacus": "1.6.0", "dp-accounting": "0.6.0"}


@dataclass(frozen=True)
class Row:
    """So many releases at δ, and what each peer said about them (None: nothing)."""

    noise: Noise
    count: int
    delta: str
    said: dict[str, float | None]
    wrong: tuple[str, ...] = ()  # figures below what an attack attains, or below 0

    @property
    def releases(self) -> list[Release]:
        return [Release(
            name="r", mechanism=self.noise.name, parameters=self.noise.parameters(), sensitivity=Fraction(1),
        )] * self.count  # fmt: skip


TABLE = [
    Row(dp.Laplace(10), 100, "1e-6", {"dp-accounting PLD": 4.692667439374105, "dp-accounting RDP": 4.984173965049364}),
    Row(dp.Laplace(2), 1, "1e-6", {"dp-accounting PLD": 0.499998000048, "dp-accounting RDP": 0.505075140188}),
    Row(dp.Gaussian(10), 100, "1e-6", {
        "opacus RDP": 5.2215396311544175, "opacus GDP": 4.90048965869727, "opacus PRV": 4.896766039332613,
        "dp-accounting PLD": 4.8865541243770325, "dp-accounting RDP": 5.2215396311544175,
    }),
    # three bits of ε = 1: this accountant forgets the count of randomised responses
    Row(dp.RandomizedResponse(1), 3, "1e-6", {"dp-accounting PLD": 0.9999985640869, "dp-accounting RDP": 3.004834},
        wrong=("dp-accounting PLD",)),
    # at so large a δ the least ε is 0
    Row(dp.Gaussian(50), 1, "0.1", {
        "opacus RDP": -0.10337490199719282, "opacus GDP": None, "opacus PRV": -0.09525012296546564,
        "dp-accounting PLD": 0.0, "dp-accounting RDP": 0.0,
    }, wrong=("opacus RDP", "opacus PRV")),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.noise.name}-{row.count}")
def test_the_table_agrees_with_our_interval_but_for_known_mistakes_of_peers(row: Row) -> None:
    same = of_worst_client(row.releases, Fraction(row.delta))
    ours = our_enclosure(same, Fraction(row.delta))
    assert ours.upper - ours.lower <= ours.upper / 10_000
    for name, value in row.said.items():
        if value is None:
            continue
        peer, method = name.split()
        figure, finding = judge(Figure(peer, method, VERSIONS[peer], value), ours, same.pure)
        assert figure.agrees == (name not in row.wrong)
        assert (finding is not None) == (name in row.wrong)
        assert finding is None or (finding.rule, finding.where) == ("DPA004", name)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.noise.name}-{row.count}")
def test_the_table_is_what_installed_peers_say(row: Row) -> None:
    same = of_worst_client(row.releases, Fraction(row.delta))
    ours = our_enclosure(same, Fraction(row.delta))
    figures, findings = ask_peers(same.parts, Fraction(row.delta), ours, same.pure)
    for figure in figures:
        name = f"{figure.peer} {figure.method}"
        if figure.version != VERSIONS[figure.peer]:
            assert figure.version is not None or INSTALL in figure.note
            continue
        said = row.said.get(name)
        assert (figure.epsilon is None) == (said is None), figure
        if said is None or figure.epsilon is None:
            assert figure.note.startswith(("cannot express", "raised"))
            continue
        assert figure.epsilon == pytest.approx(said, rel=1e-5, abs=1e-9)
        assert figure.seconds is not None
        assert figure.seconds > 0
    measured = {f"{f.peer} {f.method}" for f in figures if f.version == VERSIONS[f.peer]}
    assert {finding.where for finding in findings} == set(row.wrong) & measured
    json.dumps([figure.to_dict() for figure in figures], allow_nan=False)


def test_a_peer_that_is_not_installed_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("opacus", "dp_accounting"):
        monkeypatch.setitem(sys.modules, module, None)  # Python's own way to make an import fail
    figures, findings = ask_peers(
        [Part(dp.Gaussian(10), STEPS, 3)], Fraction(1, 10**6), Enclosure(Fraction(0), Fraction(1)), None
    )
    assert not findings
    assert [(f.peer, f.method) for f in figures] == [(peer.name, method) for peer in PEERS for method in peer.methods]
    assert all(f.epsilon is None and f.agrees is None and f.version is None and INSTALL in f.note for f in figures)
    assert "peers" in importlib.metadata.metadata("dpaudit").get_all("Provides-Extra", [])


def test_judged_by_a_wrong_interval_every_peer_would_be_wrong() -> None:
    """The twin: an interval 1 % too high turns honest figures into findings; 1e-7 too high is the peers' own rounding."""
    honest = Figure("dp-accounting", "PLD", "0.6.0", 4.692667439374105)
    for shift, found in ((1.0, False), (1 + 1e-7, False), (1.01, True)):
        middle = Fraction(4.692667417 * shift)
        assert (judge(honest, Enclosure(middle, middle), None)[1] is not None) == found


def test_figures_above_ours_say_by_how_much_and_above_the_pure_sum_so() -> None:
    ours = Enclosure(Fraction(1), Fraction(1))
    assert judge(Figure("p", "m", "1", 1.0114), ours, Fraction(1))[0].note == "above the pure sum 1"
    assert judge(Figure("p", "m", "1", 1.05), ours, Fraction(2))[0].note == "5 % above ours"
    assert judge(Figure("p", "m", "1", 40.0), ours, None)[0].note == "40 times ours"
    assert judge(Figure("p", "m", "1", 1.0), ours, None)[0].note == ""


def test_only_the_releases_of_the_worst_client_are_compared() -> None:
    noise = dp.Laplace(2)
    parts = [(range(0, 5), 1), (range(5, 9), 1), (range(7, 9), 3)]
    releases = [
        Release(name="r", mechanism="laplace", parameters=noise.parameters(), sensitivity=Fraction(size), cohort=Cohort.of(who))
        for who, size in parts
    ]
    same = of_worst_client(releases, Fraction(0))
    assert sorted((part.steps // STEPS, part.count) for part in same.parts) == [(1, 1), (3, 1)]
    assert same.pure == 2
    assert "disjoint cohorts" in same.features
    assert "client 7" in same.described


def test_a_shuffled_batch_is_beyond_all_peers() -> None:
    noise = dp.Laplace(1)
    batch = Release(
        name="b",
        mechanism="laplace",
        parameters=noise.parameters(),
        sensitivity=Fraction(2),
        kind="shuffled",
        n=1000,
        to="shuffled",
    )
    delta = Fraction(1, 10**6)
    same = of_worst_client([batch], delta)
    ours = our_enclosure(same, delta)
    assert 0 < ours.lower <= ours.upper < 2
    figures, _ = ask_peers(same.parts, delta, ours, same.pure)
    assert {figure.epsilon for figure in figures} == {None}
    assert all("shuffled" in figure.note for figure in figures if figure.version)
    assert "shuffled batches" in same.features


def test_too_much_for_a_peers_memory_is_not_tried() -> None:
    many = [Part(dp.Laplace(1), STEPS, 10**6)]
    figures, _ = ask_peers(many, Fraction(1, 10**6), Enclosure(Fraction(0), Fraction(10**6)), None)
    exact = next(figure for figure in figures if figure.method == "PLD")
    assert exact.version is None or "memory" in exact.note
    assert all(figure.epsilon is None or math.isfinite(figure.epsilon) for figure in figures)
