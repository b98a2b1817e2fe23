"""What a worker's figures were made from, as plain data: the gate makes them again from this, where no subject has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.auditors.games.guess_bounds import Form, Guesses
from dpaudit.auditors.games.guessing_game import Counted, Outcome
from dpaudit.claims import Upper, show
from dpaudit.ledger import Release
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.verdict.examination import Examination

Run = Sequence[int]  # places of its releases in the list of all


@dataclass(frozen=True)
class Evidence:
    """Of a subject: what each sealed run released, what its plan fixes, the upper bound as stated, and what the attack showed."""

    grey: bool
    releases: Sequence[Release]
    runs: Sequence[Run]
    planned: Run | None
    upper: Upper | None
    refuted: bool
    interrupted: bool
    exact: Fraction | None
    level: float
    games: Sequence[Outcome]


def evidence_of(examination: Examination, *, grey: bool) -> dict[str, Any]:
    """As JSON: each release once, without the values that the audit drew for it."""
    proof, attack, upper = examination.proof, examination.attack, examination.verdict.upper
    places: dict[bytes, int] = {}
    texts: list[dict[str, Any]] = []

    def placed(releases: Sequence[Release]) -> list[int]:
        found = []
        for release in releases:
            text = replace(release, values=None).to_json()
            key = canonical(text)
            if key not in places:
                places[key] = len(texts)
                texts.append(text)
            found.append(places[key])
        return found

    runs, planned = [placed(run) for run in proof.runs], None if proof.planned is None else placed(proof.planned)
    return {
        "grey": grey, "releases": texts, "runs": runs, "planned": planned, "upper": None if upper is None else upper.to_dict(),
        "refuted": attack.refuted, "interrupted": attack.interrupted, "level": float(attack.level),
        "exact": None if attack.exact is None else show(attack.exact), "games": [_game(game) for game in attack.played],
    }  # fmt: skip


def read_evidence(written: Mapping[str, Any]) -> Evidence:
    """Raises DpauditError, ValueError, TypeError, KeyError or IndexError for what ``evidence_of`` does not write."""
    releases = [Release.from_json(text) for text in written["releases"]]
    told, planned = written["upper"], written["planned"]
    upper = None
    if told is not None:
        upper = Upper(Fraction(told["epsilon"]), str(told["method"]), told["sensitivity"], told["path"])
        if upper.sensitivity not in ("proven", "tested", "declared") or upper.path not in ("enforced", "single", "observed"):
            raise ValueError("an upper bound of an unknown kind")
    flags = [written[key] for key in ("grey", "refuted", "interrupted")]
    if not all(type(flag) is bool for flag in flags):
        raise TypeError("a flag that is none")
    runs, plan = [_run(run, releases) for run in written["runs"]], None if planned is None else _run(planned, releases)
    exact, games = written["exact"], [_read_game(game) for game in written["games"]]
    return Evidence(
        flags[0], releases, runs, plan, upper, flags[1], flags[2], None if exact is None else Fraction(exact),
        float(written["level"]), games,
    )  # fmt: skip


def _run(places: Sequence[int], releases: Sequence[Release]) -> Run:
    if not all(type(place) is int and 0 <= place < len(releases) for place in places):
        raise IndexError("a release that is not listed")
    return tuple(places)


def _game(game: Outcome) -> dict[str, Any]:
    counted = [
        [one.guesses.right, one.guesses.wrong, one.guesses.n, one.guesses.sides, one.form.name, one.form.share, one.share]
        for one in game.counted
    ]
    return {"counted": counted, "alpha": game.alpha, "delta": game.delta}


def _read_game(game: Mapping[str, Any]) -> Outcome:
    counted = tuple(
        Counted(Guesses(int(right), int(wrong), int(n), int(sides)), Form(str(form), float(share)), float(part))
        for right, wrong, n, sides, form, share, part in game["counted"]
    )
    if not counted:
        raise ValueError("a game without guesses")
    return Outcome(counted, float(game["alpha"]), float(game["delta"]))
