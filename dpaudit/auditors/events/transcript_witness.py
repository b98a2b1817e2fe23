"""Transcript witnesses: for an observer of the whole joint view, one transcript of positive probability whose loss exceeds ε.

A transcript without noise, each output equal to what the data asks, is the likeliest of its path; and for Laplace noise and
randomised response no other transcript of that path has a larger loss. So it is looked at first. The first k outputs of a
transcript are an event of that observer too, so what comes after the largest loss is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.replay.pinned_runs import Replayed, replay_first
from dpaudit.auditors.wording import describe
from dpaudit.channel import Event, simulate
from dpaudit.claims import Claim, float_down, show
from dpaudit.claims.balls import decimal
from dpaudit.claims.decimals import at_least, at_most
from dpaudit.noise import from_units
from dpaudit.noise.mechanism import LARGEST
from dpaudit.subjects.subject import Subject, fresh

Bounds = tuple[Fraction, Fraction]
Chosen = Mapping[int, np.ndarray]  # outputs in units, by the release's position; all others equal what the data asks
DIGITS = 15  # of a loss that is not rational
SHOWN = 8  # releases that a witness shows to people
TRIES = 50  # outputs of a drawn transcript that are replaced by what the data asks, one by one, to make it simpler


@dataclass(frozen=True)
class Witness:
    """Evidence with its exact figure: ε of the transcript or event, rounded down where irrational."""

    epsilon: Fraction
    method: str
    facts: dict[str, Any]
    swapped: bool = False  # found on (data', data), not (data, data')
    tested: Fraction | None = None  # the ε that draws confirm, where the figure rests on a structure that is not proven

    @property
    def shown(self) -> Fraction:
        """The ε that it shows beyond doubt."""
        return self.epsilon if self.tested is None else self.tested


def _loss(epsilon: Fraction, figure: str) -> str:
    """Exactly, where that is short; else rounded down, as every lower bound."""
    exact = show(epsilon)
    return f"{exact}, exactly" if len(exact) <= 12 else f"at least {figure}"


def why(witness: Witness, claim: Claim) -> str:
    """One sentence for a person."""
    figure, allowed = at_least(float_down(witness.epsilon), claim.epsilon), at_most(claim.epsilon)
    if witness.facts["kind"] == "transcript":
        loss = _loss(witness.epsilon, figure)
        return f"one record changed: a transcript of positive probability has loss {loss}; the claim allows {allowed}"
    if witness.tested is not None:
        return (
            f"the event “{witness.facts['event']}” has probabilities {float(witness.facts['probability']):.4g} and "
            f"{float(witness.facts['other_probability']):.4g}, so ε is about {figure}, and at least "
            f"{at_least(float_down(witness.shown), claim.epsilon)} for all that {witness.facts['draws']:,} runs "
            f"on each side show; the claim allows {allowed}"
        )
    where = f" in {witness.facts['batch']} of {witness.facts['n']} reports" if "batch" in witness.facts else ""
    return (
        f"the event “{witness.facts['event']}”{where} has exact probabilities that need ε ≥ {figure}; the claim allows {allowed}"
    )


@dataclass(frozen=True)
class TranscriptLoss:
    """The first releases of a transcript on some data, and its exact loss against the neighbour."""

    played: Replayed
    chosen: Chosen
    releases: int
    loss: Fraction
    rounded: bool = False  # towards 0: it is not rational


def transcript_witness(
    subject: Subject, claim: Claim, data: Any, other: Any, drawn: Sequence[Replayed], seed: int
) -> Witness | None:
    """The transcript of largest loss: without noise on either data set, or among the runs on ``data`` that were drawn."""
    best: TranscriptLoss | None = None
    swapped = False
    for turned, (first, second) in ((False, (data, other)), (True, (other, data))):
        for candidate in _without_noise(subject, claim, first, second, seed):
            if best is None or abs(candidate.loss) > abs(best.loss):
                best, swapped = candidate, turned
    for one in drawn:
        again = _drawn_loss(subject, data, other, one)
        if again is not None and (best is None or abs(again.loss) > abs(best.loss)):
            best, swapped = simplified(subject, data, other, again, claim.epsilon), False
    if best is None or best.loss == 0:
        return None
    pair = (other, data) if swapped else (data, other)
    return Witness(abs(best.loss), "exact replay", transcript_facts(best, pair, claim), swapped)


def transcript_loss(
    subject: Subject, data: Any, other: Any, chosen: Chosen, seed: int, releases: int | None = None
) -> TranscriptLoss | None:
    """The loss of the transcript with these outputs, up to where it is largest (or up to ``releases``).

    None where the neighbour takes another path, a shuffler or secret randomness is on the way, the loss is not rational, or the
    subject fails on it.
    """
    pinned = [chosen.get(place) for place in range(max(chosen, default=-1) + 1)]
    try:
        with simulate(seed, every_report=True, pinned=pinned, rest="exact") as channel:
            subject.run(fresh(data), channel)
    except Exception:  # the subject's own, on outputs that it may never have seen; then there is no such transcript
        return None
    events = channel.events if releases is None else channel.events[:releases]
    if releases is None:  # pinned secret randomness refutes nothing: what it may have decided is left out
        events = events[: next((place for place, event in enumerate(events) if event.hidden), len(events))]
    mixed = any(event.to == "shuffled" or event.hidden for event in events)
    played = None if mixed else replay_first(subject, other, events, seed)
    if played is None:
        return None
    total, best = (Fraction(0), Fraction(0)), (Fraction(0), 0)
    for place, part in _parts(played):
        if part is None:
            return None
        total = total[0] + part[0], total[1] + part[1]
        best = max(best, (_nearest_zero(total), place + 1), key=lambda one: abs(one[0]))
    loss, length = best if releases is None else (_nearest_zero(total), len(events))
    rounded = total[0] != total[1]
    loss = decimal(loss, DIGITS, up=loss < 0) if rounded else loss
    return TranscriptLoss(played, {place: value for place, value in chosen.items() if place < length}, length, loss, rounded)


def _nearest_zero(ends: Bounds) -> Fraction:
    """The loss that is shown beyond doubt."""
    return max(ends[0], Fraction(0)) + min(ends[1], Fraction(0))


def _parts(played: Replayed) -> Iterator[tuple[int, Bounds | None]]:
    """The exact loss of every coordinate that differs, or ends around that of an index, with the position of its release."""
    for place, (event, mirror) in enumerate(zip(played.events, played.mirror, strict=True)):
        if not event.noise.entrywise:
            if not np.array_equal(event.query, mirror.query):
                yield place, event.noise.loss_bounds(event.output, event.query, mirror.query)
            continue
        for index in np.argwhere(event.query != mirror.query):
            where = tuple(int(i) for i in index)
            numbers = int(event.output[where]), int(event.query[where]), int(mirror.query[where])
            exact = event.noise.exact_log_ratio(*numbers)
            yield place, None if exact is None else (exact, exact)


def _without_noise(subject: Subject, claim: Claim, data: Any, other: Any, seed: int) -> Iterator[TranscriptLoss]:
    plain = transcript_loss(subject, data, other, {}, seed)
    if plain is None:
        return
    yield plain
    if abs(plain.loss) <= claim.epsilon and (pushed := _beyond(plain.played, claim)):
        further = transcript_loss(subject, data, other, pushed, seed)
        if further is not None:
            yield further


def _beyond(played: Replayed, claim: Claim) -> Chosen:
    """Gaussian noise has no largest loss: the first such release that differs, its output far enough on the side of the data."""
    for place, (event, mirror) in enumerate(zip(played.events, played.mirror, strict=True)):
        gap = event.query - mirror.query
        if (spread := event.noise.spread) is not None and gap.any():
            where = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
            steps = claim.epsilon * spread**2 / abs(int(gap[where])) + 1
            output = np.array(event.query)
            output[where] += int(np.sign(gap[where])) * min(int(steps), LARGEST)
            return {place: output}
    return {}


def _drawn_loss(subject: Subject, data: Any, other: Any, played: Replayed) -> TranscriptLoss | None:
    losses = played.losses()
    outputs = played.outputs(int(np.abs(losses).argmax()))
    return transcript_loss(subject, data, other, dict(enumerate(outputs)), played.seed)


def simplified(subject: Subject, data: Any, other: Any, found: TranscriptLoss, epsilon: Fraction) -> TranscriptLoss:
    """Fewer chosen outputs, while the loss stays above ε."""
    if abs(found.loss) <= epsilon:
        return found
    for place in list(found.chosen)[::-1][:TRIES]:
        fewer = {key: value for key, value in found.chosen.items() if key != place}
        again = transcript_loss(subject, data, other, fewer, found.played.seed)
        if again is not None and abs(again.loss) > epsilon:
            found = again
    return found


def transcript_facts(found: TranscriptLoss, pair: tuple[Any, Any], claim: Claim) -> dict[str, Any]:
    """The witness for people and for ``--replay``: outputs are whole numbers of the release's grid."""
    moved = [
        _moved(event, mirror, tuple(int(i) for i in index))
        for event, mirror in list(zip(found.played.events, found.played.mirror, strict=True))[: found.releases]
        for index in np.argwhere(event.query != mirror.query)[:SHOWN]
    ]
    return {
        "kind": "transcript", "observer": claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]),
        "loss": show(abs(found.loss)), "moved": moved[:SHOWN], "releases": found.releases,
        "outputs": {str(place): value.tolist() for place, value in found.chosen.items()}, "seed": found.played.seed,
        **({"rounded": "down"} if found.rounded else {}),
    }  # fmt: skip


def _moved(event: Event, mirror: Event, where: tuple[int, ...]) -> dict[str, Any]:
    index = not event.noise.entrywise  # or answers, as they are
    shown = int(event.output[where] if event.output.ndim else event.output) if index else None
    return {
        "release": event.name,
        "output": shown if index else from_units(event.noise.unfold(event.output[where]), event.noise.grid).tolist(),
        "query": float(from_units(event.query[where], event.noise.grid)),
        "neighbour": float(from_units(mirror.query[where], event.noise.grid)),
        "noise": {"mechanism": event.noise.name, **event.noise.parameters()},
    }
