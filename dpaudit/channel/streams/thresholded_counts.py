"""``channel.threshold_counts``: counts by key where the keys themselves are private, shown from a threshold on.

**Theorem.** Each record has at most k distinct keys. To the count c ≥ 1 of every key that occurs, noise Z with
P(Z = z) ∝ e^{−a|z|} is added, and the key is shown with c + Z where that is at least τ. Let p = P(Z ≥ τ − 1), the probability
that a key of one record is shown. If p ≤ 1 − e^{−a}, this is (ε, δ)-DP with δ = 1 − (1 − p)^k, and ε = ka where a record is added
or removed, ε = 2ka where one is replaced.

*Proof.* D' has one record more, with b keys that are new and j keys that D has, b + j ≤ k. Unless one of the new keys is shown,
which has probability 1 − (1 − p)^b ≤ δ under D' and none under D, the outputs differ by the j counts, each moved by one, and by
the factor (1 − p)^b: P'(o) ≤ e^{ja}P(o) and P(o) ≤ e^{ja}(1 − p)^{−b}P'(o) ≤ e^{(j+b)a}P'(o). So H_{e^ε}(P'‖P) ≤ δ and
H_{e^ε}(P‖P') = 0. A record is replaced: b' keys that only D' has, b that only D has, j counts that move by one, b' + b + j ≤ 2k
and b' ≤ k. Unless one of the b' is shown, P'(o) ≤ e^{ja}(1 − p)^{b'−b}P(o) ≤ e^{(j+b)a}P(o) ≤ e^{2ka}P(o); the same the other
way round. ∎ Both δ are attained by a record whose k keys nobody else has. The idea: Korolova, Kenthapadi, Mishra, Ntoulas 2009.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.channel.declarations import Asked, check_call
from dpaudit.channel.modes import PathChanged, Pinned
from dpaudit.channel.planned.plan_progress import CallFacts
from dpaudit.channel.streams.poisson_sample import check_origin
from dpaudit.claims import DpauditError, Finding, InvalidValue, Leak, exact_delta, exact_epsilon, show, whole
from dpaudit.ledger import Cohort
from dpaudit.neighbours.categories import SealedTexts
from dpaudit.noise import Laplace, Noise, ThresholdedLaplace
from dpaudit.sealed.array import ADD_REMOVE, Sealed, Untraced, caller, of_this_run, relation_of, unseal
from dpaudit.sealed.trace import Elements
from dpaudit.sealed.traces.record_shares import record_axes

if TYPE_CHECKING:
    from dpaudit.channel.door import Channel

Key = str | int | float
Counts = dict[Key, int]
_KEYS = "texts or numbers: one key for each record, or a list of keys for each"
_FEW = 64
SHARED = "keys are not one entry or row for each record, in the order of records: count the keys of the data as it is"


@dataclass(frozen=True)
class Thresholded:
    """The mechanism: noise for each count, and the least noisy count that is shown. ``failure``: δ, rounded up."""

    noise: Laplace
    threshold: int
    failure: Fraction


def calibrate(epsilon: Fraction, delta: Fraction, per_record: int, *, removal: bool) -> Thresholded:
    """The least threshold at which δ is met, by certified tails. ``removal``: a record is added or removed, not replaced."""
    if not epsilon:
        raise InvalidValue("epsilon", "0", "greater than 0")
    if not 0 < delta < 1:
        raise InvalidValue(
            "delta", show(delta), "between 0 and 1: a key that one record alone has is shown with that probability"
        )
    noise = Laplace(per_record * (1 if removal else 2) / epsilon, 1)

    def holds(threshold: int) -> bool:
        p = noise.tail(threshold - 1)[1]
        return p <= noise.rate / (1 + noise.rate) and _any_of(p, per_record) <= delta  # a/(1 + a) ≤ 1 − e^−a

    low, high = 0, 2
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Thresholded(noise, high, min(delta, _short_up(_any_of(noise.tail(high - 1)[1], per_record))))


def _any_of(p: Fraction, count: int) -> Fraction:
    """1 − (1 − p)^count; for many, count·p, which is larger."""
    return 1 - (1 - p) ** count if count <= _FEW else count * p


def threshold_counts(
    channel: Channel, name: str, keys: Any, cost: tuple[Any, Any, Any], more: tuple[Any, str]
) -> Counts | list[Counts]:
    """``cost``: ε, δ, keys of one record at most. ``more``: cohort, observer. With trials, what each of them shows."""
    epsilon, delta = exact_epsilon(cost[0]), exact_delta(cost[1])
    keys, decode_keys = (keys.codes, keys.decode) if isinstance(keys, SealedTexts) and keys.ndim == 1 else (keys, np.asarray)
    per_record = whole(cost[2], "per_record", least=1, most=10**6)
    relation = relation_of(keys) if isinstance(keys, Sealed) else channel.relation
    law = calibrate(epsilon, delta, per_record, removal=relation == ADD_REMOVE)
    check_call(name, law.noise, more[1], None)
    check_origin(channel, name, keys, None)
    proven = _proven(channel, name, keys)
    moved = Fraction(per_record if relation == ADD_REMOVE else 2 * per_record)
    asked = Asked(
        name, law.noise, moved, Cohort.of(more[0]), more[1], moved if proven else None, int(moved), relation if proven else None
    )
    channel._follow(
        asked, "threshold_counts", CallFacts(ThresholdedLaplace(moved / epsilon, delta), more[0], channel._index, None)
    )
    record = None
    if channel.trials is None:  # a record is about one run
        record = asked.record((epsilon, law.failure), steps=int(moved), coordinates=1, failure=show(law.failure))
    counts = count_keys(decode_keys(unseal(keys)) if isinstance(keys, Sealed) else keys, per_record)
    if channel._ledger is not None:
        if record is None:
            raise DpauditError("a ledger records one run; open the door without trials")
        channel._write(record)
    runs = _shown(channel, law, counts)
    if not channel._live:
        # which keys there are is private: no replay can pin their counts one by one
        query, output = np.zeros((len(runs), 1), dtype=np.int64), encode(runs)
        query, output = (query[0], output[0]) if channel.trials is None else (query, output)
        channel._events.append(asked.event("release", query, output, record=record, index=channel._index, hidden=True))
    return runs[0] if channel.trials is None else runs


def _proven(channel: Channel, name: str, keys: Any) -> bool:
    """Is every entry, or row, of sealed keys one record of its own?"""
    if not isinstance(keys, Sealed):
        channel._proving._refuse(name, "the keys are not sealed")
        channel._proving.notice_plain(name)
        return False
    if not of_this_run(keys):
        raise Leak("a value of another run", caller(), "compute it anew from the data of this run")
    channel._proving._refuse_after_leak(name)
    trace, shape = keys._private.trace, keys._private.value.shape
    if isinstance(trace, Untraced):
        channel._proving.lose(name, trace)
        return False
    if channel._proving.relation not in (None, relation_of(keys)):
        channel._proving._refuse(name, f"its data is sealed for {relation_of(keys)} neighbours")
    if isinstance(trace, Elements) and 1 <= len(shape) <= 2 and record_axes(trace, shape) == (0,):
        return True
    channel._proving.untraced.append(Finding("untraced", f"release {name!r}: {SHARED}", caller()))
    channel._proving._refuse(name, f"its {SHARED}")
    return False


def _shown(channel: Channel, law: Thresholded, counts: Counter[Key]) -> list[Counts]:
    """What each trial shows; one run is one trial."""
    door, rows = channel._door, 1 if channel.trials is None else channel.trials
    if isinstance(door, Pinned):
        if door.position >= len(door.outputs):
            raise PathChanged(door.position)
        door.position += 1
        return [decode(row, door.position - 1) for row in np.atleast_2d(door.outputs[door.position - 1])]
    names = sorted(counts, key=_order)  # in an order that tells nothing of the data
    noise: Noise = law.noise
    units = np.array([counts[key] for key in names], dtype=np.int64)
    units = units if channel.trials is None else np.tile(units, (rows, 1))
    noisy = door.noise(noise, units, channel._index).reshape(rows, len(names))
    return [{key: int(count) for key, count in zip(names, row, strict=True) if count >= law.threshold} for row in noisy]


def count_keys(keys: Any, per_record: int) -> Counter[Key]:
    """How many records have each key: of every record its first ``per_record`` distinct ones. What is missing, as None or NaN,
    and infinities are no keys."""
    if isinstance(keys, str) or not isinstance(keys, Iterable) or (isinstance(keys, np.ndarray) and not keys.ndim):
        raise InvalidValue("keys", type(keys).__name__, _KEYS)
    counts: Counter[Key] = Counter()
    for record in keys:
        several = isinstance(record, list | tuple | set | frozenset) or (isinstance(record, np.ndarray) and record.ndim > 0)
        own = record if several else [record]
        distinct = list(dict.fromkeys(key for key in map(_key, own) if key is not None))
        counts.update((sorted(distinct, key=_order) if isinstance(own, set | frozenset) else distinct)[:per_record])
    return counts


def _key(key: Any) -> Key | None:
    """Keys that are equal are shown alike: which of 1, 1.0 and True, or of 0.0 and -0.0, came first would tell of its record."""
    plain = key.item() if isinstance(key, np.generic) else key
    if plain is None or (isinstance(plain, float) and not math.isfinite(plain)):
        return None
    if isinstance(plain, str):
        return str(plain)
    if not isinstance(plain, int | float):
        raise InvalidValue("keys", type(plain).__name__, _KEYS)
    return int(plain) if plain == int(plain) else float(plain)


def _order(key: Any) -> tuple[bool, Any]:
    return isinstance(key, str), key


def encode(runs: Sequence[Counts]) -> np.ndarray:
    """A transcript holds whole numbers: what each trial showed as the bytes of its JSON, and zeros after them."""
    texts = [np.frombuffer(json.dumps(list(shown.items())).encode(), dtype=np.uint8) for shown in runs]
    table = np.zeros((len(texts), max(map(len, texts), default=0)), dtype=np.int64)
    for row, text in zip(table, texts, strict=True):
        row[: len(text)] = text
    return table


def decode(output: np.ndarray, place: int) -> Counts:
    """Raises PathChanged for what is no such output."""
    try:
        text = np.asarray(output).astype(np.uint8).tobytes().rstrip(b"\0").decode()
        pairs: Sequence[tuple[Key, int]] = json.loads(text)
        return {key: int(count) for key, count in pairs}
    except (ValueError, TypeError):
        raise PathChanged(place) from None


def _short_up(value: Fraction) -> Fraction:
    """A short decimal that is no smaller."""
    scale = 10 ** max(6, 6 + math.ceil(-math.log10(value))) if value else 1
    return Fraction(math.ceil(value * scale), scale)
