"""Private data in a log line, a print, a warning or a file, beside an honest release."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

import dpaudit as dp

EXPECTED = {
    "bug": ("unproven", "DPA002"),
    "bug_debug_level": ("unproven", "DPA002"),
    "bug_print": ("unproven", "DPA002"),
    "bug_print_rarely": ("unproven", "DPA002"),
    "bug_warning": ("unproven", "DPA002"),
    "bug_file": ("unproven", "DPA002"),
    "repaired": ("certified", ""),
    "repaired_released": ("certified", ""),
}
ten = dp.replace_one(n=10, low=0, high=1)
claim = dp.Claim(epsilon="1")


def noisy(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug(records: Any, channel: Any) -> Any:
    logging.warning("%s", records.sum())
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def bug_debug_level(records: Any, channel: Any) -> Any:
    logging.getLogger(__name__).debug("first record %s", records[0])
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def bug_print(records: Any, channel: Any) -> Any:
    print(f"sum is {records.sum()}")
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def bug_print_rarely(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    if total > 200:
        print("strange:", total, records.sum())
    return total


@dp.subject(claim=claim, neighbours=ten)
def bug_warning(records: Any, channel: Any) -> Any:
    warnings.warn(f"{records.sum()} of 10", stacklevel=1)
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def bug_file(records: Any, channel: Any) -> Any:
    with open(os.devnull, "a", encoding="utf-8") as file:
        file.write(str(records.sum()))
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def repaired(records: Any, channel: Any) -> Any:
    print("summing", channel)
    logging.warning("one release, %d records", len(records))
    return noisy(records, channel)


@dp.subject(claim=claim, neighbours=ten)
def repaired_released(records: Any, channel: Any) -> Any:
    """What is released may be written."""
    total = noisy(records, channel)
    print("the noisy sum is", total)
    return total
