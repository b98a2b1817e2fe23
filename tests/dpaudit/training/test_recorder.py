"""Real trainings, recorded: every way in which Opacus makes one private, and the budget that stops it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.ledger import MemoryLedger, Release
from dpaudit.training import CannotRecord, recorded

Make = Callable[..., Any]


def releases_of(ledger: Any, record: Any) -> list[Release]:
    record.close()
    return list(ledger.releases())


def counted(releases: list[Release]) -> int:
    return sum(release.count or 1 for release in releases)


def test_make_private_is_recorded_and_certified_below_opacus(make_training: Make, tmp_path: Path) -> None:
    file, kept = tmp_path / "training.ledger", []
    training = make_training(lambda engine: kept.append(recorded(engine, file)), accountant="prv")
    steps = training.run(2)
    assert kept[0].steps == steps == 20
    certified = kept[0].epsilon("1e-5")
    kept[0].close()
    assert dp.account(str(file), delta="1e-5").epsilon == certified
    assert 0.99 * training.engine.get_epsilon(1e-5) < certified < training.engine.get_epsilon(1e-5)


def test_make_private_with_epsilon_is_recorded(make_training: Make) -> None:
    ledger, kept = MemoryLedger(), []
    training = make_training(lambda engine: kept.append(recorded(engine, ledger)), epsilon=3.0)
    steps = training.run(2)
    assert counted(releases_of(ledger, kept[0])) == steps
    assert dp.account(ledger, delta="1e-5").epsilon <= 3


def test_the_step_over_the_budget_leaves_the_model_as_it_was(make_training: Make) -> None:
    import torch

    ledger = MemoryLedger(budget=("3", "1e-5"))
    training = make_training()
    record = recorded(training.optimizer, ledger)
    with pytest.raises(dp.BudgetExceeded):
        training.run(50)
    before = [parameter.detach().clone() for parameter in training.model.parameters()]
    state = torch.get_rng_state()
    training.optimizer.zero_grad()
    with pytest.raises(dp.BudgetExceeded):
        training.run(1)
    assert all(torch.equal(one, other) for one, other in zip(before, training.model.parameters(), strict=True))
    assert not torch.equal(state, torch.get_rng_state()), "batches were drawn, noise was not"
    assert counted(releases_of(ledger, record)) == record.steps
    assert dp.account(ledger).epsilon <= 3


def test_several_batches_in_one_step_are_charged_for_the_record_that_is_in_all_of_them(make_training: Make) -> None:
    ledger = MemoryLedger()
    training = make_training()
    training.model.allow_grad_accumulation()
    record = recorded(training.optimizer, ledger)
    assert training.run(2, accumulate=2) == 10
    (release,) = releases_of(ledger, record)
    assert (release.count, release.sensitivity, release.extra["accumulated"]) == (10, 2, "2")
    assert float(release.sampling or 0) == pytest.approx(0.19, rel=1e-6)


def test_steps_that_are_skipped_between_samples_count_as_accumulated(make_training: Make) -> None:
    """Opacus's accountant takes these for one sample each; parts of one sample are below."""
    ledger = MemoryLedger()
    training = make_training()
    record = recorded(training.optimizer, ledger, data_loader=training.loader)
    for place in range(10):
        training.optimizer.signal_skip_step(do_skip=place % 2 == 0)
    training.run(1)
    (release,) = releases_of(ledger, record)
    assert (release.count, release.sensitivity) == (5, 2)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("clipping", ["flat", "per_layer"])
def test_reductions_and_per_layer_clipping(make_training: Make, reduction: str, clipping: str) -> None:
    ledger = MemoryLedger()
    norm = 1.0 if clipping == "flat" else [1.0, 1.0]
    training = make_training(loss_reduction=reduction, clipping=clipping, max_grad_norm=norm)
    record = recorded(training.optimizer, ledger, data_loader=training.loader)
    steps = training.run(1, reduction=reduction)
    (release,) = releases_of(ledger, record)
    assert release.count == steps == 10
    ratio = Fraction(release.parameters["sigma"]) / release.sensitivity
    assert float(ratio) == pytest.approx(1.0, rel=1e-6)


def test_a_batch_in_parts_is_one_step(make_training: Make) -> None:
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    ledger = MemoryLedger()
    training = make_training()
    record = recorded(training.optimizer, ledger, data_loader=training.loader)
    with BatchMemoryManager(data_loader=training.loader, max_physical_batch_size=8, optimizer=training.optimizer) as loader:
        assert training.run(1, loader=loader) > 30
    (release,) = releases_of(ledger, record)
    assert (release.count, release.sensitivity) == (10, 1)


def test_batches_that_are_no_poisson_samples_are_refused_or_charged_in_full(make_training: Make) -> None:
    with pytest.raises(CannotRecord, match="poisson_sampling=False"):
        make_training(lambda engine: recorded(engine, MemoryLedger()), poisson_sampling=False)
    ledger, kept = MemoryLedger(), []
    training = make_training(lambda engine: kept.append(recorded(engine, ledger, sampling=1)), poisson_sampling=False)
    training.run(1)
    (release,) = releases_of(ledger, kept[0])
    assert (release.sampling, release.count) == (None, 10)


def test_one_optimizer_is_recorded_once(make_training: Make) -> None:
    training = make_training()
    recorded(training.optimizer, MemoryLedger())
    with pytest.raises(CannotRecord, match="twice"):
        recorded(training.optimizer, MemoryLedger())


def test_the_account_states_neighbours_samples_clipping_and_what_was_checked(make_training: Make) -> None:
    from dpaudit.training import watched

    ledger = MemoryLedger()
    training = make_training()
    record = recorded(training.optimizer, ledger)
    watch = watched(training.model, training.optimizer, training.loader)
    training.run(1)
    record.close(watch.results())
    (said,) = [note for note in dp.account(ledger, delta="1e-5").notes if note.startswith("training: ")]
    for part in ("add or remove one record", "rate 0.1;", "clipped to 1 (flat)", "noise, generator, clipping", "mixing"):
        assert part in said
    assert "FAILED" not in said
    assert "evaluation data" not in said, "it was not checked"


def test_nothing_private_is_written(make_training: Make) -> None:
    ledger = MemoryLedger()
    training = make_training()
    record = recorded(training.optimizer, ledger)
    training.run(1)
    (release,) = releases_of(ledger, record)
    assert release.values is None
    assert release.n == 1
    known = {"adjacency", "clip", "clipping", "sample", "accumulated"}
    assert set(release.extra) <= known, "no batch size, no noise, no gradient"
