"""Deployments: ``subject.deploy``, and the public doors ``dp.live``, ``dp.simulate`` and ``dp.replay``, which charge shuffled
batches by the accountants' theorems."""

from dpaudit.deployment.doors import live, replay, simulate

__all__ = ["live", "replay", "simulate"]
