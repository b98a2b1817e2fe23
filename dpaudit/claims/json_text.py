"""The JSON that programs read: one layout for verdicts, reports and files."""

from __future__ import annotations

import json
from typing import Any


def as_json(document: Any) -> str:
    """Raises ValueError for what JSON cannot hold: NaN and the infinities."""
    return json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2)
