"""A mechanism in a file of its own, a key pair, and certificates made from them in this process."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.certificate import audit_subject, refuse, relied_upon, sign, statement
from dpaudit.cli import main
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of, subjects_of

SOURCE = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=100, low=-1, high=1))
def noisy_sum(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)
"""


@pytest.fixture(scope="session")
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    (tmp_path / "mechanism.py").write_text(SOURCE, encoding="utf-8")
    (found,) = subjects_of(str(tmp_path / "mechanism.py"))
    return found


@pytest.fixture(scope="session")
def document(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The statement about the honest mechanism, and its file."""
    path = tmp_path_factory.mktemp("certified") / "mechanism.py"
    path.write_text(SOURCE, encoding="utf-8")
    (found,) = subjects_of(str(path))
    audited = audit_subject(found, seed=1)
    claims = relied_upon(found)
    refuse(None, audited, claims)
    return statement(None, audited, claims, []), path


@pytest.fixture
def certificate(document: tuple[dict[str, Any], Path], key: Ed25519PrivateKey, tmp_path: Path) -> Path:
    path = tmp_path / "cert.json"
    path.write_text(sign(document[0], key), encoding="utf-8")
    return path


@pytest.fixture
def deployment(tmp_path: Path, subject: Subject) -> Path:
    """A ledger as an honest deployment of the mechanism leaves it."""
    path = tmp_path / "live.ledger"
    with dp.open_ledger(path, code=code_of(subject)) as ledger, dp.live(ledger, subject.claim, proven=True) as channel:
        subject.run(dp.seal(np.linspace(-1, 1, 100), -1, 1), channel)
    return path


@pytest.fixture
def keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Files of a private and a public key."""
    assert main(["keygen", "-o", str(tmp_path / "auditor")]) == 0
    capsys.readouterr()
    return str(tmp_path / "auditor"), str(tmp_path / "auditor.pub")


@pytest.fixture
def payload() -> Callable[[Path], dict[str, Any]]:
    """The statement inside an envelope."""
    return lambda path: json.loads(b64decode(json.loads(path.read_text(encoding="utf-8"))["payload"]))
