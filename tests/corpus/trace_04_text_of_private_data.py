"""A line for the log is made from the sum before the noise."""

from __future__ import annotations

import logging
from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("unproven", "DPA002"), "repaired": ("certified", "")}
records_5 = dp.replace_one(n=5, low=-1, high=1)
log = logging.getLogger(__name__)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def bug(records: Any, channel: Any) -> Any:
    total = records.sum()
    text = f"releasing a sum near {total}"
    log.debug(text)
    return channel.release("sum", total, dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def repaired(records: Any, channel: Any) -> Any:
    noisy = channel.release("sum", records.sum(), dp.Laplace(scale=2), sensitivity=2)
    log.debug("released a sum")
    return noisy
