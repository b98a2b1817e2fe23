"""A door with a checkpoint opens only on a ledger that goes on where the checkpoint ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger import checkpoint
from dpaudit.ledger.errors import TamperedLedger


def grown(path: Path, times: int) -> None:
    with dp.open_ledger(path, budget="100") as ledger, dp.live(ledger) as channel:
        for _ in range(times):
            channel.release("sum", dp.seal([0.5, 0.25], 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)


@pytest.fixture
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def test_a_ledger_that_goes_on_is_opened_by_checkpoint_file_and_head(tmp_path: Path, key: Ed25519PrivateKey) -> None:
    path, file = tmp_path / "own.ledger", tmp_path / "checkpoint.json"
    grown(path, 3)
    with dp.open_ledger(path) as ledger:
        kept, head = checkpoint(ledger, key), ledger.head()
    file.write_text(json.dumps(kept), encoding="utf-8")
    grown(path, 2)
    for required in (kept, file, head):
        with dp.open_ledger(path) as ledger, dp.live(ledger, checkpoint=required, trusted_key=key.public_key()) as channel:
            before = ledger.head().size
            channel.release("sum", dp.seal([0.5, 0.25], 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)
            assert ledger.head().size > before


def test_a_ledger_that_was_restored_emptied_or_swapped_is_refused(tmp_path: Path, key: Ed25519PrivateKey) -> None:
    path, old, other = tmp_path / "own.ledger", tmp_path / "old.ledger", tmp_path / "other.ledger"
    grown(path, 1)
    shutil.copy(path, old)
    shutil.copy(f"{path}.head", f"{old}.head")  # a backup that is whole, and looks like a younger ledger
    grown(path, 2)
    grown(other, 9)
    with dp.open_ledger(path) as ledger:
        kept, head = checkpoint(ledger, key), ledger.head()
    for place, required, words in (
        (old, kept, "entries, "), (old, head, "entries, "), (other, kept, "another ledger"), (other, head, "were changed"),
    ):  # fmt: skip
        with dp.open_ledger(place) as ledger:
            before = ledger.head()
            with (
                pytest.raises(TamperedLedger, match=words),
                dp.live(ledger, "100", checkpoint=required, trusted_key=key.public_key()),
            ):
                pass
            assert ledger.head() == before


def test_a_checkpoint_needs_the_key_that_may_sign_it(tmp_path: Path, key: Ed25519PrivateKey) -> None:
    path = tmp_path / "own.ledger"
    grown(path, 1)
    with dp.open_ledger(path) as ledger:
        kept, changed = checkpoint(ledger, key), checkpoint(ledger, key) | {"size": 1}
        stranger = Ed25519PrivateKey.generate().public_key()
        for required, trusted, error in (
            (kept, None, InvalidValue), (kept, stranger, TamperedLedger), (changed, key.public_key(), TamperedLedger),
            ({}, key.public_key(), InvalidValue), (tmp_path / "own.ledger.head", key.public_key(), InvalidValue),
        ):  # fmt: skip
            with pytest.raises(error), dp.live(ledger, checkpoint=required, trusted_key=trusted):
                pass
