"""Hands the accountants' amplifier to the channel: what a door charges is what an accountant reads from its ledger."""

from __future__ import annotations

from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel import Doors

__all__ = ["live", "replay", "simulate"]

_doors = Doors(amplified, composed)
live, simulate, replay = _doors.live, _doors.simulate, _doors.replay
