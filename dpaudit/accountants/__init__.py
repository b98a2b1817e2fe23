"""Upper bounds: readers of releases. Every figure is the outward end of an enclosure."""

from dpaudit.accountants.amplification import amplify, epsilon0_rule, invert
from dpaudit.accountants.composition import account, account_releases

__all__ = ["account", "account_releases", "amplify", "epsilon0_rule", "invert"]
