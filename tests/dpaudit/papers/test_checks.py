"""Claims of papers: found, decided, stored, and stale once the code they cover has changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpaudit.claims import DpauditError
from dpaudit.cli import main
from dpaudit.papers.checks import Check, ClaimError, Decision, brief
from dpaudit.papers.code_digests import imported
from dpaudit.papers.decisions import decide, digests, plain
from dpaudit.papers.installed_papers import find_checks, select
from dpaudit.papers.stored_evidence import read_stored

PACKAGE = """
from dpaudit.papers.checks import Check, Decision

def run(quick):
    return Decision("verified" if 1 + 1 == 2 else "refuted", {"summary": "two", "quick": quick})

checks = [Check("other.sum", "Lemma 1", "1 + 1 = 2", run, covers=["covered_code"])]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Somebody else's paper on the path, with a module that its evidence is about."""
    (tmp_path / "other_paper.py").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / "covered_code.py").write_text("answer = 1\n", encoding="utf-8")
    info = tmp_path / "other_paper-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other_paper\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[dpaudit.claims]\nother = other_paper:checks\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("other_paper", "covered_code"):
        sys.modules.pop(name, None)


def deciding(decision: Any) -> Check:
    return Check("a.b", "Lemma 2", "something", lambda quick: decision)


def test_the_papers_own_claims_come_first_and_each_once(package: Path) -> None:
    ids = list(find_checks())
    assert ids.index("thm1.sensitivity") < ids.index("other.sum")
    assert ids[-1] == "other.sum"
    assert len(ids) == len(set(ids))


def test_a_claim_is_chosen_by_its_id_or_its_group() -> None:
    checks = {name: deciding(None) for name in ("thm1.a", "thm1.b", "thm10.a")}
    assert len(select(checks, ["thm1"])) == 2
    assert len(select(checks, ["thm10.a", "thm1.b"])) == 2
    assert len(select(checks, [])) == 3
    with pytest.raises(ClaimError, match="thm2"):
        select(checks, ["thm2"])


def test_evidence_is_plain_and_exact() -> None:
    found = decide(deciding(Decision("refuted", {"x": Fraction(1, 3), "rows": ({"n": 1},)}, Fraction(1, 2))), quick=True)
    assert found.evidence == {"x": "1/3", "rows": [{"n": 1}]}
    assert found.correction == "0.5"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] == "refuted"


@pytest.mark.parametrize(
    "decision",
    [
        Decision("true", {"a": 1}),
        Decision("verified", {}),
        Decision("verified", {"a": float("nan")}),
        Decision("verified", {"a": object()}),
        None,
        "verified",
    ],
)
def test_what_is_no_decision_is_refused_and_named(decision: Any) -> None:
    with pytest.raises(ClaimError, match=r"a\.b"):
        decide(deciding(decision), quick=True)


def test_a_check_that_fails_decides_nothing() -> None:
    def broken(quick: bool) -> Decision:
        raise ZeroDivisionError("1/0")

    with pytest.raises(ClaimError, match="ZeroDivisionError"):
        decide(Check("a.b", "Lemma 2", "something", broken), quick=True)


def test_an_error_is_told_in_one_line_without_folders() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert brief(ZeroDivisionError("division by zero")) == "ZeroDivisionError: division by zero"
    assert (
        brief(ImportError("cannot import 'x' from 'm' (/home/me/lib/m.py)")) == "ImportError: cannot import 'x' from 'm' (m.py)"
    )
    assert brief(OSError("C:\\Users\\me\\data.csv: gone")) == "OSError: data.csv: gone"
    assert brief(ValueError("1/2 and a/b, see https://x.org/a/b")) == "ValueError: 1/2 and a/b, see https://x.org/a/b"
    assert brief(ValueError("two\nlines\x1b[2J")) == "ValueError: two lines[2J"
    assert (brief(KeyError()), brief(Mute())) == ("KeyError", "Mute")
    assert len(brief(ValueError("x" * 10_000))) == 300


def test_infinity_is_no_evidence() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        plain({"a": [float("inf")]})


def test_stored_evidence_is_stale_once_the_code_it_covers_changes(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = package / "evidence.json"
    assert main(["claims", "other.sum", "--format", "json", "--output", str(stored)]) == 0
    assert main(["claims", "other.sum", "--stored", str(stored)]) == 0
    (package / "covered_code.py").write_text("answer = 2\n", encoding="utf-8")
    assert main(["claims", "other.sum", "--stored", str(stored)]) == 3
    assert "covered_code" in capsys.readouterr().out.split("stale")[1]
    assert main(["claims", "other.sum"]) == 0


def test_evidence_is_stale_too_once_a_module_that_decides_has_changed(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored, told = package / "evidence.json", package / "told.json"
    assert {"proofs_checks.shared.audits", "dpaudit.verdict.audit"} <= imported(
        ("proofs_checks.linear_bandits.theorems.local_privacy",)
    )
    paper = package / "a_paper"
    paper.mkdir()
    sources = {
        "__init__": "",
        "claims": "def f():\n    from a_paper import helper\n",
        "helper": "from . import below\n",
        "below": "x = 1\n",
    }
    for name, source in sources.items():
        (paper / f"{name}.py").write_text(source, encoding="utf-8")
    check = Check("a.b", "here", "x", lambda quick: Decision("verified", {"summary": "x"}), covers=["a_paper.claims"])
    before = digests(check)
    assert digests(check) == before
    (paper / "below.py").write_text("x = 2\n", encoding="utf-8")
    assert [name for name, digest in digests(check).items() if before[name] != digest] == ["what these import"]
    assert main(["claims", "other.sum", "--quick", "--format", "json", "--output", str(stored)]) == 0
    document = json.loads(stored.read_text(encoding="utf-8"))
    document["claims"][0]["code"]["what these import"] = "0" * 64
    stored.write_text(json.dumps(document), encoding="utf-8")
    assert main(["claims", "other", "--stored", str(stored), "--format", "json", "--output", str(told)]) == 3
    read = json.loads(told.read_text(encoding="utf-8"))
    assert (read["quick"], read["claims"][0]["stale"]) == (True, ["what these import"])


def test_evidence_about_an_unknown_claim_is_stale_and_what_is_missing_is_named(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = package / "evidence.json"
    assert main(["claims", "other.sum", "--format", "json", "--output", str(stored)]) == 0
    forged = stored.read_text(encoding="utf-8").replace("other.sum", "other.forged")
    (package / "forged.json").write_text(forged, encoding="utf-8")
    (only,) = read_stored(json.loads(forged), find_checks())
    assert only.stale
    assert main(["claims", "thm1.sensitivity", "--stored", str(stored)]) == 3
    assert "Not in the stored evidence: thm1.sensitivity" in capsys.readouterr().out


def test_code_that_is_gone_is_named(package: Path) -> None:
    (package / "covered_code.py").unlink()
    with pytest.raises(ClaimError, match="covered_code"):
        digests(find_checks()["other.sum"])


@pytest.mark.parametrize("document", [None, [], {"schema": "dpaudit.audit/1"}, {"schema": "dpaudit.claims/1", "claims": [{}]}])
def test_other_files_are_no_evidence(document: Any) -> None:
    with pytest.raises(DpauditError):
        read_stored(document, {})
