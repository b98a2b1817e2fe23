"""Ledgers behind their head, ledgers that move, ledgers in PostgreSQL: names, exit codes and JSON fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp

Cli = Callable[..., Any]


def release(ledger: Any) -> float:
    with dp.live(ledger, budget="4") as channel:
        value: float = channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
        return value


@pytest.mark.filterwarnings("ignore")
def test_a_ledger_behind_its_head_is_dpa007_and_exit_1(workspace: Path, dpaudit_cli: Cli) -> None:
    path = workspace / "live.ledger"
    with dp.open_ledger(path) as ledger:
        release(ledger)
    earlier = path.read_bytes()
    with dp.open_ledger(path) as ledger:
        release(ledger)
    assert (workspace / "live.ledger.head").exists()
    path.write_bytes(earlier)
    for command in ("verify", "account"):
        done = dpaudit_cli(command, "live.ledger")
        assert done.returncode == 1
        assert "DPA007" in done.stdout + done.stderr
    with pytest.raises(dp.DpauditError, match="DPA007"):
        dp.open_ledger(path)


@pytest.mark.filterwarnings("ignore")
def test_migrate_says_where_the_ledger_is_now_and_closes_the_old_one(workspace: Path, dpaudit_cli: Cli) -> None:
    with dp.open_ledger(workspace / "old.ledger") as ledger:
        release(ledger)
    done = dpaudit_cli("migrate", "old.ledger", "new.ledger", "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "dpaudit.migrate/1"
    assert document.keys() == {"schema", "from", "to", "size", "root"}
    assert dpaudit_cli("migrate", "old.ledger", "new.ledger").returncode == 2
    with dp.open_ledger(workspace / "old.ledger") as ledger, pytest.raises(dp.DpauditError, match="moved"):
        release(ledger)
    with dp.open_ledger(workspace / "new.ledger") as ledger:
        release(ledger)
        assert ledger.spent()[0] == 2


@pytest.mark.needs(module="psycopg_pool")
@pytest.mark.filterwarnings("ignore")
def test_a_ledger_in_postgresql_is_opened_by_its_address(postgres: Any, workspace: Path, dpaudit_cli: Cli) -> None:
    address = f"{postgres.address}?ledger=contract"
    with dp.open_ledger(address, budget="4") as ledger:
        release(ledger)
    assert dp.account(address).epsilon == Fraction(1)
    assert dpaudit_cli("verify", address).returncode == 0
    done = dpaudit_cli("account", address, "--format", "json")
    assert json.loads(done.stdout)["epsilon"] == "1"


def test_a_server_that_does_not_answer_is_exit_2(dpaudit_cli: Cli) -> None:
    assert dpaudit_cli("account", "postgresql://127.0.0.1:9/none").returncode == 2


@pytest.mark.needs(module="psycopg_pool")
@pytest.mark.filterwarnings("ignore")
def test_every_command_takes_a_ledger_in_postgresql_and_shows_no_password(
    postgres: Any, workspace: Path, dpaudit_cli: Cli
) -> None:
    address = f"{postgres.address.replace('dpaudit@', 'dpaudit:opensesame@')}?ledger=commands"
    gate = f'[tool.dpaudit.budgets.fleet]\nledger = "{address}"\nepsilon = "1"\ndelta = "0"\n'
    (workspace / "pyproject.toml").write_text(gate, encoding="utf-8")
    commands = [
        ("run", "central", "--epsilon", "1", "--horizon", "100", "--ledger", address),
        ("account", address),
        ("verify", address),
        ("keygen", "-o", "key"),
        ("checkpoint", address, "--key", "key", "--output", "mark.json"),
        ("certify", address, "-o", "cert.json", "--key", "key"),
        ("verify", "cert.json", "--key", "key.pub", "--ledger", address),
        ("check",),
        ("check", "--format", "json"),
        ("export", address, "--output", "all.jsonl"),
        ("migrate", address, "moved.ledger"),
    ]
    for command in commands:
        done = dpaudit_cli(*command)
        assert done.returncode == 0, (command[0], done.stdout, done.stderr)
        assert "opensesame" not in done.stdout + done.stderr, command[0]
    for file in workspace.iterdir():
        assert file.name == "pyproject.toml" or b"opensesame" not in file.read_bytes(), file.name


@pytest.mark.needs(module="psycopg_pool")
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://u:opensesame@127.0.0.1:9/none", "Connection refused"),
        ("postgresql://u:opensesame@[half/none", "not an address of PostgreSQL"),
        ("postgres://u:opensesame@127.0.0.1/none", "postgresql://user@host:port/database"),
    ],
)
def test_an_address_that_leads_nowhere_is_said_in_words_without_its_password(dpaudit_cli: Cli, address: str, said: str) -> None:
    done = dpaudit_cli("account", address)
    assert done.returncode == 2
    assert said in done.stderr
    assert "opensesame" not in done.stdout + done.stderr
