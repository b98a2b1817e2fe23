"""``dpaudit.training``: a training in a ledger with two added lines, stopped by its budget, accounted for on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.training import recorded


@pytest.fixture
def spent_ledger(tmp_path: Path) -> Path:
    """The ledger of a real training that its budget stopped."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    data = TensorDataset(torch.randn(100, 4), torch.randint(0, 2, (100,)))
    model, file = torch.nn.Linear(4, 2), tmp_path / "training.ledger"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = PrivacyEngine(accountant="rdp")
        with recorded(engine, file, budget=("3", "1e-5")):
            model, optimizer, loader = engine.make_private(
                module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0,
                data_loader=DataLoader(data, batch_size=20),
            )  # fmt: skip
            with pytest.raises(dp.BudgetExceeded):
                _train(model, optimizer, loader)
    return file


def _train(model: Any, optimizer: Any, loader: Any) -> None:
    from torch.nn.functional import cross_entropy

    for _ in range(100):
        for data, labels in loader:
            optimizer.zero_grad()
            cross_entropy(model(data), labels).backward()
            optimizer.step()


def test_account_certifies_a_recorded_training_within_its_budget(
    spent_ledger: Path, dpaudit_cli: Callable[..., Any], parse: Callable[[str], Any], validate: Callable[..., None]
) -> None:
    done = dpaudit_cli("account", spent_ledger, "--format", "json")
    document = parse(done.stdout)
    validate(document, "account")
    assert done.returncode == 0
    assert 2.5 < float(document["epsilon"]) <= 3
    assert document["delta"] == "1e-5"
    assert len(document["releases"]) == 1, "blocks of one training are one plan"


def test_certify_signs_a_training_that_was_checked_and_refuses_one_that_was_not(
    tmp_path: Path, spent_ledger: Path, dpaudit_cli: Callable[..., Any], parse: Callable[[str], Any]
) -> None:
    from fractions import Fraction

    from dpaudit.certificate.facts.training_facts import NEEDED
    from dpaudit.training.step_charges import StepCharges
    from dpaudit.training.step_facts import StepFacts

    checked = tmp_path / "checked.ledger"
    with dp.open_ledger(checked, budget=("3", "1e-5")) as ledger:
        charges = StepCharges(ledger)
        for _ in range(10):
            charges.step(StepFacts(Fraction(1), Fraction(1), Fraction(1, 10), 50))
        charges.close(", ".join(NEEDED))
    dpaudit_cli("keygen", "-o", "auditor")
    done = dpaudit_cli("certify", checked, "-o", "cert.json", "--key", "auditor", "--format", "json")
    assert done.returncode == 0
    said = parse(done.stdout)["predicate"]["training"]
    assert said["adjacency"] == "add or remove one record, or replace its gradient by zero"
    assert said["steps"][0]["sampling"] == "0.1"
    assert "clipping" in said["checked"]
    assert dpaudit_cli("verify", "cert.json", "--key", "auditor.pub", "--ledger", checked).returncode == 0
    refused = dpaudit_cli("certify", spent_ledger, "-o", "other.json", "--key", "auditor")
    assert refused.returncode == 3
    assert "not checked while the training ran" in refused.stderr
