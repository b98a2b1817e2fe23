"""The files of a package for one paper: one claim with its check, its rating, an entry point, and a test with a planted fault."""

from __future__ import annotations

CHECK = '''"""The first claim: replace it with one of the paper's."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.papers import Check, Decision


def sensitivity(quick: bool, *, low: Fraction = Fraction(0), high: Fraction = Fraction(1)) -> Decision:
    """One record in [low, high] moves a sum by at most 1: exactly, as the distance is convex and largest at the ends.

    ``low`` and ``high`` are there for a test that plants another range.
    """
    moved = abs(high - low)
    evidence = {
        "summary": f"a record in [{low}, {high}] moves the sum by at most {moved}",
        "range": "all pairs of records",
    }
    if moved > 1:
        return Decision("refuted", {**evidence, "counterexample": f"{low} against {high}"}, "noise for high − low")
    return Decision("verified", evidence)


CHECKS = (
    Check(
        "PREFIX.sensitivity",  # a public id, unique among all installed papers
        "Lemma 1",  # where it is printed
        "one record moves the sum by at most 1",  # what it says
        sensitivity,
        severity="fatal",  # how grave it is if it fails: fatal, repairable, slip, constant, measured
        basis="proven",  # what it rests on if it holds: proven, range, measured
        needs=(),  # ids of claims that it rests on
    ),
)


def checks() -> list[Check]:
    """What the entry point ``dpaudit.claims`` hands to ``dpaudit claims``."""
    return list(CHECKS)
'''

TEST = '''"""The claim as printed, and a planted fault that must be refuted."""

from __future__ import annotations

from fractions import Fraction

from MODULE.claims import checks, sensitivity

from dpaudit.papers.decisions import decide


def test_every_claim_comes_to_a_decision():
    decided = [decide(check, True) for check in checks()]
    assert [one.verdict for one in decided] == ["verified"]


def test_a_wider_range_is_refuted():
    found = sensitivity(True, low=Fraction(-1))
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"] == "-1 against 1"
'''

PROJECT = """[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "NAME"
version = "0"
dependencies = ["dpaudit"]

[project.entry-points."dpaudit.claims"]
NAME = "MODULE.claims:checks"

[tool.setuptools]
packages = ["MODULE"]
"""


def skeleton(name: str) -> dict[str, str]:
    """Path and text of every file."""
    module = name.replace("-", "_")
    templates = {
        "pyproject.toml": PROJECT,
        f"{module}/__init__.py": '"""The claims of NAME, decided."""\n',
        f"{module}/claims.py": CHECK,
        f"tests/test_{module}.py": TEST,
    }
    words = {"NAME": name, "MODULE": module, "PREFIX": name}
    return {path: _filled(text, words) for path, text in templates.items()}


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
