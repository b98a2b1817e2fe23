"""``keygen``, ``certify`` and ``verify``: a certificate is a signed verdict."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]
Parse = Callable[[str], Any]

QUICK_RUN = ("run", "central", "--epsilon", "1", "--horizon", "10000", "--calibration", "corrected")


class Keys(NamedTuple):
    private: str
    public: str


@pytest.fixture
def keygen(workspace: Path, dpaudit_cli: Cli) -> Callable[[str], Keys]:
    """Make a pair of keys; the public one is the file that says so in its name."""

    def make(name: str) -> Keys:
        before = set(workspace.iterdir())
        done = dpaudit_cli("keygen", "-o", name)
        assert done.returncode == 0, done.stderr
        files = sorted(path.name for path in set(workspace.iterdir()) - before)
        assert len(files) == 2
        assert all(file.startswith(name) for file in files)
        (public,) = [file for file in files if "pub" in file[len(name) :]]
        (private,) = [file for file in files if file != public]
        return Keys(private, public)

    return make


@pytest.fixture
def certified(keygen: Callable[[str], Keys], dpaudit_cli: Cli) -> Keys:
    """``cert.json`` for the honest example, and the keys it was signed with."""
    keys = keygen("auditor")
    done = dpaudit_cli("certify", "examples.py:noisy_sum", "-o", "cert.json", "--key", keys.private)
    assert done.returncode == 0, done.stderr
    return keys


def tamper(path: Path) -> None:
    """Change one character in the middle of the longest text of a certificate."""
    document = json.loads(path.read_text(encoding="utf-8"))
    texts: list[str] = []

    def collect(part: Any) -> None:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict | list):
            for inner in part.values() if isinstance(part, dict) else part:
                collect(inner)

    collect(document)
    longest = max(texts, key=len)
    middle = len(longest) // 2
    changed = longest[:middle] + ("A" if longest[middle] != "A" else "B") + longest[middle + 1 :]
    raw = json.dumps(document)
    path.write_text(raw.replace(json.dumps(longest), json.dumps(changed), 1), encoding="utf-8")


def test_the_private_key_is_for_its_owner_only(workspace: Path, keygen: Callable[[str], Keys]) -> None:
    keys = keygen("auditor")
    assert (workspace / keys.private).stat().st_mode & 0o077 == 0


def test_keygen_does_not_overwrite_a_key(workspace: Path, keygen: Callable[[str], Keys], dpaudit_cli: Cli) -> None:
    keys = keygen("auditor")
    held = (workspace / keys.private).read_bytes()
    assert dpaudit_cli("keygen", "-o", "auditor").returncode == 2
    assert (workspace / keys.private).read_bytes() == held


def test_a_certificate_is_json_and_verifies_with_its_key(
    workspace: Path, certified: Keys, dpaudit_cli: Cli, parse: Parse
) -> None:
    parse((workspace / "cert.json").read_text(encoding="utf-8"))
    assert dpaudit_cli("verify", "cert.json", "--key", certified.public).returncode == 0


def test_a_certificate_without_a_trusted_key_is_not_accepted(
    certified: Keys, keygen: Callable[[str], Keys], dpaudit_cli: Cli
) -> None:
    assert dpaudit_cli("verify", "cert.json").returncode == 3
    stranger = keygen("stranger")
    assert dpaudit_cli("verify", "cert.json", "--key", stranger.public).returncode in {1, 3}


def test_a_tampered_certificate_is_violated(workspace: Path, certified: Keys, dpaudit_cli: Cli) -> None:
    tamper(workspace / "cert.json")
    done = dpaudit_cli("verify", "cert.json", "--key", certified.public)
    assert done.returncode == 1
    assert "DPA007" in done.stdout + done.stderr


def test_an_unreadable_certificate_or_key_exits_2(workspace: Path, certified: Keys, dpaudit_cli: Cli) -> None:
    assert dpaudit_cli("verify", "cert.json", "--key", "examples.py").returncode == 2
    (workspace / "cert.json").write_text("not json", encoding="utf-8")
    assert dpaudit_cli("verify", "cert.json", "--key", certified.public).returncode == 2
    assert dpaudit_cli("verify", "missing.json", "--key", certified.public).returncode == 2


@pytest.mark.parametrize(("example", "codes"), [("black_box", {3}), ("overspends", {1, 3}), ("half_noise", {1, 3})])
def test_what_is_not_certified_gets_no_certificate(
    example: str, codes: set[int], workspace: Path, keygen: Callable[[str], Keys], dpaudit_cli: Cli
) -> None:
    keys = keygen("auditor")
    done = dpaudit_cli("certify", f"examples.py:{example}", "-o", "cert.json", "--key", keys.private)
    assert done.returncode in codes
    assert not (workspace / "cert.json").exists()


def test_a_live_ledger_is_certified_and_a_simulated_one_refused(
    workspace: Path, keygen: Callable[[str], Keys], dpaudit_cli: Cli
) -> None:
    keys = keygen("auditor")
    assert dpaudit_cli(*QUICK_RUN, "--ledger", "live.ledger").returncode == 0
    assert dpaudit_cli("certify", "live.ledger", "-o", "live.json", "--key", keys.private).returncode == 0
    assert dpaudit_cli("verify", "live.json", "--key", keys.public).returncode == 0
    assert dpaudit_cli(*QUICK_RUN, "--seed", "1", "--ledger", "simulated.ledger").returncode == 0
    done = dpaudit_cli("certify", "simulated.ledger", "-o", "simulated.json", "--key", keys.private)
    assert done.returncode == 3
    assert "simulated" in done.stdout + done.stderr
    assert not (workspace / "simulated.json").exists()


def test_a_ledger_is_verified_and_a_truncated_one_is_not(workspace: Path, dpaudit_cli: Cli) -> None:
    assert dpaudit_cli(*QUICK_RUN, "--ledger", "live.ledger").returncode == 0
    assert dpaudit_cli("verify", "live.ledger").returncode in {0, 3}  # no checkpoint, no key: whole at best
    whole = (workspace / "live.ledger").read_bytes()
    (workspace / "live.ledger").write_bytes(whole[: len(whole) // 2])
    assert dpaudit_cli("verify", "live.ledger").returncode in {1, 2}
