"""Canaries in a real training: the coins stay with the auditor, the scores tell them, and a correct training is not refuted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpaudit.claims import InvalidValue
from dpaudit.training import canaries
from dpaudit.training.canary_scores import read_scores

Make = Callable[..., Any]
CANARIES, FEATURES = 400, 8


def loss(outputs: Any, labels: Any) -> Any:
    from torch.nn.functional import cross_entropy

    return cross_entropy(outputs, labels, reduction="none")


@pytest.fixture
def sets() -> tuple[Any, Any]:
    """Ordinary records, and canaries of one unusual direction each with a label of its own."""
    import torch
    from torch.utils.data import TensorDataset

    generator = torch.Generator().manual_seed(5)
    data = torch.randn(100, 200, generator=generator)
    odd = 3 * torch.randn(CANARIES, 200, generator=generator)
    labels = torch.randint(0, 2, (CANARIES,), generator=generator)
    return TensorDataset(data, (data[:, 0] > 0).long()), TensorDataset(odd, labels)


def trained(make_training: Make, sets: tuple[Any, Any], seed: int, *, white: bool = True, noise: float = 0.7) -> Any:
    import torch

    inserted = canaries(*sets, seed=seed)
    layers = torch.nn.Linear(200, 2)
    training = make_training(layers=layers, dataset=inserted.dataset, batch=60, noise_multiplier=noise, seed=seed)
    if white:
        inserted.watch(training.model, training.optimizer, loss, rate=training.loader.sample_rate)
    training.run(2)
    if not white:
        inserted.score_model(training.model, loss)
    return inserted


def test_the_dataset_holds_every_record_and_the_canaries_that_are_in(sets: tuple[Any, Any]) -> None:
    inserted = canaries(*sets, seed=1)
    count = int(np.random.default_rng(1).integers(0, 2, CANARIES).sum())
    assert len(inserted.dataset) == 100 + count
    assert not any("coin" in name or "included" in name for name in vars(inserted.dataset))
    assert canaries(*sets).dataset._order != canaries(*sets).dataset._order, "secret coins differ"


def test_white_box_scores_tell_who_was_in_and_a_correct_training_keeps_its_claim(
    make_training: Make, sets: tuple[Any, Any], tmp_path: Path
) -> None:
    runs = [trained(make_training, sets, seed) for seed in (1, 2)]
    scored = runs[0].scores
    apart = scored.scores[scored.included].mean() - scored.scores[~scored.included].mean()
    assert apart > 2 * scored.scores.std() / np.sqrt(CANARIES / 2), "the premise: canaries move the model"
    alone, pooled = runs[0].audit("1e-5"), runs[0].audit("1e-5", others=runs[1:])
    assert pooled.canaries == 2 * CANARIES
    assert max(alone.lower, pooled.lower) < 25, "about twenty steps at σ = 0.7"
    assert pooled.lower > 0
    runs[0].write(tmp_path / "scores.csv")
    read = read_scores(tmp_path / "scores.csv")
    assert np.array_equal(read.included, scored.included)
    assert np.array_equal(read.scores, scored.scores)


def test_black_box_scores_are_losses(make_training: Make, sets: tuple[Any, Any]) -> None:
    inserted = trained(make_training, sets, 3, white=False)
    assert inserted.scores.scores.max() <= 0
    assert inserted.audit("1e-5").lower >= 0


def test_nothing_is_audited_before_it_is_scored(sets: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidValue, match="scored"):
        canaries(*sets, seed=1).audit("1e-5")
