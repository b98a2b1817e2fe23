"""A private training with Opacus: recorded in a ledger, stopped by its budget, checked while it runs, attacked with canaries.

python train.py            (about a minute; writes training.ledger, checks.json and scores.csv)
dpaudit account training.ledger
dpaudit canaries scores.csv --delta 1e-5 --epsilon 6 --checks checks.json
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from opacus import PrivacyEngine
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import dpaudit as dp
from dpaudit.training import canaries, recorded, watched

FEATURES, RECORDS, CANARIES = 64, 1000, 1000
BUDGET = ("6", "1e-5")


def make_data() -> tuple[TensorDataset, TensorDataset, TensorDataset]:
    """Records with a rule to learn, samples that no rule explains (canaries), and records to evaluate on."""
    direction = torch.randn(FEATURES)
    points = torch.randn(2 * RECORDS, FEATURES)
    labels = (points @ direction > 0).long()
    odd = TensorDataset(3 * torch.randn(CANARIES, FEATURES), torch.randint(0, 2, (CANARIES,)))
    return TensorDataset(points[:RECORDS], labels[:RECORDS]), odd, TensorDataset(points[RECORDS:], labels[RECORDS:])


def each_loss(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """One loss a sample, as canaries are scored by."""
    return cross_entropy(outputs, labels, reduction="none")


def train(folder: Path, epochs: int = 20) -> dict[str, Any]:
    """Train until the budget is spent or the epochs are over; what there is to tell."""
    records, odd, held_out = make_data()
    inserted = canaries(records, odd)  # by secret coins; the training sees inserted.dataset alone
    model = torch.nn.Linear(FEATURES, 2)
    engine = PrivacyEngine(accountant="prv")
    record = recorded(engine, folder / "training.ledger", budget=BUDGET)  # the one line that records and stops
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.5), noise_multiplier=1.0, max_grad_norm=1.0,
        data_loader=DataLoader(inserted.dataset, batch_size=100),
    )  # fmt: skip
    watch = watched(model, optimizer, loader)
    inserted.watch(model, optimizer, each_loss, rate=loader.sample_rate)
    stopped = ""
    try:
        for _ in range(epochs):
            for points, labels in loader:
                optimizer.zero_grad()
                cross_entropy(model(points), labels).backward()
                optimizer.step()
    except dp.BudgetExceeded as refusal:
        stopped = str(refusal)
    certified = record.epsilon()
    record.close(watch.results(evaluation_data=held_out))
    watch.write(folder / "checks.json", evaluation_data=held_out)
    inserted.write(folder / "scores.csv")
    points, labels = held_out.tensors
    with torch.no_grad():
        accuracy = float((model(points).argmax(1) == labels).float().mean())
    return {
        "steps": record.steps, "certified": float(certified), "opacus": engine.get_epsilon(float(BUDGET[1])), "stopped": stopped,
        "findings": watch.findings(evaluation_data=held_out), "lower": inserted.audit(BUDGET[1]).lower, "accuracy": accuracy,
    }  # fmt: skip


def main() -> None:
    torch.manual_seed(0)  # the data and the first weights; the noise too, so this is no deployment
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Opacus: its secure generator is off
        told = train(Path())
    print(f"{told['steps']} steps, accuracy {told['accuracy']:.3f}")
    print(f"stopped:   {told['stopped'] or 'no, the epochs were over'}")
    print(f"certified: ε ≤ {told['certified']:.4f} at δ = {BUDGET[1]} (Opacus's PRV accountant: {told['opacus']:.4f})")
    print(f"attacked:  ε ≥ {told['lower']:.4f} from {CANARIES} canaries, confidence 0.95")
    print("checks:    " + ("; ".join(str(finding.message) for finding in told["findings"]) or "nothing found"))


if __name__ == "__main__":
    main()
