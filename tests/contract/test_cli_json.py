"""JSON of every command against its schema; text, ``--output`` and ``--version``."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]
Parse = Callable[[str], Any]
Validate = Callable[[Any, str], None]

QUICK = ("--samples", "1000", "--seed", "1")
AMPLIFY = ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6")
INVERT = ("invert", "--epsilon", "1", "--n", "297170", "--delta", "1e-6")
RUN = ("run", "central", "--epsilon", "1", "--horizon", "10000", "--seed", "1")
PRINTED = ("audit", "central", "--calibration", "printed", "--epsilon", "1", "--horizon", "10000")

COMMANDS: list[tuple[str, tuple[str, ...]]] = [
    ("audit", ("audit", "examples.py:noisy_sum", *QUICK)),
    ("audit", ("audit", "examples.py:half_noise", *QUICK)),
    ("audit", ("audit", "examples.py:black_box", *QUICK)),
    ("audit", ("audit", "examples.py:small_sensitivity", *QUICK)),
    ("audit", ("audit", "examples.py:branches", *QUICK)),
    ("audit", (*PRINTED, "--samples", "2000", "--seed", "1")),
    ("account", ("account", "releases.jsonl")),
    ("canaries", ("canaries", "scores.csv", "--delta", "1e-5")),
    ("canaries", ("canaries", "scores.csv", "--delta", "1e-5", "--epsilon", "1")),
    ("canaries", ("canaries", "scores.csv", "--delta", "1e-5", "--curve", "training.jsonl")),
    ("canaries", ("canaries", "scores.csv", "--delta", "1e-5", "--checks", "checks.json")),
    ("amplify", AMPLIFY),
    ("amplify", ("amplify", "--epsilon0", "4", "--n", "10000", "--delta", "1e-6", "--method", "closed")),
    ("amplify", (*AMPLIFY, "--method", "same")),
    ("amplify", (*AMPLIFY, "--method", "krr", "--k", "100")),
    ("amplify", ("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "channel.json")),
    ("invert", INVERT),
    ("invert", (*INVERT, "--method", "unary")),
    ("run", RUN),
]


@pytest.fixture
def told(shared_cli: Cli, parse: Parse) -> Callable[..., Any]:
    """The JSON of a command, strictly parsed."""

    def tell(*arguments: str) -> Any:
        done = shared_cli(*arguments, "--format", "json")
        assert done.stdout, done.stderr
        return parse(done.stdout)

    return tell


@pytest.mark.parametrize(("schema", "arguments"), COMMANDS)
def test_json_of_a_command_follows_its_schema(
    schema: str, arguments: tuple[str, ...], told: Callable[..., Any], validate: Validate
) -> None:
    document = told(*arguments)
    assert document["schema"] == f"dpaudit.{schema}/1"
    validate(document, schema)


@pytest.mark.parametrize(("schema", "arguments"), COMMANDS)
def test_text_is_the_default_and_exits_alike(schema: str, arguments: tuple[str, ...], shared_cli: Cli) -> None:
    plain, text = shared_cli(*arguments), shared_cli(*arguments, "--format", "text")
    assert plain.returncode == text.returncode == shared_cli(*arguments, "--format", "json").returncode
    assert text.stdout.strip()
    with pytest.raises(json.JSONDecodeError):
        json.loads(plain.stdout)


@pytest.mark.parametrize(("name", "verdict"), [("noisy_sum", "certified"), ("half_noise", "refuted"), ("black_box", "unproven")])
def test_audit_says_its_verdict_in_text_and_json(name: str, verdict: str, shared_cli: Cli, told: Callable[..., Any]) -> None:
    arguments = ("audit", f"examples.py:{name}", *QUICK)
    document = told(*arguments)
    assert document["verdict"] == verdict
    assert document["claim"] == {"epsilon": "1", "delta": "0"}
    assert document["observer"] == "server"
    assert document["seed"] == 1
    assert name in document["subject"]
    assert verdict in shared_cli(*arguments).stdout.lower()


def test_audit_of_the_example_has_upper_one(told: Callable[..., Any]) -> None:
    upper = told("audit", "examples.py:noisy_sum", *QUICK)["upper"]
    assert upper["epsilon"] == "1"
    assert upper["sensitivity"] == "proven"
    assert upper["path"] in {"single", "enforced"}


def test_audit_of_the_printed_central_algorithm_finds_twice_the_claim(told: Callable[..., Any]) -> None:
    document = told(*PRINTED, "--samples", "2000", "--seed", "1")
    assert document["verdict"] == "refuted"
    assert 1 < document["lower"]["epsilon"] <= 2.05
    assert document["witness"]


def test_a_black_box_has_no_upper_bound_and_says_what_it_could_detect(told: Callable[..., Any]) -> None:
    document = told("audit", "examples.py:black_box", *QUICK)
    assert document["upper"] is None
    assert document["detectable"] > 1


def test_account_adds_hand_written_releases(told: Callable[..., Any]) -> None:
    document = told("account", "releases.jsonl")
    assert document["epsilon"] == "2"
    assert document["delta"] == "0"
    assert document["observers"]["server"] == {"epsilon": "2", "delta": "0"}
    assert [Fraction(release["epsilon"]) for release in document["releases"]] == [1, 1]


def test_amplify_and_invert_enclose_with_the_attack_beside(told: Callable[..., Any]) -> None:
    epsilon = told(*AMPLIFY)["epsilon"]
    assert 0 < Fraction(epsilon["lower"]) <= Fraction(epsilon["upper"]) < 1
    assert Fraction(told(*AMPLIFY)["attack"]) <= Fraction(epsilon["upper"])
    assert told(*AMPLIFY)["method"] == "clone"
    epsilon0 = told(*INVERT)["epsilon0"]
    assert Fraction("6.78") < Fraction(epsilon0["lower"]) <= Fraction(epsilon0["upper"]) < Fraction("6.79")
    assert told(*INVERT)["method"] == "closed"
    outside = told("amplify", "--epsilon0", "4", "--n", "10000", "--delta", "1e-6", "--method", "closed")
    assert outside["in_domain"] is False


def test_amplify_by_the_randomiser_is_never_above_same_and_same_never_above_clone(told: Callable[..., Any]) -> None:
    found = [told(*AMPLIFY, "--method", *method) for method in (("krr", "--k", "100"), ("same",), ("clone",))]
    ends = [Fraction(document["epsilon"]["upper"]) for document in found]
    assert ends[0] < ends[1] < ends[2]
    assert [document["method"] for document in found] == ["krr", "same", "clone"]
    for document in found:
        assert 0 < Fraction(document["attack"]) <= Fraction(document["epsilon"]["upper"])
        assert document["in_domain"] is True
    matrix = told("amplify", "--n", "1000", "--delta", "1e-6", "--method", "channel", "--channel", "channel.json")
    assert 0 < Fraction(matrix["attack"]) <= Fraction(matrix["epsilon"]["upper"]) < Fraction("0.6932")


def test_run_is_repeated_by_its_seed(told: Callable[..., Any], dpaudit_cli: Cli, parse: Parse) -> None:
    document = told(*RUN)
    assert document["algorithm"] == "central"
    assert document["calibration"] == "tight"
    assert (document["epsilon"], document["horizon"]) == ("1", 10000)
    again = parse(dpaudit_cli(*RUN, "--format", "json").stdout)
    assert again["regret"] == document["regret"]
    other = parse(dpaudit_cli(*RUN[:-1], "2", "--format", "json").stdout)
    assert other["regret"] != document["regret"]


def test_run_takes_the_size_of_the_instance(dpaudit_cli: Cli, parse: Parse, validate: Validate) -> None:
    done = dpaudit_cli(*RUN, "--actions", "5", "--dim", "3", "--calibration", "printed", "--format", "json")
    assert done.returncode == 0, done.stderr
    document = parse(done.stdout)
    validate(document, "run")
    assert document["calibration"] == "printed"


@pytest.mark.parametrize("epsilon", ["1", "0.5"])
def test_a_live_run_writes_a_ledger_that_account_reads(
    epsilon: str, tmp_path: Path, dpaudit_cli: Cli, parse: Parse, validate: Validate
) -> None:
    run = ("run", "central", "--epsilon", epsilon, "--horizon", "10000", "--calibration", "corrected")
    assert dpaudit_cli(*run, "--ledger", "today.ledger").returncode == 0
    assert (tmp_path / "today.ledger").exists()
    document = parse(dpaudit_cli("account", "today.ledger", "--format", "json").stdout)
    validate(document, "account")
    assert document["epsilon"] == epsilon
    assert document["releases"]


def test_demo_refutes_what_is_printed_and_certifies_what_is_corrected(
    demo: subprocess.CompletedProcess[str], parse: Parse, validate: Validate
) -> None:
    document = parse(demo.stdout)
    validate(document, "demo")
    rows = {(row["model"], row["calibration"]): row for row in document["rows"]}
    models, calibrations = ("central", "local", "shuffled"), ("printed", "corrected", "tight", "optimistic")
    assert set(rows) == {(model, calibration) for model in models for calibration in calibrations}
    assert len(document["rows"]) == 12
    for (_, calibration), row in rows.items():
        assert row["verdict"] == ("refuted" if calibration == "printed" else "certified")
        if calibration == "printed":
            assert row["lower"] > 1
        else:
            assert row["lower"] <= Fraction(row["upper"]) <= 1
        assert row["regret"] > 0


@pytest.mark.parametrize(("name", "code"), [("noisy_sum", 0), ("half_noise", 1), ("black_box", 3)])
def test_output_goes_to_a_file_and_hides_no_failure(
    name: str, code: int, workspace: Path, dpaudit_cli: Cli, parse: Parse, validate: Validate
) -> None:
    target = ("audit", f"examples.py:{name}", *QUICK)
    done = dpaudit_cli(*target, "--format", "json", "--output", "verdict.json")
    assert done.returncode == code
    assert "dpaudit.audit/1" not in done.stdout
    validate(parse((workspace / "verdict.json").read_text(encoding="utf-8")), "audit")


def test_bad_input_writes_no_output_file(workspace: Path, dpaudit_cli: Cli) -> None:
    target = ("audit", "examples.py:noisy_sum", "--epsilon", "nan", "--format", "json")
    assert dpaudit_cli(*target, "--output", "verdict.json").returncode == 2
    assert not (workspace / "verdict.json").exists()


def test_version_is_that_of_the_installed_package(shared_cli: Cli) -> None:
    done = shared_cli("--version")
    assert importlib.metadata.version("dpaudit") in done.stdout


@pytest.mark.parametrize("command", ["demo", "run", "account", "audit", "amplify", "invert"])
def test_every_command_has_format_and_output(command: str, shared_cli: Cli) -> None:
    done = shared_cli(command, "--help")
    assert done.returncode == 0
    for option in ("--format", "--output"):
        assert option in done.stdout


@pytest.mark.parametrize("option", ["--epsilon", "--delta", "--observer", "--confidence", "--samples", "--seed", "--calibration"])
def test_audit_offers_the_options_of_the_design(option: str, shared_cli: Cli) -> None:
    assert option in shared_cli("audit", "--help").stdout


# What later issues bring.


def test_one_paper_of_several_is_decided_by_its_name(shared_cli: Cli, parse: Parse, validate: Validate) -> None:
    document = parse(shared_cli("claims", "--paper", "sparse-vector", "--quick", "--format", "json").stdout)
    validate(document, "claims")
    assert len(document["claims"]) >= 15
    assert {claim["verdict"] for claim in document["claims"]} == {"verified", "refuted"}
    assert all(claim["id"].startswith("svt") for claim in document["claims"])


def test_claims_json_follows_its_schema_and_names_each_claim_once(shared_cli: Cli, parse: Parse, validate: Validate) -> None:
    document = parse(shared_cli("claims", "--quick", "--format", "json").stdout)
    validate(document, "claims")
    ids = [claim["id"] for claim in document["claims"]]
    assert all({"severity", "basis", "needs"} <= set(claim) for claim in document["claims"])
    assert all((claim["severity"] == "none") == (claim["verdict"] in ("verified", "unchecked")) for claim in document["claims"])
    assert all((claim["basis"] is None) == (claim["verdict"] != "verified") for claim in document["claims"])
    assert {name for claim in document["claims"] for name in (*claim["needs"], *claim["breaks"])} <= set(ids)
    verdicts = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    resting = {(one["id"], name) for one in document["claims"] for name in one["needs"] if one["verdict"] == "verified"}
    assert [pair for pair in resting if verdicts[pair[1]] == "refuted"] == []  # what holds rests on nothing that fails
    repaired = {name for claim in document["claims"] if claim["verdict"] == "verified" for name in claim["repairs"]}
    assert {"thm1.privacy", "thm1.regret", "thm2.privacy", "thm2.regret", "thm3.privacy", "thm3.regret"} <= repaired
    fatal = {claim["id"] for claim in document["claims"] if claim["severity"] == "fatal"}
    assert {"thm1.privacy", "thm2.privacy", "thm3.privacy", "thm3.domain"} <= fatal
    assert len(ids) == len(set(ids))
    assert {"thm1.privacy", "thm2.privacy", "thm3.privacy"} <= set(ids)


def test_a_witness_can_be_replayed_from_its_file(workspace: Path, dpaudit_cli: Cli, parse: Parse) -> None:
    audit = ("audit", "examples.py:half_noise", *QUICK, "--format", "json")
    witness = parse(dpaudit_cli(*audit).stdout)["witness"]
    (workspace / "witness.json").write_text(json.dumps(witness), encoding="utf-8")
    again = dpaudit_cli(*audit, "--replay", "witness.json")
    assert again.returncode == 1
    assert parse(again.stdout)["verdict"] == "refuted"
    honest = dpaudit_cli("audit", "examples.py:noisy_sum", *QUICK, "--replay", "witness.json")
    assert honest.returncode in {0, 3}


def test_a_sequential_audit_follows_the_schema(shared_cli: Cli, parse: Parse, validate: Validate) -> None:
    done = shared_cli("audit", "examples.py:half_noise", "--sequential", "--seed", "1", "--format", "json")
    validate(parse(done.stdout), "audit")


PAGES = [
    ("account", ("account", "releases.jsonl")),
    ("audit", ("audit", "examples.py:noisy_sum", *QUICK)),
    ("claims", ("claims", "--quick", "lemma-net.size")),
]


@pytest.mark.parametrize(("command", "arguments"), PAGES)
def test_html_is_a_page_of_its_own(command: str, arguments: tuple[str, ...], shared_cli: Cli) -> None:
    page = shared_cli(*arguments, "--format", "html").stdout
    assert page.lstrip().lower().startswith("<!doctype html")
    assert "</html>" in page
    for outside in ('src="http', "src='http", '<link rel="stylesheet" href="http'):
        assert outside not in page


@pytest.mark.parametrize(("command", "arguments"), PAGES)
def test_markdown_has_a_heading_or_a_table(command: str, arguments: tuple[str, ...], shared_cli: Cli) -> None:
    lines = shared_cli(*arguments, "--format", "markdown").stdout.splitlines()
    assert any(line.startswith(("#", "|")) for line in lines)


def test_an_audit_whose_time_is_over_says_so_and_only_then(told: Callable[..., Any]) -> None:
    stopped = told("audit", "examples.py:noisy_sum", "--time", "0.001s", *QUICK)
    assert stopped["stopped"] == "time"
    assert "not tried" in stopped["reason"]
    assert "stopped" not in told("audit", "examples.py:noisy_sum", "--time", "10m", *QUICK)
