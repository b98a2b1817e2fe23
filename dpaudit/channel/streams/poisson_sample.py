"""``channel.sample(rate)``: a Poisson sample whose coins nobody sees, and one release that is charged as sampled.

Every record enters by its own secret coin. What is released from the sample alone has, for adding or removing one record, the
pair (1 − q)Q + qP against Q, and those of fresh samples compose (Zhu, Dong, Wang 2022, Thm 10). That needs: neighbours that add
or remove one record (replacing one is not proven at this price); nothing of other records in the value; one release for each
sample, as two from the same coins are one mechanism with a price of its own; the sample's size and members unseen.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.channel.declarations import refuse_failing
from dpaudit.channel.discretion import discreet
from dpaudit.channel.modes import Live
from dpaudit.channel.streams.sampled_rows import chosen_rows, count_rows, count_trial_rows, mark_of, masked_rows, new_mark
from dpaudit.claims import DpauditError, Finding, InvalidValue, exact
from dpaudit.noise import Noise
from dpaudit.noise.sampling.bernoulli import Probability, bernoulli_words
from dpaudit.noise.sampling.probability_bits import ball
from dpaudit.sealed.array import ADD_REMOVE, Sealed, caller, relation_of

if TYPE_CHECKING:
    from dpaudit.channel.door import Channel

REPLACED = (
    "a sample is charged for neighbours that add or remove a record (dp.add_remove); that its price holds for replacing one is "
    "not proven"
)
AGAIN = "one sample gives one release: its coins would be used twice. Open another sample, or release both as one array"
OTHERS = "its value is not made of this sample alone: use part(data) of the same `with`, and no other records"
ONE_WAY = (
    "a sample gives sums by part.release(…) alone: reports tell who was drawn, and for selections, thresholds and streams no "
    "price on samples is proven here. Ask for them of all records, by the channel itself"
)
_WAYS = frozenset({"reports", "select", "noisy_max", "above", "threshold_counts", "tree", "sample"})
ELSEWHERE = "its value is made of a sample: release it by the part that drew it, as in part.release(…)"


class NotSampled(DpauditError):
    """DPA005: what is released does not meet a condition under which a sample is charged as one. No noise was drawn."""

    rule = "DPA005"

    def __init__(self, release: str, reason: str) -> None:
        self.release, self.reason = release, reason
        super().__init__(f"release {release!r} is refused: {reason}")


class SampledPart:
    """A Poisson sample: ``part(data)`` gives its rows, ``part.release(…)`` what leaves. Made by ``channel.sample``."""

    def __init__(self, channel: Channel, rate: Any) -> None:
        self.rate = exact(rate, "rate")
        if not 0 < self.rate <= 1:
            raise InvalidValue("rate", rate, "a probability above 0 and at most 1")
        self._channel, self._mark = channel, new_mark()
        self._coins: np.ndarray | None = None
        self._open, self._used, self._doubt = True, False, ""

    def __copy__(self) -> SampledPart:
        return self  # a copy would release from the same coins again

    def __deepcopy__(self, memo: Any) -> SampledPart:
        return self

    def __getattr__(self, name: str) -> Any:
        """Asked for what it does not have: a way out that the channel has is refused with the reason."""
        if name in _WAYS:
            raise NotSampled(name, ONE_WAY)
        raise AttributeError(name)

    def close(self) -> None:
        self._open = False

    @discreet
    def __call__(self, data: Any, *, per_trial: bool = False) -> Any:
        """The rows of ``data`` that are in the sample: one coin for each record, the same for every array of these records.

        With trials, a masked array of shape (trials, records, …) in which rows that are not in a trial's sample are masked: sums
        over the axis of records leave them out. ``per_trial``: ``data`` has trials as its first axis already.
        """
        trials = self._channel.trials
        rows = count_rows(data) if trials is None else count_trial_rows(data, trials if per_trial else None)
        if self._coins is None:
            self._coins = self._toss(rows)
        if self._coins.shape[-1] != rows:
            raise InvalidValue("data", "another number of records", "of the same records as before, one row each")
        if isinstance(data, Sealed) and relation_of(data) != ADD_REMOVE:
            self._doubt = REPLACED
        return chosen_rows(data, self._coins, self._mark) if trials is None else masked_rows(data, self._coins, per_trial)

    @discreet
    def release(
        self, name: str, value: Any, noise: Noise, *, sensitivity: Any, cohort: Any = None, to: str = "server", delta: Any = None
    ) -> Any:
        """As ``channel.release``, charged as sampled. ``sensitivity``: how far one record moves it that is in the sample.

        Raises NotSampled (DPA005) at a live door where a condition of the theorem does not hold; elsewhere that is a finding,
        and the release counts as one of all records.
        """
        channel = self._channel
        refuse_failing(noise)
        if not self._open:
            raise DpauditError(f"release {name!r} comes after its sample: make it inside `with channel.sample(…) as part:`")
        reason = self._doubt or (AGAIN if self._used else OTHERS if self._mixed(value) else "")
        if reason:
            refuse(channel, name, reason)
        self._used = True
        value = value.filled(0) if isinstance(value, np.ma.MaskedArray) else value  # of trials whose sample is empty
        return channel._release(name, value, noise, sensitivity, (cohort, to, None, delta), self, None if reason else self.rate)

    def _mixed(self, value: Any) -> bool:
        """Is it made of other records? Surely where this sample was never taken; else as far as a trace says."""
        return self._coins is None or (isinstance(value, Sealed) and mark_of(value) != self._mark)

    def holds(self, value: Any) -> bool:
        """Is sealed data made of this sample, as far as its trace says?"""
        return mark_of(value) == self._mark

    def _toss(self, rows: int) -> np.ndarray:
        """One secret coin per record: part of the noise, never recorded, never pinned."""
        door = self._channel._door
        if isinstance(door, Live):
            return np.ones(rows, dtype=bool) if self.rate == 1 else bernoulli_words(_probability(self.rate), rows, door.source)
        shape = rows if self._channel.trials is None else (self._channel.trials, rows)
        return np.asarray(self._channel._secret_generator().random(shape) < float(self.rate))


def check_origin(channel: Channel, name: str, value: Any, part: SampledPart | None) -> None:
    """What is made of a sample leaves by its part, or not at all."""
    if mark_of(value) is not None and (part is None or not part.holds(value)):
        refuse(channel, name, ELSEWHERE)


def refuse(channel: Channel, name: str, reason: str) -> None:
    """At a live door an error; where an audit looks on, a finding."""
    if channel._live or channel._proving.only:
        raise NotSampled(name, reason)
    channel._proving.findings.append(Finding("DPA005", f"release {name!r}: {reason}", caller(), name))


@lru_cache(maxsize=256)
def _probability(rate: Fraction) -> Probability:
    return Probability(lambda: ball(rate))
