"""The same algorithms one client at a time, and a wrapper for other people's bandits."""

from algorithms.online.bandit import OnlineBandit

__all__ = ["OnlineBandit"]
