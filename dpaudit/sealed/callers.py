"""Where in the user's code sealed data was used, and for which library."""

from __future__ import annotations

import linecache
import os
import re
import sys
from types import FrameType

import numpy as np

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_LIBRARIES = {"torch": "a torch tensor", "pandas": "a pandas object", "pd": "a pandas object", "jax": "a jax array",
              "polars": "a polars object", "pl": "a polars object", "tensorflow": "a tensor", "tf": "a tensor"}  # fmt: skip
_OF_OTHERS = frozenset({"torch", "pandas", "jax", "polars", "tensorflow", "scipy", "sklearn", "pyarrow", "xarray", "statsmodels"})
_CALL = re.compile(r"\b(" + "|".join(_LIBRARIES) + r")\.")


def caller() -> str:
    """Where in the user's code we are: the innermost frame outside this package, numpy, the standard library and others
    that convert data."""
    frame = _users_frame()
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def foreign_kind() -> str:
    """What the user's line makes of its data, where that belongs to a library that dpaudit cannot look into; else nothing."""
    frame = _users_frame()
    named = _CALL.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
    return _LIBRARIES[named[1]] if named else ""


def asking_library() -> str:
    """The library whose code uses sealed data just now; nothing where that is the user's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package if package in _OF_OTHERS else ""


def _users_frame() -> FrameType:
    innermost = frame = sys._getframe(2)
    while frame.f_back is not None and _is_ours(frame):
        frame = innermost = frame.f_back
    while frame.f_back is not None and _is_of_others(frame):
        frame = frame.f_back
    return innermost if frame.f_back is None and _is_of_others(frame) else frame


def _is_ours(frame: FrameType) -> bool:
    return os.path.abspath(frame.f_code.co_filename).startswith((_PACKAGE, _NUMPY))


def _is_of_others(frame: FrameType) -> bool:
    """Code of another library, or of Python itself, that was called with sealed data."""
    if _is_ours(frame) or str(frame.f_globals.get("__name__", "")).partition(".")[0] in _OF_OTHERS:
        return True
    file = os.path.abspath(frame.f_code.co_filename)
    return file.startswith(_STANDARD) and not any(part in file for part in _INSTALLED)
