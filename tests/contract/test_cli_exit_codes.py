"""One example per command and exit code: 0 holds, 1 violated, 2 bad input, 3 unproven, 5 nothing to check."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]

QUICK = ("--samples", "1000", "--seed", "1")
BANDIT = ("--epsilon", "1", "--horizon", "10000", "--samples", "2000", "--seed", "1", "--format", "json")
SHUFFLE = ("--epsilon", "1", "--delta", "1e-6", "--observer", "shuffled", "--horizon", "1000000")

EXAMPLES: list[tuple[int, tuple[str, ...]]] = [
    (0, ("--version",)),
    (0, ("--help",)),
    (0, ("audit", "examples.py:noisy_sum", *QUICK)),
    (0, ("audit", "examples.py:half_noise", "--epsilon", "2", *QUICK)),
    (1, ("audit", "examples.py:half_noise", *QUICK)),
    (
        1,
        (
            "audit",
            "examples.py:noisy_sum",
            "--epsilon",
            "0.5",
            "--delta",
            "0",
            "--confidence",
            "0.99",
            *QUICK,
        ),
    ),
    (1, ("audit", "examples.py:small_sensitivity", *QUICK)),
    (1, ("audit", "examples.py:half_noise", "--observer", "actions", "--samples", "10000", "--seed", "1")),
    (3, ("audit", "examples.py:black_box", *QUICK)),
    (0, ("audit", "examples.py:adaptive", *QUICK)),
    (3, ("audit", "examples.py:median", *QUICK)),
    (5, ("audit", "empty.py", *QUICK)),
    (2, ("audit", "missing.py:noisy_sum", *QUICK)),
    (2, ("audit", "examples.py:missing", *QUICK)),
    (2, ("audit", "no-such-algorithm", *QUICK)),
    (2, ("audit", "examples.py:breaks", *QUICK)),
    (2, ("audit", "examples.py:noisy_sum", "--observer", "everybody", *QUICK)),
    (2, ("audit", "examples.py:noisy_sum", "--format", "sarif", *QUICK)),
    (2, ("audit",)),
    (1, ("audit", "central", "--calibration", "printed", *BANDIT)),
    (1, ("audit", "central", "--calibration", "printed", "--observer", "actions", *BANDIT)),
    (0, ("audit", "central", "--calibration", "corrected", *BANDIT)),
    (0, ("audit", "central", "--calibration", "tight", *BANDIT)),
    (1, ("audit", "local", "--calibration", "printed", *BANDIT)),
    (0, ("audit", "local", "--calibration", "corrected", *BANDIT)),
    (1, ("audit", "shuffled", "--calibration", "printed", *SHUFFLE, *QUICK)),
    (0, ("audit", "shuffled", "--calibration", "corrected", *SHUFFLE, *QUICK)),
    (0, ("account", "releases.jsonl")),
    (2, ("account", "missing.ledger")),
    (2, ("account", "examples.py")),
    (2, ("serve", "missing.ledger")),
    (2, ("serve", "missing.ledger", "--host", "127.0.0.1", "--port", "70000")),
    (0, ("canaries", "scores.csv", "--delta", "1e-5")),
    (1, ("canaries", "scores.csv", "--delta", "1e-5", "--epsilon", "1")),
    (1, ("canaries", "scores.csv", "--delta", "1e-5", "--curve", "training.jsonl")),
    (3, ("canaries", "scores.csv", "--delta", "1e-5", "--epsilon", "8")),
    (1, ("canaries", "scores.csv", "--delta", "1e-5", "--epsilon", "8", "--checks", "checks.json")),
    (2, ("canaries", "scores.csv", "--delta", "1e-5", "--checks", "releases.jsonl")),
    (2, ("canaries", "scores.csv")),
    (2, ("canaries", "missing.csv", "--delta", "1e-5")),
    (2, ("canaries", "examples.py", "--delta", "1e-5")),
    (0, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6")),
    (0, ("amplify", "--epsilon0", "4", "--n", "1000000", "--delta", "1e-6", "--method", "closed")),
    (3, ("amplify", "--epsilon0", "4", "--n", "10000", "--delta", "1e-6", "--method", "closed")),
    (0, ("amplify", "--epsilon0", "4", "--n", "10000", "--delta", "1e-6", "--method", "clone")),
    (0, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "laplace")),
    (0, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "same")),
    (0, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "krr", "--k", "100")),
    (0, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "unary")),
    (0, ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "channel.json")),
    (2, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "krr")),
    (2, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "krr", "--k", "1")),
    (2, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "same", "--k", "3")),
    (2, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "same", "--channel", "channel.json")),
    (2, ("amplify", "--epsilon0", "1/2", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "channel.json")),
    (2, ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "missing.json")),
    (2, ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "examples.py")),
    (2, ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel")),
    (2, ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "same")),
    (2, ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--method", "magic")),
    (2, ("amplify", "--epsilon0", "1", "--n", "0", "--delta", "1e-6")),
    (2, ("amplify", "--epsilon0", "1")),
    (0, ("invert", "--epsilon", "1", "--n", "297170", "--delta", "1e-6")),
    (0, ("invert", "--epsilon", "1", "--n", "297170", "--delta", "1e-6", "--digits", "10")),
    (3, ("invert", "--epsilon", "1", "--n", "1000", "--delta", "1e-6", "--method", "closed")),
    (0, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "clone")),
    (0, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "same")),
    (0, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "krr", "--k", "10")),
    (0, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "unary")),
    (2, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "krr")),
    (2, ("invert", "--epsilon", "1/4", "--n", "1000", "--delta", "1e-6", "--method", "channel")),
    (2, ("invert", "--epsilon", "1", "--n", "297170", "--delta", "0")),
    (0, ("run", "central", "--epsilon", "1", "--horizon", "10000", "--seed", "1")),
    (
        0,
        ("run", "local", "--epsilon", "1", "--horizon", "10000", "--calibration", "corrected", "--seed", "1"),
    ),
    (0, ("run", "shuffled", "--epsilon", "1", "--delta", "1e-6", "--horizon", "10000", "--seed", "1")),
    (2, ("run", "no-such-algorithm", "--epsilon", "1", "--horizon", "10000", "--seed", "1")),
    (2, ("run", "central", "--epsilon", "1", "--horizon", "10000", "--calibration", "fixed", "--seed", "1")),
    (2, ("run", "central", "--horizon", "10000", "--seed", "1")),
    (2, ("no-such-command",)),
]


IDS = [" ".join(arguments) for _, arguments in EXAMPLES]


@pytest.mark.parametrize(("code", "arguments"), EXAMPLES, ids=IDS)
def test_exit_code_is_that_of_the_design(code: int, arguments: tuple[str, ...], shared_cli: Cli) -> None:
    done = shared_cli(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stderr.strip(), "an error says what to do about it"


def test_the_demo_completes_although_it_refutes(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "one", ""])
@pytest.mark.parametrize(
    "command",
    [("audit", "examples.py:noisy_sum", *QUICK), ("run", "central", "--horizon", "10000", "--seed", "1")],
    ids=["audit", "run"],
)
def test_a_bad_epsilon_is_one_clear_line(command: tuple[str, ...], value: str, shared_cli: Cli) -> None:
    done = shared_cli(*command, f"--epsilon={value}")
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("dpaudit: epsilon must be ")


def several(folder: Path, *names: str) -> None:
    """A file with just these of the examples."""
    module = ast.parse((folder / "examples.py").read_text(encoding="utf-8"))
    module.body = [part for part in module.body if not isinstance(part, ast.FunctionDef) or part.name in names]
    (folder / "several.py").write_text(ast.unparse(module), encoding="utf-8")


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (0, ("noisy_sum", "two_halves")),
        (3, ("noisy_sum", "black_box")),
        (1, ("black_box", "half_noise", "noisy_sum")),
        (2, ("half_noise", "breaks", "black_box")),
    ],
)
def test_several_subjects_give_the_worst_code(code: int, names: tuple[str, ...], workspace: Path, dpaudit_cli: Cli) -> None:
    several(workspace, *names)
    done = dpaudit_cli("audit", "several.py", *QUICK)
    assert done.returncode == code, done.stdout + done.stderr


def test_a_truncated_ledger_is_tampered_or_unreadable(tmp_path: Path, dpaudit_cli: Cli) -> None:
    run = ("run", "central", "--epsilon", "1", "--horizon", "10000", "--ledger", "today.ledger")
    assert dpaudit_cli(*run).returncode == 0
    assert dpaudit_cli("account", "today.ledger").returncode == 0
    whole = (tmp_path / "today.ledger").read_bytes()
    (tmp_path / "today.ledger").write_bytes(whole[: len(whole) // 2])
    done = dpaudit_cli("account", "today.ledger")
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        '{"mechanism": "laplace", "scale": NaN, "sensitivity": "2"}',
        '{"mechanism": "laplace", "scale": "2", "scale": "4", "sensitivity": "2"}',
        '{"mechanism": "magic", "scale": "2", "sensitivity": "2"}',
        '{"mechanism": "laplace", "scale": "2"}',
        "not json",
    ],
)
def test_a_bad_hand_written_release_is_refused_with_its_line(line: str, tmp_path: Path, dpaudit_cli: Cli) -> None:
    good = '{"mechanism": "laplace", "scale": "2", "sensitivity": "2"}'
    (tmp_path / "releases.jsonl").write_text(f"{good}\n{line}\n", encoding="utf-8")
    done = dpaudit_cli("account", "releases.jsonl")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "2" in done.stderr  # the line's number


# What later issues bring. Each asks for more than its code, so that a usage error is not mistaken for it.


def test_claims_of_the_paper_exit_1_while_one_is_refuted(shared_cli: Cli) -> None:
    done = shared_cli("claims", "--quick")
    assert done.returncode == 1
    assert "thm1.privacy" in done.stdout


def test_one_refuted_claim_exits_1_and_tells_its_story(shared_cli: Cli) -> None:
    done = shared_cli("claims", "thm1.privacy")
    assert done.returncode == 1
    assert "refuted" in done.stdout


def test_a_referees_letter_is_latex_and_keeps_the_exit_code(shared_cli: Cli) -> None:
    done = shared_cli("claims", "thm1.sensitivity", "--quick", "--format", "latex")
    assert done.returncode == 1
    assert done.stdout.startswith("\\documentclass")
    assert done.stdout.rstrip().endswith("\\end{document}")


def test_a_new_paper_exits_0_and_a_bad_name_or_an_unknown_paper_2(shared_cli: Cli, tmp_path: Path) -> None:
    assert shared_cli("new-paper", "my-paper", "--folder", str(tmp_path)).returncode == 0
    assert (tmp_path / "my-paper" / "pyproject.toml").exists()
    assert shared_cli("new-paper", "My Paper", "--folder", str(tmp_path)).returncode == 2
    assert shared_cli("claims", "--paper", "nothing").returncode == 2


def test_an_unknown_claim_exits_2_and_is_named(shared_cli: Cli) -> None:
    done = shared_cli("claims", "thm99.nothing")
    assert done.returncode == 2
    assert "thm99.nothing" in done.stderr
    assert "usage" not in done.stderr


def test_explain_tells_what_a_rule_means(shared_cli: Cli) -> None:
    done = shared_cli("explain", "DPA003")
    assert done.returncode == 0
    assert "sensitivity" in done.stdout
    assert shared_cli("explain", "DPA999").returncode == 2


def test_peers_completes_and_names_them(shared_cli: Cli) -> None:
    done = shared_cli("peers", "releases.jsonl")
    assert done.returncode == 0
    assert "opacus" in done.stdout.lower()
    assert "dp-accounting" in done.stdout.lower().replace("_", "-")


@pytest.mark.parametrize("command", ["calibrate", "compare"])
def test_calibrate_and_compare_have_the_common_options(command: str, shared_cli: Cli) -> None:
    done = shared_cli(command, "--help")
    assert done.returncode == 0
    assert f"dpaudit {command}" in done.stdout
    assert "--format" in done.stdout
    assert "--output" in done.stdout


def test_a_sequential_audit_refutes_half_the_noise_and_not_the_honest_one(shared_cli: Cli) -> None:
    assert shared_cli("audit", "examples.py:half_noise", "--sequential", "--seed", "1").returncode == 1
    assert shared_cli("audit", "examples.py:noisy_sum", "--sequential", "--seed", "1").returncode in {0, 3}


def test_a_scheduler_that_is_not_there_exits_2_and_is_named(shared_cli: Cli) -> None:
    address = "tcp://127.0.0.1:9"
    done = shared_cli("audit", "examples.py:noisy_sum", *QUICK, "--scheduler", address)
    assert done.returncode == 2
    assert address in done.stderr
    assert "unrecognized" not in done.stderr
    assert "usage" not in done.stderr


def test_contexts_go_with_the_table_of_systems_only(shared_cli: Cli) -> None:
    refused = shared_cli("compare", "--calibrations", "central", "--contexts", "4", "--epsilon", "1", "--horizon", "1000")
    assert refused.returncode == 2
    assert "--table1" in refused.stderr
