"""torch functions of sealed data: those that numpy has too are traced as numpy's; the others say what to do instead.

``torch.matmul(x, w)`` of sealed x and a plain tensor w is ``np.matmul`` of the two, and so sealed. Nothing is computed by torch,
and no gradient flows: a linear or logistic model's gradients are written down, clipped by ``dp.clip_rows`` and summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.claims import DpauditError

_RENAMED = {"dim": "axis", "keepdim": "keepdims", "input": "a"}
_SAME = frozenset({
    "abs", "absolute", "add", "ceil", "clip", "cos", "divide", "dot", "exp", "expm1", "floor", "log", "log1p", "matmul",
    "maximum", "mean", "minimum", "multiply", "negative", "sign", "sin", "sqrt", "square", "stack", "subtract", "sum", "tanh",
    "transpose", "true_divide", "where",
})  # fmt: skip
_OTHER: dict[str, Callable[..., Any]] = {
    "clamp": lambda x, min=None, max=None: np.clip(x, min, max),
    "cat": np.concatenate, "concat": np.concatenate, "div": np.divide, "mm": np.matmul, "mul": np.multiply, "mv": np.matmul,
    "neg": np.negative, "sub": np.subtract, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0),
    "unsqueeze": np.expand_dims, "t": np.transpose,
}  # fmt: skip
_ADVICE = "use the numpy function of the same meaning, release first, or take rng instead of channel: then it is attacked"


class UntracedTorch(DpauditError):
    """A torch function that has no trace; sealed data was not shown to it."""

    def __init__(self, name: str) -> None:
        self.function = name
        super().__init__(f"torch.{name} of sealed data is not traced: {_ADVICE}")


def as_tensor(data: Any) -> Any:
    """Sealed data as it is, anything else as a torch tensor: so that one code runs on both."""
    from dpaudit.sealed.array import Sealed

    if isinstance(data, Sealed):
        return data
    import torch

    return torch.as_tensor(np.asarray(data))


def call(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The same by numpy, with plain tensors as arrays. Raises ``UntracedTorch``."""
    name = getattr(function, "__name__", "?")
    known = _OTHER.get(name) or (getattr(np, name) if name in _SAME else None)
    if known is None or options.get("out") is not None:
        raise UntracedTorch(name)
    named = {_RENAMED.get(key, key): _plain(value) for key, value in options.items() if value is not None}
    first = [named.pop("a")] if "a" in named else []  # the name of torch's first argument
    return known(*first, *map(_plain, arguments), **named)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
