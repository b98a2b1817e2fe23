"""``dpaudit claims`` where other papers are installed, some of them broken: the rest is decided, nothing passes by accident."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpaudit.commands.auditing.claims import _computed, expected_seconds, paced, time_left
from dpaudit.papers.checks import Check

pytestmark = pytest.mark.slow

Done = subprocess.CompletedProcess[str]
HEAD = "from dpaudit.papers.checks import Check, Decision\n"
CHECK = 'Check("{0}", "Lemma 1", "1 + 1 = 2", {1})'
GOOD = (
    HEAD
    + f"""
print("hello from the import")
def total(quick):
    print("hello from the check")
    return Decision("verified" if 1 + 1 == 2 else "refuted", {{"summary": "two"}})
checks = [{CHECK.format("good.sum", "total")}]
"""
)
BROKEN = {
    "imports": "import no_such_module\nchecks = []\n",
    "exits": "import sys\nsys.exit(0)\n",
    "number": "checks = 7\n",
    "nothing": "cheques = []\n",
    "syntax": "checks = [\n",
    "halfway": HEAD + f"""
def checks():
    yield {CHECK.format("halfway.first", 'lambda quick: Decision("verified", {"summary": "yes"})')}
    raise RuntimeError("no more")
""",
    "strange": HEAD + f"""
checks = [object(), {CHECK.format("has a space", "print")}, {CHECK.format("strange.run", "7")}, Check(3, "", "x", print)]
""",
}  # fmt: skip
FAILING = (
    HEAD
    + """
import sys
class Odd:
    verdict, evidence, correction = "verified", {"summary": "x"}, [1]
def cycle():
    evidence = {}
    evidence["self"] = evidence
    return Decision("verified", evidence)
runs = {
    "division": lambda quick: 1 / 0,
    "path": lambda quick: open("/a/folder/of/somebody/data.csv"),
    "exit": lambda quick: sys.exit(0),
    "none": lambda quick: None,
    "word": lambda quick: Decision("certainly", {"summary": "x"}),
    "list": lambda quick: Decision(["verified"], {"summary": "x"}),
    "empty": lambda quick: Decision("verified", {}),
    "nan": lambda quick: Decision("verified", {"summary": "x", "value": float("nan")}),
    "surrogate": lambda quick: Decision("verified", {"summary": chr(0xD800)}),
    "cycle": lambda quick: cycle(),
    "correction": lambda quick: Odd(),
    "arguments": lambda: Decision("verified", {"summary": "x"}),
    "escape": lambda quick: int("\\x1b[2J\\x00\\n" + "9" * 5000),
}
checks = [Check(f"failing.{name}", "Lemma 1", "it holds", run) for name, run in runs.items()]
"""
)
UNCOVERED = (
    HEAD
    + """
def run(quick):
    return Decision("verified", {"summary": "x"})
checks = [Check("uncovered.claim", "Lemma 1", "it holds", run, covers=["no_such_module"])]
"""
)
REFUTED = (
    HEAD
    + """
def run(quick):
    return Decision("verified" if 2 * 2 == 5 else "refuted", {"summary": "four"})
checks = [Check("wrong.product", "Lemma 2", "2 * 2 = 5", run)]
"""
)
SECOND = GOOD.replace('"two"', '"another two"')


class Place:
    """A folder on the path into which papers are installed, as pip would, and where dpaudit is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, source: str) -> None:
        (self.folder / f"{name}.py").write_text(source, encoding="utf-8")
        self.distribution(name, "1.0", f"[dpaudit.claims]\n{name} = {name}:checks\n")

    def distribution(self, name: str, version: str, points: str) -> None:
        info = self.folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(points, encoding="utf-8")

    def command(self, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).with_name("dpaudit")), "claims", *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """Without bytecode, which an edit within the same second and of the same length would not renew."""
        return {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", **more}

    def claims(self, *arguments: str) -> Done:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        assert str(self.folder) not in done.stdout + done.stderr
        return done

    def document(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        done = self.claims(*arguments, "--format", "json")
        document = json.loads(done.stdout)
        schema = (importlib.resources.files("dpaudit") / "schemas" / "claims.json").read_text(encoding="utf-8")
        jsonschema.validate(document, json.loads(schema))
        ids = [claim["id"] for claim in document["claims"]]
        assert len(ids) == len(set(ids))
        return done.returncode, {claim["id"]: claim for claim in document["claims"]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Only the papers that a test installs: a distribution of dpaudit without papers hides its own."""
    made = Place(tmp_path)
    made.distribution("dpaudit", "0.1.0", "")
    made.install("good", GOOD)
    return made


def test_a_paper_that_works_passes_and_what_it_prints_is_no_part_of_the_answer(place: Place) -> None:
    code, claims = place.document()
    assert (code, list(claims)) == (0, ["good.sum"])
    assert "hello" not in place.claims().stdout


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_paper_is_unchecked_and_stops_no_other(place: Place, name: str) -> None:
    place.install(name, BROKEN[name])
    code, claims = place.document()
    assert code == 3
    assert claims["good.sum"]["verdict"] == "verified"
    bad = [claim for key, claim in claims.items() if key.startswith(f"dpaudit.claims:{name}")]
    assert bad
    assert {claim["verdict"] for claim in bad} == {"unchecked"}
    assert all(claim["failed"] and f"{name} = {name}:checks" in claim["where"] for claim in bad)
    assert ("halfway.first" in claims) is (name == "halfway")


def test_the_example_of_the_guide_is_a_paper_that_works(place: Place) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "review.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (example,) = [block for block in blocks if '"mine.sensitivity"' in block]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    assert '[project.entry-points."dpaudit.claims"]\n    mine = "mine:checks"' in page
    place.install("mine", example)
    code, claims = place.document("mine")
    assert (code, claims["mine.sensitivity"]["verdict"]) == (1, "refuted")
    assert claims["mine.sensitivity"]["evidence"]["distance"] == 2
    (place.folder / "mine.py").write_text(example.replace("claimed=1", "claimed=2"), encoding="utf-8")  # twin
    assert place.document("mine")[1]["mine.sensitivity"]["verdict"] == "verified"


def test_the_reason_is_the_type_and_the_message_of_the_error(place: Place) -> None:
    place.install("imports", BROKEN["imports"])
    _, claims = place.document()
    reason = "its checks cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    assert claims["dpaudit.claims:imports"]["evidence"] == {"summary": reason}
    for format_ in ("text", "html", "markdown"):
        done = place.claims("--format", format_)
        assert done.returncode == 3
        assert "No module named" in done.stdout
        assert "Not decided, because its check failed" in done.stdout


def test_a_check_that_fails_or_talks_nonsense_leaves_its_claim_unchecked(place: Place) -> None:
    place.install("failing", FAILING)
    place.install("uncovered", UNCOVERED)
    code, claims = place.document()
    assert code == 3
    assert claims.pop("good.sum")["verdict"] == "verified"
    assert len(claims) == 14
    assert all(claim["verdict"] == "unchecked" and claim["failed"] for claim in claims.values())
    told = {name.partition(".")[2]: claim["evidence"]["summary"] for name, claim in claims.items()}
    assert told["division"] == "its check failed: ZeroDivisionError: division by zero"
    assert told["path"] == "its check failed: FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'"
    assert told["claim"] == "covers no_such_module, which is not installed"
    assert told["escape"].isprintable()
    assert max(map(len, told.values())) < 400
    assert place.claims("failing.exit").returncode == 3
    for format_ in ("text", "html", "markdown"):
        assert "division by zero" in place.claims("--format", format_).stdout


def test_a_refuted_claim_counts_for_more_than_a_broken_paper(place: Place) -> None:
    place.install("imports", BROKEN["imports"])
    place.install("wrong", REFUTED)
    assert place.document()[0] == 1


def test_who_asks_for_a_paper_that_works_is_not_disturbed_by_another(place: Place) -> None:
    place.install("imports", BROKEN["imports"])
    place.install("failing", FAILING)
    code, claims = place.document("good.sum")
    assert (code, list(claims)) == (0, ["good.sum"])
    assert "warning: dpaudit.claims:imports: its checks cannot be loaded" in place.claims("good").stderr


def test_who_asks_for_a_claim_of_a_broken_paper_is_told_why_there_is_none(place: Place) -> None:
    place.install("imports", BROKEN["imports"])
    done = place.claims("imports.theorem")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such claim" in done.stderr
    assert "dpaudit.claims:imports: its checks cannot be loaded" in done.stderr
    assert place.claims("dpaudit.claims:imports").returncode == 3


def test_of_two_claims_with_one_id_the_second_is_unchecked_and_both_are_shown(place: Place) -> None:
    place.install("later", SECOND)
    for ids in ((), ("good.sum",)):
        code, claims = place.document(*ids)
        assert (code, list(claims)) == (3, ["good.sum", "dpaudit.claims:later.1"])
        assert claims["good.sum"]["evidence"] == {"summary": "two"}
        told = claims["dpaudit.claims:later.1"]["evidence"]["summary"]
        assert told == "good.sum is the id of a check of the paper good already; rename it"


def test_a_failure_that_was_stored_is_read_as_one(place: Place) -> None:
    place.install("failing", FAILING)
    assert place.claims("--format", "json", "--output", "kept.json").returncode == 3
    done = place.claims("--stored", "kept.json")
    assert done.returncode == 3
    assert "Not decided, because their checks failed: failing.division" in done.stdout
    assert "Stale" not in done.stdout


def test_stale_evidence_comes_with_the_command_that_renews_it(place: Place) -> None:
    place.install("wrong", REFUTED)
    assert place.claims("good", "--quick", "--format", "json", "--output", "kept.json").returncode == 0
    fresh = place.claims("good", "--stored", "kept.json")
    assert fresh.returncode == 0
    assert "Stored evidence of kept.json, made with --quick" in fresh.stdout
    assert "To renew it" not in fresh.stdout
    (place.folder / "good.py").write_text(GOOD + "# changed\n", encoding="utf-8")
    for format_ in ("text", "html", "markdown"):
        done = place.claims("good", "--stored", "kept.json", "--format", format_)
        assert done.returncode == 3
        assert "Stale, because the code that decides has changed since: good.sum" in done.stdout
    told = place.claims("good", "--stored", "kept.json").stdout
    renew = next(line for line in told.splitlines() if line.startswith("To renew it: ")).removeprefix(
        "To renew it: dpaudit claims "
    )
    assert place.claims(*renew.split()).returncode == 0
    assert place.claims("good", "--stored", "kept.json").returncode == 0
    absent = place.claims("--stored", "kept.json")
    assert absent.returncode == 3
    assert "Not in the stored evidence: wrong.product." in absent.stdout


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("godo.sum", "good.sum"), ("GOOD", "good"), ("sum", "good.sum"), ("good.", "good"), ("zzz", "there are good")],
)
def test_a_wrong_id_is_answered_with_what_may_have_been_meant(place: Place, wanted: str, meant: str) -> None:
    done = place.claims(wanted)
    assert done.returncode == 2
    assert meant in done.stderr.split("no such claim;")[1]


def on_a_terminal(place: Place, columns: int, *arguments: str) -> tuple[str, str]:
    """Standard output and standard error of a run whose streams are terminals of so many columns."""
    ends = [os.openpty() for _ in range(2)]
    environment = place.environment(COLUMNS=str(columns), TERM="xterm")
    texts: list[bytes] = [b"", b""]

    def read(which: int) -> None:
        try:
            while part := os.read(ends[which][0], 65536):
                texts[which] += part
        except OSError:  # how a terminal says that nobody writes any more
            pass

    with subprocess.Popen(
        place.command(*arguments), stdout=ends[0][1], stderr=ends[1][1], env=environment, cwd=place.folder
    ) as run:
        for _, theirs in ends:
            os.close(theirs)
        readers = [threading.Thread(target=read, args=(which,)) for which in range(2)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(120)
        assert run.wait(120) in (0, 1, 3)
    for ours, _ in ends:
        os.close(ours)
    return texts[0].decode().replace("\r", ""), texts[1].decode()


@pytest.mark.parametrize("columns", [60, 80, 150])
def test_on_a_terminal_nothing_is_wider_than_it(place: Place, columns: int) -> None:
    place.install("failing", FAILING)
    for arguments in ((), ("failing",)):
        shown, _ = on_a_terminal(place, columns, *arguments)
        assert max(map(len, shown.splitlines())) <= columns
        assert "division by zero" in " ".join(shown.split())


def test_a_terminal_sees_which_claim_is_computed_and_a_pipe_sees_nothing(place: Place) -> None:
    place.install("wrong", REFUTED)
    _, progress = on_a_terminal(place, 100)
    assert re.search(r"claims: good\.sum .*0%", progress)
    assert re.search(r"claims: wrong\.product .*50%", progress)
    assert "claims:" not in place.claims().stderr


def test_a_full_run_is_forecast_from_its_start_and_corrected_by_the_pace_of_the_machine() -> None:
    checks = [Check(f"a.{n}", "here", "it holds", lambda quick: None, seconds=60.0) for n in range(4)]  # type: ignore[arg-type, return-value]
    known = expected_seconds(checks)
    assert known == [60.0] * 4
    assert paced(0.0, known, 0) == ", about 4 min left"
    assert paced(120.0, known, 1) == ", about 6 min left"  # twice as slow
    assert expected_seconds([*checks, Check("a.b", "here", "it holds", lambda quick: None)]) == []  # type: ignore[arg-type, return-value]


def test_a_long_full_run_says_at_its_start_how_long_it_will_take(capsys, monkeypatch) -> None:
    monkeypatch.setattr("dpaudit.papers.decisions.attempt", lambda check, quick: check.id)
    checks = [Check("a.a", "here", "it holds", lambda quick: None, seconds=200.0)]  # type: ignore[arg-type, return-value]
    assert _computed(checks, quick=False) == ["a.a"]
    assert "1 claims: about 4 min" in capsys.readouterr().err
    _computed(checks, quick=True)
    assert capsys.readouterr().err == ""


def test_a_long_run_says_how_long_the_rest_will_take() -> None:
    assert time_left(8.0, 4, 100) == ""
    assert time_left(10.0, 5, 100) == ", about 4 min left"
    assert time_left(10.0, 5, 10) == ", about 10 s left"
    assert time_left(10.0, 10, 10) == ""
