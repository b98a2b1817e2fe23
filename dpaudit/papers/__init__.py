"""Claims of papers: checks that decide them, stored evidence, and which code that evidence is about."""

from dpaudit.papers.checks import Check, Decision

__all__ = ["Check", "Decision"]
