"""``dpaudit explain``: every rule in words and as JSON, and no other."""

from __future__ import annotations

import json

import pytest

from dpaudit.claims.rules import RULES, WORDS
from dpaudit.cli import main


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_is_told_with_its_reason_and_its_remedy(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith(f"{rule}: {RULES[rule].title}")
    assert main(["explain", rule, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"schema": "dpaudit.explain/1", **vars(RULES[rule])}
    for part in (document["why"], document["remedy"]):
        assert " ".join(part.split()) in words


@pytest.mark.parametrize("rule", ["DPA999", "", "dpa", "DPA0003"])
def test_what_is_no_rule_is_refused(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def test_what_certified_means_is_told_like_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "certified"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for part in ("Certified behind its door", "fixed by its plan", "key door", "certify mean the same"):
        assert part in words


def test_without_a_rule_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{each.id}" in shown and each.title in " ".join(shown.split()) for each in (*RULES.values(), *WORDS.values()))
    assert main(["explain", "--format", "json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["rules"]] == [*RULES, *WORDS]
