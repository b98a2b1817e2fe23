"""Upper bounds: readers of releases. Every figure is the outward end of an enclosure."""

from dpaudit.accountants.calibration.least_noise import calibrate
from dpaudit.accountants.calibration.least_report_noise import calibrate_shuffled
from dpaudit.accountants.composition import account, account_releases
from dpaudit.accountants.losses.numerical import Known, Part, compose, composed_delta
from dpaudit.accountants.losses.optimal_composition import kairouz_delta, kairouz_epsilon
from dpaudit.accountants.odometer import odometer
from dpaudit.accountants.shuffle.amplification import amplify, epsilon0_rule, invert

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
