"""Per-sample gradients beside Opacus's: the same, and clipped as it clips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.training.per_sample import clipped_gradients


@pytest.mark.parametrize("clipping", ["flat", "per_layer"])
def test_the_sum_is_that_of_opacus(make_training: Callable[..., Any], clipping: str) -> None:
    import torch
    from torch.nn.functional import cross_entropy

    norms = [0.5] if clipping == "flat" else [0.4, 0.2]
    training = make_training(clipping=clipping, max_grad_norm=norms[0] if clipping == "flat" else norms)
    data, labels = next(iter(training.loader))
    cross_entropy(training.model(data), labels).backward()
    names = [name for name, _ in training.model._module.named_parameters()]
    rows = clipped_gradients(
        training.model._module, lambda out, y: cross_entropy(out, y, reduction="none"), data, labels, names, norms
    )
    training.optimizer.clip_and_accumulate()
    used = torch.cat([parameter.summed_grad.reshape(-1) for parameter in training.optimizer.params])
    assert torch.allclose(rows.sum(0), used, atol=1e-4)
    assert float(rows.norm(dim=1).max()) <= sum(norm**2 for norm in norms) ** 0.5 * (1 + 1e-6)
