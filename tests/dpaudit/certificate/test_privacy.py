"""Nothing private is in a certificate: no record, no released value, no client, no place on a disk."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.certificate import open_certificate, read_ledger, refuse, registry_entry, sign, statement
from dpaudit.ledger import loads

CANARY = 0.8378906250


def test_a_live_ledgers_canaries_do_not_reach_its_certificate(tmp_path: Path, key: Any) -> None:
    path = tmp_path / "canary-folder.ledger"
    clients = [f"pseudonym-{n:04d}" for n in range(8)]
    with dp.open_ledger(path) as ledger, dp.live(ledger, 4, proven=True) as channel:
        data = dp.seal(np.full(8, CANARY), -1, 1)
        noisy = channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2, cohort=clients)
        reports = channel.reports("each", data, dp.Laplace(scale=2), sensitivity=2, cohort=clients).values
    evidence = read_ledger(path)
    refuse(evidence, None, [])
    text = sign(statement(evidence, None, [], []), key)
    (tmp_path / "cert.json").write_text(text, encoding="utf-8")
    entry = registry_entry(open_certificate(tmp_path / "cert.json"))
    shown = b64decode(loads(text.encode())["payload"]).decode() + str(entry)
    released = [repr(float(value)) for value in (noisy, *reports)]
    units = [str(round(float(value) * 2**20)) for value in (noisy, *reports)]
    secrets = [str(CANARY), str(CANARY * 8), str(int(CANARY * 2**20)), "pseudonym", str(tmp_path), *released, *units]
    assert [secret for secret in secrets if secret in shown] == []
    with dp.open_ledger(path, readonly=True) as ledger:  # the twin: the ledger itself holds what was released, and for whom
        whole = b"".join(ledger.entries()).decode()
    assert "pseudonym-0003" in whole
    assert units[0] in whole
    assert str(int(CANARY * 2**20)) not in whole
