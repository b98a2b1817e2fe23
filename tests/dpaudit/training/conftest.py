"""A small real training with Opacus: a few hundred records, a linear model or two layers, a second or less."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

RECORDS, FEATURES, BATCH = 300, 8, 30


@dataclass
class Training:
    """What ``make_private`` gave, and how to run it."""

    engine: Any
    model: Any
    optimizer: Any
    loader: Any

    def run(self, epochs: int = 1, *, accumulate: int = 1, loader: Any = None, reduction: str = "mean") -> int:
        """Train; the number of optimizer steps that were asked for."""
        from torch.nn.functional import cross_entropy

        asked = 0
        for _ in range(epochs):
            for place, (data, labels) in enumerate(loader or self.loader, 1):
                cross_entropy(self.model(data), labels, reduction=reduction).backward()
                if place % accumulate == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    asked += 1
        return asked


@pytest.fixture
def make_training() -> Iterator[Callable[..., Training]]:
    """``make(before=recorded_engine, **of_make_private)``; seeded, on data that it makes."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def make(
        before: Callable[[Any], Any] = lambda engine: None,
        *,
        layers: Any = None,
        epsilon: float | None = None,
        seed: int = 0,
        dataset: Any = None,
        batch: int = BATCH,
        accountant: str = "rdp",
        **arguments: Any,
    ) -> Training:
        torch.manual_seed(seed)
        data = torch.randn(RECORDS, FEATURES)
        labels = (data[:, 0] > 0).long()
        model = layers if layers is not None else torch.nn.Linear(FEATURES, 2)
        engine = PrivacyEngine(accountant=accountant)
        before(engine)
        common = {
            "module": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "max_grad_norm": 1.0,
            "data_loader": DataLoader(dataset or TensorDataset(data, labels), batch_size=batch),
        }  # fmt: skip
        if epsilon is None:
            made = engine.make_private(**common | {"noise_multiplier": 1.0} | arguments)
        else:
            made = engine.make_private_with_epsilon(**common, target_epsilon=epsilon, target_delta=1e-5, epochs=2, **arguments)
        return Training(engine, *made)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Opacus: its secure generator is off
        yield make
    torch.set_num_threads(threads)
