"""The door: the one way in which anything computed from private data leaves an algorithm.

``live`` draws exact noise, charges the budget and writes the ledger first; ``simulate`` draws the same law from a seed, for one
run or many trials at once; ``replay`` pins recorded outputs and collects the queries. The algorithm's code is the same for all.
Those here charge shuffled batches without a theorem; the public ones, ``dp.live`` and its kin, are in ``dpaudit.deployment``.
"""

from dpaudit.channel.client_reports import Reports
from dpaudit.channel.door import Channel
from dpaudit.channel.long_batches import sum_by_tag
from dpaudit.channel.modes import Event, Live, PathChanged, Transcript
from dpaudit.channel.opening import Doors, is_live
from dpaudit.channel.planned.plan import Plan, Planned
from dpaudit.channel.planned.plan_progress import NotPlanned

__all__ = [
    "Channel", "Doors", "Event", "Live", "NotPlanned", "PathChanged", "Plan", "Planned", "Reports", "Transcript", "is_live",
    "live", "replay", "simulate", "sum_by_tag",
]  # fmt: skip

_doors = Doors()
live, simulate, replay = _doors.live, _doors.simulate, _doors.replay
