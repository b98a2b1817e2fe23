"""Clipped gradients of single samples, computed beside Opacus by torch's own transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

CHUNK = 512  # samples at a time


def clipped_gradients(
    module: Any, loss: Callable[[Any, Any], Any], inputs: Any, labels: Any, order: Sequence[str], norms: Sequence[float],
    *, summed: bool = False,
) -> Any:  # fmt: skip
    """One row a sample, parameters in this order, clipped to one norm for all or to one for each; or the sum of the rows."""
    import torch
    from torch.func import functional_call, grad, vmap

    held = {name: value.detach() for name, value in module.named_parameters()}
    buffers = dict(module.named_buffers())

    def of_one(parameters: dict[str, Any], x: Any, y: Any) -> Any:
        return loss(functional_call(module, (parameters, buffers), (x.unsqueeze(0),)), y.unsqueeze(0)).sum()

    of_each = vmap(grad(of_one), in_dims=(None, 0, 0), randomness="different")
    with _without_hooks(module):
        rows = []
        for x, y in zip(inputs.split(CHUNK), labels.split(CHUNK), strict=True):
            found = of_each(held, x, y)
            flat = [found[name].reshape(len(x), -1) for name in order]
            row = _clip(flat, norms)
            rows.append(row.sum(0) if summed else row)
    return torch.stack(rows).sum(0) if summed else torch.cat(rows)


def _clip(flat: Sequence[Any], norms: Sequence[float]) -> Any:
    import torch

    if len(norms) == 1:
        together = torch.cat(list(flat), dim=1)
        return together * (norms[0] / together.norm(dim=1).clamp(min=norms[0])).unsqueeze(1)
    parts = [each * (norm / each.norm(dim=1).clamp(min=norm)).unsqueeze(1) for each, norm in zip(flat, norms, strict=True)]
    return torch.cat(parts, dim=1)


class _without_hooks:
    """Opacus's hooks would take these passes for training."""

    def __init__(self, module: Any) -> None:
        self._held = [(each, each._forward_hooks, each._backward_hooks, each._forward_pre_hooks) for each in module.modules()]

    def __enter__(self) -> None:
        for each, *_ in self._held:
            each._forward_hooks, each._backward_hooks, each._forward_pre_hooks = type(each._forward_hooks)(), {}, {}

    def __exit__(self, *_: object) -> None:
        for each, forward, backward, before in self._held:
            each._forward_hooks, each._backward_hooks, each._forward_pre_hooks = forward, backward, before
