"""The vocabulary of dpaudit: exact numbers, claims, bounds, verdicts, findings, errors, rules and exit codes.

ε and δ are exact here: every number that enters a claim, a budget or a certificate is a ``Fraction``.
"""

from dpaudit.claims.audit_verdict import Outcome, Verdict
from dpaudit.claims.bounds import Bound, Enclosure, Finding, Line, Losses, Lower, Upper
from dpaudit.claims.claim import ARITHMETICS, OBSERVERS, Claim
from dpaudit.claims.decimals import show
from dpaudit.claims.errors import BudgetExceeded, Contradiction, DpauditError, InvalidValue, Leak, SensitivityError
from dpaudit.claims.numbers import (
    Number,
    exact,
    exact_delta,
    exact_epsilon,
    float_down,
    float_up,
    positive,
    shorten_up,
    sum_up,
    whole,
)
from dpaudit.claims.written_form import WrittenForm

__all__ = [
    "ARITHMETICS", "OBSERVERS", "Bound", "BudgetExceeded", "Claim", "Contradiction", "DpauditError", "Enclosure", "Finding",
    "InvalidValue", "Leak", "Line", "Losses", "Lower", "Number", "Outcome", "SensitivityError", "Upper", "Verdict", "WrittenForm",
    "exact", "exact_delta", "exact_epsilon", "float_down", "float_up", "positive", "shorten_up", "show", "sum_up", "whole",
]  # fmt: skip
