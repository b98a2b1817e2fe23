"""How long an audit may take: "60s", "2m", "1h", or seconds. A stage that has not ended by then says nothing."""

from __future__ import annotations

from dpaudit.claims import InvalidValue, Number, exact

UNITS = {"s": 1, "m": 60, "h": 3600}
EXPECTED = 'a time above 0, such as "60s", "2m" or a number of seconds'


def read_seconds(limit: Number) -> float:
    """Seconds as a float. Raises InvalidValue."""
    text = limit.strip() if isinstance(limit, str) else limit
    unit = UNITS.get(text[-1:].lower()) if isinstance(text, str) else None
    try:
        seconds = exact(text[:-1] if isinstance(text, str) and unit is not None else text, "time") * (unit or 1)
    except InvalidValue:
        raise InvalidValue("time", limit, EXPECTED) from None
    if seconds <= 0:
        raise InvalidValue("time", limit, EXPECTED)
    return float(seconds)
