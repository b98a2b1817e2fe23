"""LaTeX: text stays text whatever is in it, formulas are set, and the real letter compiles."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dpaudit.papers.decisions import decide
from dpaudit.papers.installed_papers import find_checks
from dpaudit.report import document as doc
from dpaudit.report.content.papers.claims import claims_report
from dpaudit.report.document import Document, Section, Styled
from dpaudit.report.formats import write
from dpaudit.report.formats.latex import formula, render, text

HOSTILE = '\\input{/etc/passwd} $x$ 50% a_b #1 ~ ^ {} <&> \\end{document} | " é ü θ̂ 日'


def test_nothing_in_a_text_is_a_command() -> None:
    assert text("50% & \\end{x} a_b $") == r"50\% \& \textbackslash{}end\{x\} a\_b \$"
    assert text("ε ≤ √2") == r"\ensuremath{\varepsilon} \ensuremath{\le} \ensuremath{\surd}2"
    assert text("θ̂") == r"\ensuremath{\hat{\theta}}"
    assert "U+65E5" in text("日")


def test_an_option_of_a_command_keeps_its_two_dashes() -> None:
    assert text("--quick") == "-{}-quick"
    assert text("---") == "-{}-{}-"
    assert text("a – b") == "a -- b"  # a dash that is meant


def test_subscripts_and_superscripts_are_set() -> None:
    assert formula("A_i and 10^-6") == r"A\textsubscript{i} and 10\textsuperscript{-6}"


def compiled(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("pdflatex") is None:
        if os.environ.get("CI"):
            pytest.fail("pdflatex is missing: apt-get install texlive-latex-base")
        pytest.skip("pdflatex is not installed")
    (folder / "letter.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "letter.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, errors="replace")


@pytest.mark.slow
def test_a_letter_compiles_and_one_with_a_planted_fault_does_not(tmp_path: Path) -> None:
    checks = find_checks()
    decided = [decide(checks[name], True) for name in ("thm1.sensitivity", "lemma-net.size", "fix.laplace-sum", "fix.theorem2")]
    wide = doc.Table(tuple("abcdef"), [tuple(HOSTILE for _ in range(6))])
    hostile = Document(
        HOSTILE, [Section([doc.Heading(HOSTILE), doc.Paragraph(Styled(HOSTILE, "formula"), "quote"), wide], "a.b_c")]
    )
    for source in (write("latex", claims_report(decided)), render(hostile)):
        done = compiled(source, tmp_path)
        assert done.returncode == 0, done.stdout[-2000:]
        assert (tmp_path / "letter.pdf").read_bytes().startswith(b"%PDF")
    assert compiled(render(hostile).replace(r"\sloppy", r"\nonsense"), tmp_path).returncode != 0
