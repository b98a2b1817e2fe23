"""``canaries``: puts known samples into a training by secret coins, scores each afterwards, and says what the scores show.

The training code gets a dataset and nothing else: the coins stay here. A score is a function of the trained model, or of all its
noisy gradients, and of all canaries alike; no coin has a part in it.
"""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue, Number, exact_delta
from dpaudit.training.canary_audit import CanaryAudit, audit_canaries
from dpaudit.training.canary_scores import COLUMNS, CanaryScores
from dpaudit.training.claimed_curve import TrainingReleases
from dpaudit.training.per_sample import clipped_gradients

Loss = Callable[[Any, Any], Any]  # (outputs, labels) of a batch → one loss a sample


def canaries(dataset: Any, samples: Any, *, seed: int | None = None) -> Canaries:
    """Each of ``samples`` enters the training by its own fair coin. Train on ``.dataset``, then score and audit.

    ``dataset``, ``samples``: map-style datasets of (input, label). ``seed``: of the coins, for tests alone; else they are drawn
    from the system's secret generator.
    """
    if len(samples) < 2:
        raise InvalidValue("samples", len(samples), "at least two canaries; some hundred show something")
    coins = [secrets.randbits(1) for _ in range(len(samples))]
    if seed is not None:
        coins = np.random.default_rng(seed).integers(0, 2, len(samples)).tolist()
    return Canaries(dataset, samples, np.array(coins, dtype=bool))


class Canaries:
    """The canaries of one training."""

    def __init__(self, dataset: Any, samples: Any, included: np.ndarray) -> None:
        self._base, self._samples, self._included = dataset, samples, included
        self._scores: np.ndarray | None = None
        order = [*range(len(dataset)), *(len(dataset) + int(place) for place in np.flatnonzero(included))]
        self.dataset = _Chosen(dataset, samples, order)

    def __len__(self) -> int:
        return len(self._samples)

    def score_model(self, model: Any, loss: Loss) -> None:
        """Black-box: how small the loss of each canary is under the trained model."""
        import torch

        inputs, labels = _stacked(self._samples)
        was, _ = model.training, model.eval()
        with torch.no_grad():
            losses = [loss(model(x), y).double().reshape(-1) for x, y in zip(inputs.split(512), labels.split(512), strict=True)]
        model.train(was)
        self._scores = -torch.cat(losses).cpu().numpy()

    def watch(self, model: Any, optimizer: Any, loss: Loss, *, rate: float) -> None:
        """White-box: score each canary by Σ⟨noisy sum − what is expected of it, the canary's clipped gradient⟩ over all steps.

        Expected is rate × (the clipped gradients of all records, and half of all canaries'). Call it before training; every
        step then computes the gradients of all records and canaries once. ``rate``: of the Poisson samples.
        """
        import torch

        module, draw = getattr(model, "_module", model), optimizer.add_noise
        names = {id(parameter): name for name, parameter in module.named_parameters()}
        order = [names[id(parameter)] for parameter in optimizer.params]
        marked, others = _stacked(self._samples), _stacked(self._base)
        self._scores = np.zeros(len(self))

        def add_noise() -> None:
            norms = getattr(optimizer, "max_grad_norms", None) or [float(optimizer.max_grad_norm)]
            own = clipped_gradients(module, loss, *marked, order, norms)
            background = clipped_gradients(module, loss, *others, order, norms, summed=True)
            draw()
            noisy = torch.cat([parameter.grad.detach().reshape(-1) for parameter in optimizer.params])
            rest = noisy - rate * (background + own.sum(0) / 2)
            assert self._scores is not None
            self._scores += (own @ rest).double().cpu().numpy()

        optimizer.add_noise = add_noise

    @property
    def scores(self) -> CanaryScores:
        """With the coins: for the auditor, not for the training. Raises ``InvalidValue`` before they are scored."""
        if self._scores is None or not self._scores.any():
            raise InvalidValue("canaries", "without scores", "scored: call watch before training, or score_model after it")
        return CanaryScores(self._included, self._scores)

    def write(self, path: str | Path) -> None:
        """As ``dpaudit canaries`` reads them, rows in the order of the canaries."""
        scored = self.scores
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows([int(coin), repr(float(score))] for coin, score in zip(scored.included, scored.scores, strict=True))

    def audit(
        self, delta: Number, *, others: Sequence[Canaries] = (), confidence: float = 0.95, ledger: str | Path | None = None
    ) -> CanaryAudit:
        """A lower bound on ε at δ. ``others``: further trainings with their own coins; ``ledger``: what was released."""
        runs = [each.scores for each in (self, *others)]
        releases = None if ledger is None else TrainingReleases.of(str(ledger))
        return audit_canaries(runs, exact_delta(delta), confidence=confidence, releases=releases)


class _Chosen:
    """The records of two datasets in one order. It knows of no coin but what its length tells."""

    def __init__(self, first: Any, second: Any, order: Sequence[int]) -> None:
        self._first, self._second, self._order = first, second, list(order)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: int) -> Any:
        index = self._order[place]
        return self._first[index] if index < len(self._first) else self._second[index - len(self._first)]


def _stacked(dataset: Any) -> tuple[Any, Any]:
    import torch

    pairs = [dataset[place] for place in range(len(dataset))]
    return torch.stack([torch.as_tensor(x) for x, _ in pairs]), torch.stack([torch.as_tensor(y) for _, y in pairs])
