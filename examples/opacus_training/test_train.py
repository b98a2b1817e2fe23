"""The example trains once: its budget holds, its checks pass, and the bounds enclose each other in the right order."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from train import BUDGET, train

import dpaudit as dp


def test_the_training_keeps_its_budget_and_what_is_said_of_it_fits_together(tmp_path: Path) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = train(tmp_path)
    assert told["stopped"]
    assert told["findings"] == []
    assert told["lower"] <= told["certified"] <= float(BUDGET[0])
    assert told["certified"] < told["opacus"]
    assert told["accuracy"] > 0.6
    assert float(dp.account(str(tmp_path / "training.ledger")).epsilon) == told["certified"]
