"""The pytest plugin, run by pytest itself in a folder of its own."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import numpy as np
import pytest
import dpaudit as dp
from dpaudit.pytest_plugin import assert_private

REWARDS = np.zeros(10)

def spend(ledger, scale, times=1):
    with dp.live(ledger) as channel:
        for i in range(times):
            channel.release(f"sum {i}", REWARDS.sum(), dp.Laplace(scale), sensitivity=2)
"""

SUBJECTS = """
data = dp.replace_one(n=100, low=-1, high=1)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=data)
def noisy_sum(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=data)
def half_noise(rewards, channel):
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)

@dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=data)
def black_box(rewards, rng, trials):
    return rewards.sum() + rng.laplace(scale=2, size=trials)
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return pytester


def outcome_of(run: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    run.makepyfile(test_it=TESTS + SUBJECTS + body)
    return run.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider", *options)


def test_a_budget_holds_or_the_test_fails(run: pytest.Pytester) -> None:
    done = outcome_of(
        run,
        """
@pytest.mark.dp_budget(epsilon="1", delta="1e-6")
def test_within(dp_ledger):
    spend(dp_ledger, 2)

@pytest.mark.dp_budget("1")
def test_exactly_spent(dp_ledger):
    spend(dp_ledger, 4, times=2)

@pytest.mark.dp_budget(epsilon="0.99")
def test_over(dp_ledger):
    spend(dp_ledger, 2)
""",
    )
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*DPA001*ε ≤ 1 *0.99*", "dpaudit: budgets 2 held, 1 exceeded"])


@pytest.mark.parametrize(
    ("told", "body"),
    [
        ("*nothing was released*", "def test_idle(dp_ledger): pass"),
        ("*does not use the fixture dp_ledger*", "def test_without(): pass"),
    ],
)
def test_a_budget_with_nothing_to_check_fails(told: str, body: str, run: pytest.Pytester) -> None:
    done = outcome_of(run, f'@pytest.mark.dp_budget(epsilon="1")\n{body}\n')
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([told])


@pytest.mark.parametrize("wrong", ['epsilon="nan"', 'epsilon="-1"', "", 'epsilon="1", delta="2"', 'epsilon="1", spare=3'])
def test_a_senseless_budget_is_said_to_be_one(wrong: str, run: pytest.Pytester) -> None:
    done = outcome_of(run, f"@pytest.mark.dp_budget({wrong})\ndef test_it(dp_ledger): spend(dp_ledger, 2)\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*UsageError: dp_budget*"])


def test_a_failing_test_stays_the_failure_it_is(run: pytest.Pytester) -> None:
    done = outcome_of(run, '@pytest.mark.dp_budget(epsilon="1")\ndef test_it(dp_ledger): assert 1 == 2\n')
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert 1 == 2*"])
    done.stdout.no_fnmatch_line("*nothing was released*")


def test_audits_are_assertions_and_counted_also_on_several_workers(run: pytest.Pytester) -> None:
    body = """
def test_honest():
    assert assert_private(noisy_sum).verdict == "certified"

def test_half():
    assert_private(half_noise)

def test_opaque():
    assert_private(black_box, samples=1000)

def test_opaque_is_not_refuted():
    assert_private(black_box, require="not-refuted", samples=1000)

@pytest.mark.dp_budget(epsilon="1")
def test_within(dp_ledger):
    spend(dp_ledger, 2)
"""
    for options in ((), ("-n", "2")):
        done = outcome_of(run, body, *options)
        done.assert_outcomes(passed=3, failed=2)
        done.stdout.fnmatch_lines(
            ["*half_noise is refuted for*", "dpaudit: budgets 1 held; audits 1 certified, 1 refuted, 2 unproven"]
        )


def test_the_junit_file_has_the_figures(run: pytest.Pytester) -> None:
    body = """
@pytest.mark.dp_budget(epsilon="1", delta="1e-6")
def test_within(dp_ledger):
    spend(dp_ledger, 3)

def test_honest():
    assert_private(noisy_sum)
"""
    outcome_of(run, body, "--junitxml", "out.xml").assert_outcomes(passed=2)
    cases = ElementTree.parse(run.path / "out.xml").getroot().iter("testcase")
    told = {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in cases}
    assert told["test_within"] == {"dpaudit.budget": "held", "dpaudit.epsilon": "2/3", "dpaudit.delta": "0"}
    assert told["test_honest"]["dpaudit.audit"] == "noisy_sum certified"
    assert told["test_honest"]["dpaudit.upper"] == "1"
    assert float(told["test_honest"]["dpaudit.lower"] or "") <= 1


def test_tests_that_do_not_use_it_see_nothing_of_it(run: pytest.Pytester) -> None:
    run.makepyfile("import sys\ndef test_it(): assert 'numpy' not in sys.modules and 'mpmath' not in sys.modules")
    done = run.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio")
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*dpaudit:*")
    assert "dp_budget" in run.runpytest_subprocess("--markers").stdout.str()


def test_the_plugin_alone_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, dpaudit.pytest_plugin; print(sorted({'numpy', 'hypothesis', 'mpmath', 'scipy', 'flint'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "[]\n"


def test_every_mark_holds_and_a_ledger_may_be_asked_for_inside_the_test(run: pytest.Pytester) -> None:
    body = """
@pytest.mark.dp_budget(epsilon="1")
class TestBoth:
    @pytest.mark.dp_budget(epsilon="100")
    def test_the_tighter_one_counts(self, dp_ledger):
        spend(dp_ledger, "1/10")

    @pytest.mark.dp_budget(epsilon="100")
    def test_within_both(self, request):
        spend(request.getfixturevalue("dp_ledger"), 2)
"""
    outcome_of(run, body).assert_outcomes(passed=1, failed=1)
