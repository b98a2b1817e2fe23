"""Trainings: their steps in a ledger, what is checked while they run, and what canaries in them show about their (ε,δ)."""

from dpaudit.training.canary_insertion import Canaries, canaries
from dpaudit.training.recorder import TrainingRecord, recorded
from dpaudit.training.step_facts import CannotRecord
from dpaudit.training.watch import TrainingWatch, watched

__all__ = ["Canaries", "CannotRecord", "TrainingRecord", "TrainingWatch", "canaries", "recorded", "watched"]
