"""What was released, to whom, at what cost: records, cohorts, budgets, and the store that keeps them."""

from dpaudit.ledger.checkpoint import Verified, checkpoint, verify, verify_checkpoint
from dpaudit.ledger.errors import (
    InvalidRecord,
    LedgerUnavailable,
    MalformedJson,
    TamperedLedger,
    UnreadableLedger,
    WrongKind,
)
from dpaudit.ledger.export import export_jsonl
from dpaudit.ledger.opening import import_jsonl, is_ledger, load_releases, open_ledger
from dpaudit.ledger.parquet import export_parquet
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.strict_json import canonical, load_file, loads
from dpaudit.ledger.spending.budget import Budget, Charge, Filter, refuse_overrun
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.ledger import Head, Ledger
from dpaudit.ledger.store.memory import MemoryLedger
from dpaudit.ledger.store.merkle import inclusion_proof, is_included
from dpaudit.ledger.store.slot import Slot

__all__ = [
    "Budget",
    "Charge",
    "Cohort",
    "Filter",
    "Head",
    "InvalidRecord",
    "Ledger",
    "LedgerUnavailable",
    "MalformedJson",
    "MemoryLedger",
    "PureSums",
    "Release",
    "Slot",
    "TamperedLedger",
    "UnreadableLedger",
    "Verified",
    "WrongKind",
    "canonical",
    "checkpoint",
    "export_jsonl",
    "export_parquet",
    "import_jsonl",
    "inclusion_proof",
    "is_included",
    "is_ledger",
    "load_file",
    "load_releases",
    "loads",
    "open_ledger",
    "refuse_overrun",
    "verify",
    "verify_checkpoint",
]
