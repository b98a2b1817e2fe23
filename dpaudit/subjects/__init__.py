"""Subjects: functions whose privacy is claimed, where they are found by name, and what they may not use unseen."""

from dpaudit.subjects.subject import Subject, subject

__all__ = ["Subject", "subject"]
