"""Deployments: ``subject.deploy``, and the public doors ``dp.live``, ``dp.alive`` (for an event loop), ``dp.simulate`` and
``dp.replay``, which charge shuffled batches by the accountants' theorems."""

from dpaudit.deployment.async_door import alive
from dpaudit.deployment.doors import live, replay, simulate

__all__ = ["alive", "live", "replay", "simulate"]
