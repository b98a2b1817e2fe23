"""Made from PUBLIC in __init__.py by tests/dpaudit/test_face.py; do not edit."""

from dpaudit.accountants import account as account
from dpaudit.accountants import amplify as amplify
from dpaudit.accountants import invert as invert
from dpaudit.certificate import live_certified as live_certified
from dpaudit.channel import Planned as Planned
from dpaudit.claims import Bound as Bound
from dpaudit.claims import BudgetExceeded as BudgetExceeded
from dpaudit.claims import Claim as Claim
from dpaudit.claims import DpauditError as DpauditError
from dpaudit.claims import Enclosure as Enclosure
from dpaudit.claims import Verdict as Verdict
from dpaudit.deployment import alive as alive
from dpaudit.deployment import live as live
from dpaudit.deployment import replay as replay
from dpaudit.deployment import simulate as simulate
from dpaudit.ledger import Budget as Budget
from dpaudit.ledger import open_ledger as open_ledger
from dpaudit.neighbours import add_remove as add_remove
from dpaudit.neighbours import replace_one as replace_one
from dpaudit.noise import Binomial as Binomial
from dpaudit.noise import Exponential as Exponential
from dpaudit.noise import Gaussian as Gaussian
from dpaudit.noise import KaryResponse as KaryResponse
from dpaudit.noise import Laplace as Laplace
from dpaudit.noise import NoisyMax as NoisyMax
from dpaudit.noise import OptimizedUnaryResponse as OptimizedUnaryResponse
from dpaudit.noise import PermuteAndFlip as PermuteAndFlip
from dpaudit.noise import RandomizedResponse as RandomizedResponse
from dpaudit.noise import SparseVector as SparseVector
from dpaudit.noise import ThresholdedLaplace as ThresholdedLaplace
from dpaudit.noise import UnaryResponse as UnaryResponse
from dpaudit.sealed import clip_rows as clip_rows
from dpaudit.sealed import seal as seal
from dpaudit.sealed import seal_frame as seal_frame
from dpaudit.subjects import subject as subject
from dpaudit.verdict import assert_private as assert_private
from dpaudit.verdict import audit as audit

__version__: str
PUBLIC: dict[str, tuple[str, ...]]
FORMER: dict[str, tuple[str, ...]]
__all__ = [
    "Binomial",
    "Bound",
    "Budget",
    "BudgetExceeded",
    "Claim",
    "DpauditError",
    "Enclosure",
    "Exponential",
    "Gaussian",
    "KaryResponse",
    "Laplace",
    "NoisyMax",
    "OptimizedUnaryResponse",
    "PermuteAndFlip",
    "Planned",
    "RandomizedResponse",
    "SparseVector",
    "ThresholdedLaplace",
    "UnaryResponse",
    "Verdict",
    "account",
    "add_remove",
    "alive",
    "amplify",
    "assert_private",
    "audit",
    "clip_rows",
    "invert",
    "live",
    "live_certified",
    "open_ledger",
    "replace_one",
    "replay",
    "seal",
    "seal_frame",
    "simulate",
    "subject",
]
