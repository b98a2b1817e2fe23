"""Errors that leave a live door show no frame of it: the locals of a frame may hold a private value, and reporters keep them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Verb = TypeVar("Verb", bound=Callable[..., Any])


def discreet(verb: Verb) -> Verb:
    """A verb of a door whose errors come without the frames that led to them, and without the errors before them.

    Simulated and replayed doors hold data that an audit made up; their errors stay whole.
    """

    @wraps(verb)
    def outermost(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return verb(self, *args, **options)
        except BaseException as error:
            if not getattr(self, "_channel", self)._live:
                raise
            failure = error
        del args, options  # this frame is the one that stays
        failure.__cause__ = failure.__context__ = None
        raise failure.with_traceback(None)

    return cast(Verb, outermost)
