"""Algorithms and claims come through entry points; a target is a file, a module or a registered name."""

from __future__ import annotations

import importlib.metadata
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import dpaudit as dp

Cli = Callable[..., subprocess.CompletedProcess[str]]
Parse = Callable[[str], Any]

QUICK = ("--samples", "1000", "--seed", "1")
REGISTERED = [
    "central", "local", "shuffled", "nonprivate", "central-nocore", "optimistic", "optimistic-local", "optimistic-shuffled",
    "oful", "phased-elimination", "shariff-sheffet", "sajed-sheffet", "ren", "tenenbaum", "zheng", "han", "garcelon",
    "chowdhury-zhou", "chowdhury-zhou-binomial", "shariff-sheffet-wishart", "han-gradient",
]  # fmt: skip

FACTORY = dedent(
    """
    import dpaudit as dp

    def make(*, epsilon, delta, horizon, actions, calibration):
        claim = dp.Claim(epsilon=epsilon, delta=delta)
        spread = 1 if calibration == "printed" else 2

        @dp.subject(claim=claim, neighbours=dp.replace_one(n=int(horizon), low=-1, high=1))
        def outside(rewards, channel):
            noise = dp.Laplace(scale=spread / claim.epsilon)
            return channel.release("sum", rewards.sum(), noise, sensitivity=2)

        return outside
    """
)

CLAIMS = dedent(
    """
    from typing import Any, Callable, NamedTuple

    class Check(NamedTuple):
        id: str
        where: str
        statement: str
        run: Callable[[bool], Any]

    class Decision(NamedTuple):
        verdict: str
        evidence: dict
        correction: str | None

    def product(quick):
        return Decision("verified" if 2 * 2 == 5 else "refuted", {"product": "4"}, "4")

    def total(quick):
        return Decision("verified" if 1 + 1 == 2 else "refuted", {"sum": "2"}, None)

    def guess(quick):
        return Decision("unchecked", {"why": "open"}, None)

    checks = [
        Check("other.sum", "Lemma 1", "1 + 1 = 2", total),
        Check("other.product", "Lemma 2", "2 * 2 = 5", product),
        Check("other.guess", "Lemma 3", "it halts", guess),
    ]
    """
)


def install(folder: Path, name: str, source: str, entry_points: str) -> dict[str, str]:
    """Put a package of somebody else's on the path, as pip would; returns the environment that sees it."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("name", REGISTERED)
def test_the_papers_algorithms_are_registered_as_factories(name: str) -> None:
    (entry,) = importlib.metadata.entry_points(group="dpaudit.algorithms", name=name)
    assert callable(entry.load())


def test_a_factory_makes_a_subject_that_audit_takes() -> None:
    (entry,) = importlib.metadata.entry_points(group="dpaudit.algorithms", name="central")
    make = entry.load()
    options = {"epsilon": "1", "delta": "0", "horizon": 10_000, "actions": 4}
    assert dp.audit(make(**options, calibration="corrected"), samples=500, seed=1).verdict == "certified"
    assert dp.audit(make(**options, calibration="printed"), samples=500, seed=1).verdict == "refuted"


def test_somebody_elses_algorithm_is_audited_by_its_name(tmp_path: Path, dpaudit_cli: Cli, parse: Parse) -> None:
    env = install(tmp_path, "outsiders", FACTORY, "[dpaudit.algorithms]\noutside = outsiders:make\n")
    audit = ("audit", "outside", "--epsilon", "1/2", "--horizon", "50", *QUICK, "--format", "json")
    done = dpaudit_cli(*audit, env=env)
    assert done.returncode == 0, done.stderr
    assert Fraction(parse(done.stdout)["claim"]["epsilon"]) == Fraction(1, 2)
    assert dpaudit_cli(*audit, "--calibration", "printed", env=env).returncode == 1
    assert dpaudit_cli(*audit).returncode == 2


def test_a_target_may_be_a_file_a_module_or_a_folder_away(workspace: Path, dpaudit_cli: Cli) -> None:
    env = {"PYTHONPATH": str(workspace)}
    (workspace / "elsewhere").mkdir()
    assert dpaudit_cli("audit", "examples.py:noisy_sum", *QUICK).returncode == 0
    assert dpaudit_cli("audit", "examples:noisy_sum", *QUICK, env=env).returncode == 0
    assert dpaudit_cli("audit", "examples:half_noise", *QUICK, env=env).returncode == 1
    assert dpaudit_cli("audit", workspace / "examples.py:noisy_sum", *QUICK, cwd=workspace / "elsewhere").returncode == 0
    assert dpaudit_cli("audit", "no_such_module:noisy_sum", *QUICK).returncode == 2


@pytest.mark.parametrize("name", ["algorithms", "proofs_checks"])
def test_a_users_package_of_the_same_name_is_harmless(name: str, tmp_path: Path, dpaudit_cli: Cli) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n", encoding="utf-8")
    env = {"PYTHONPATH": str(tmp_path)}
    run = dpaudit_cli("run", "central", "--epsilon", "1", "--horizon", "10000", "--seed", "1", env=env)
    assert run.returncode == 0, run.stderr
    claims = dpaudit_cli("claims", "thm1.sensitivity", "--quick", env=env)
    assert claims.returncode == 1, claims.stderr  # refuted, by our check


def test_a_users_package_of_the_same_name_is_audited_beside_ours(workspace: Path, dpaudit_cli: Cli) -> None:
    (workspace / "algorithms").mkdir()
    (workspace / "algorithms" / "__init__.py").write_text("", encoding="utf-8")
    (workspace / "algorithms" / "bounds.py").write_text("LOW, HIGH = -1, 1\n", encoding="utf-8")
    source = (workspace / "examples.py").read_text(encoding="utf-8")
    (workspace / "algorithms" / "mine.py").write_text(f"{source}\nfrom algorithms.bounds import HIGH\n", encoding="utf-8")
    for target in ("algorithms/mine.py:noisy_sum", "algorithms.mine:noisy_sum"):
        done = dpaudit_cli("audit", target, *QUICK)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("ids", "code"), [(("other.sum",), 0), (("other.guess",), 3), (("other.sum", "other.product"), 1)])
def test_somebody_elses_claims_are_decided(
    ids: tuple[str, ...],
    code: int,
    tmp_path: Path,
    dpaudit_cli: Cli,
    parse: Parse,
    validate: Callable[..., None],
) -> None:
    env = install(tmp_path, "otherpaper", CLAIMS, "[dpaudit.claims]\nother = otherpaper:checks\n")
    done = dpaudit_cli("claims", *ids, "--quick", "--format", "json", env=env)
    assert done.returncode == code, done.stderr
    document = parse(done.stdout)
    validate(document, "claims")
    assert [claim["id"] for claim in document["claims"]] == list(ids)
