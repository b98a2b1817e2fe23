"""Upper bounds: readers of releases. Every figure is the outward end of an enclosure."""

from dpaudit.accountants.amplification import amplify, epsilon0_rule, invert
from dpaudit.accountants.calibration import calibrate
from dpaudit.accountants.calibration_shuffled import calibrate_shuffled
from dpaudit.accountants.composition import account, account_releases
from dpaudit.accountants.kairouz import kairouz_delta, kairouz_epsilon
from dpaudit.accountants.numerical import Known, Part, compose, composed_delta
from dpaudit.accountants.stopping import odometer

__all__ = [
    "Known",
    "Part",
    "account",
    "account_releases",
    "amplify",
    "calibrate",
    "calibrate_shuffled",
    "compose",
    "composed_delta",
    "epsilon0_rule",
    "invert",
    "kairouz_delta",
    "kairouz_epsilon",
    "odometer",
]
