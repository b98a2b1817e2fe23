"""Proof and attack make a verdict: certified, refuted or unproven. Not named ``audit``: ``dp.audit`` is the function."""

from dpaudit.verdict.audit import assert_private, audit

__all__ = ["assert_private", "audit"]
