"""Budgets per period: one ledger for each hour, day, week or month, in one folder. No clock can open a past one again.

A record may spend the whole budget in every window, so that what holds is a statement about a record's data of one window.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from dpaudit.claims import InvalidValue

# The names of windows; of one period they sort as time runs.
FORMS = {"hour": "%Y-%m-%dT%HZ", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
_SHAPES = {
    "hour": r"\d{4}-\d\d-\d\dT\d\dZ",
    "day": r"\d{4}-\d\d-\d\d",
    "week": r"\d{4}-W\d\d",
    "month": r"\d{4}-\d\d",
}
SUFFIX = ".ledger"


def window_ledger(folder: str | Path, per: str, now: datetime | None = None) -> Path:
    """The ledger of the window that it is now (UTC), or of the latest window that was opened, whichever is later.

    A clock that is set back therefore stays in the latest window, with what is left of its budget, and one that ran ahead has
    used up the windows that it was in. The folder is made if it is missing. Raises InvalidValue for a folder of another period.
    """
    if per not in FORMS:
        raise InvalidValue("per", per, "one of " + ", ".join(FORMS))
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InvalidValue("path", place.name, "a folder, where a budget is per period: it holds one ledger for each window")
    place.mkdir(parents=True, exist_ok=True)
    windows = sorted(file.name.removesuffix(SUFFIX) for file in place.glob(f"*{SUFFIX}"))
    foreign = [window for window in windows if not re.fullmatch(_SHAPES[per], window)]
    if foreign:
        raise InvalidValue("path", place.name, f"a folder of its own: it holds {foreign[0]}{SUFFIX}, which is no {per}")
    current = (datetime.now(UTC) if now is None else now.astimezone(UTC)).strftime(FORMS[per])
    return place / f"{max([current, *windows])}{SUFFIX}"
