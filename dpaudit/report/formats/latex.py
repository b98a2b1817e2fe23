"""Writes a document for pdflatex, with what Debian's texlive-latex-base brings: no font, package or figure from elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from dpaudit.report import document as doc
from dpaudit.report.document import Badge, Block, Document, Line, Link, Part, Styled, parts_of
from dpaudit.report.formats.formulas import FORMULA
from dpaudit.report.interface import Report

HEAD = r"""\documentclass[11pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath,amssymb,color,longtable,textcomp}
\usepackage[hidelinks]{hyperref}
\definecolor{good}{rgb}{.10,.50,.22}
\definecolor{bad}{rgb}{.81,.13,.18}
\definecolor{open}{rgb}{.49,.33,0}
\setlength{\parindent}{0pt}
\setlength{\parskip}{.5em}
\setlength{\emergencystretch}{4em}
\sloppy
\raggedbottom
\begin{document}
"""
PLAIN = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_", "^": r"\^{}",
    "~": r"\~{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "\u00a0": "~", "\u202f": "~",
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "\u200b": "", "ı": r"\i{}", "Υ": "Y",
}  # fmt: skip
MATH = {
    "⊤": r"\top", "⊥": r"\bot",
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "∞": r"\infty", "√": r"\surd", "·": r"\cdot", "×": r"\times",
    "±": r"\pm", "−": "-", "→": r"\to", "←": r"\leftarrow", "↑": r"\uparrow", "↦": r"\mapsto", "∈": r"\in", "∉": r"\notin",
    "⊆": r"\subseteq", "⊂": r"\subset", "∪": r"\cup", "∩": r"\cap", "Σ": r"\Sigma", "∑": r"\sum", "Π": r"\Pi",
    "∏": r"\prod", "∫": r"\int", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "⌈": r"\lceil", "⌉": r"\rceil",
    "⌊": r"\lfloor", "⌋": r"\rfloor", "∀": r"\forall", "∃": r"\exists", "⪰": r"\succeq", "⪯": r"\preceq", "½": r"\tfrac12",
    "¼": r"\tfrac14", "¾": r"\tfrac34", "ᵀ": r"^{\top}", "⁻": "^{-}", "✓": r"\checkmark", "✗": r"\times", "○": r"\circ",
    "∅": r"\emptyset", "∎": r"\blacksquare", "ℓ": r"\ell", "∘": r"\circ", "∝": r"\propto", "≡": r"\equiv", "∼": r"\sim",
    "≪": r"\ll", "≫": r"\gg", "∧": r"\wedge", "∨": r"\vee", "′": "'", "°": r"^{\circ}", "∇": r"\nabla", "∂": r"\partial",
    "█": r"\blacksquare", "░": r"\square", "⇒": r"\Rightarrow", "↓": r"\downarrow",
}  # fmt: skip
LETTERS = (
    "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "pi", "rho", "sigma", "varsigma", "tau", "upsilon", "varphi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Xi", "Phi", "Psi", "Omega",
)  # fmt: skip
GREEK = dict(zip("αβγδεζηθικλμνξπρσςτυφχψωΓΔΘΛΞΦΨΩ", LETTERS, strict=True))
DIGITS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉ᵢₖₙ", [f"^{n}" for n in range(10)] + [f"_{n}" for n in "0123456789ikn"], strict=True))
ACCENTS = {"\u0302": r"\hat", "\u0304": r"\bar", "\u0303": r"\tilde", "\u0305": r"\bar", "\u0307": r"\dot"}
ON_LETTERS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030c": "v",
    "\u0327": "c",
    "\u0304": "=",
}
FEW = 4  # columns of a table that fits a page; a wider one is told row by row


def write(report: Report, room: int | None = None) -> str:
    return render(report.document("letter"))


def render(document: Document) -> str:
    body = "\n\n".join(part for section in document.sections for part in _section(section))
    return f"{HEAD}\n{body}\n\n\\end{{document}}"


def _section(section: doc.Section) -> list[str]:
    target = [rf"\hypertarget{{{_key(section.anchor)}}}{{}}"] if section.anchor else []
    return [*target, *(part for block in section.blocks for part in _block(block) if part)]


def _key(anchor: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "", anchor)


def _block(block: Block) -> list[str]:
    match block:
        case doc.Heading(content, level):
            command = ("section*", "subsection*", "subsubsection*")[min(level, 3) - 1]
            return [rf"\{command}{{{inline(content)}}}"]
        case doc.Paragraph(content, kind):
            words = inline(content)
            return [f"\\begin{{quote}}\n{words}\n\\end{{quote}}" if kind == "quote" else words]
        case doc.Table():
            return [_table(block)]
        case doc.FactList(pairs):
            return _facts(pairs)
        case doc.Listing(items):
            return [_items(inline(item) for item in items)]
        case doc.Code(code):
            return [r"\\".join(rf"\texttt{{{text(line)}}}" for line in code.splitlines())]
        case doc.Figure(_, caption, words):
            return [part for each in words for part in _block(each)] or [inline(caption)]
        case doc.Figures(blocks) | doc.Aside(blocks):
            return [part for each in blocks for part in _block(each)]
        case doc.Fold(title, blocks):
            return [rf"\textbf{{{text(title)}}}", *(part for each in blocks for part in _block(each))]
    return []


def _items(items: Iterable[str]) -> str:
    lines = [rf"\item {item}" for item in items]
    return "\n".join([r"\begin{itemize}\setlength{\itemsep}{0pt}", *lines, r"\end{itemize}"]) if lines else ""


def _facts(pairs: Sequence[tuple[Line, Any]]) -> list[str]:
    parts: list[str] = []
    for name, value in pairs:
        if isinstance(value, doc.Table | doc.FactList):
            parts += [rf"\textbf{{{inline(name)}}}", *_block(value)]
        else:
            parts.append(rf"\textbf{{{inline(name)}}}: {inline(value)}")
    return parts


def _table(table: doc.Table) -> str:
    """A table of few columns; of more, one paragraph a row."""
    if len(table.header) > FEW:
        rows = [
            "; ".join(
                f"{inline(name)}: {inline(cell)}" for name, cell in zip(table.header, row, strict=False) if doc.plain_text(cell)
            )
            for row in table.rows
        ]
        return _items(rows)
    columns = "".join(rf"p{{{share:.3f}\linewidth}}" for share in _shares(table))
    lines = [
        " & ".join(rf"\raggedright {inline(cell)}" for cell in row) + r" \tabularnewline" for row in (table.header, *table.rows)
    ]
    lines.insert(1, r"\hline\endhead")
    return "\n".join([rf"{{\small\begin{{longtable}}{{{columns}}}", *lines, r"\end{longtable}}"])


def _shares(table: doc.Table) -> list[float]:
    """How wide columns are: by their longest cells, none less than a tenth."""
    columns = zip(*(map(doc.plain_text, row) for row in (table.header, *table.rows)), strict=True)
    lengths = [min(max(map(len, column)), 60) for column in columns]
    shares = [max(length / sum(lengths), 0.1) for length in lengths]
    return [0.9 * share / sum(shares) for share in shares]


def inline(line: Line) -> str:
    return "".join(_part(part) for part in parts_of(line))


def _part(part: Part) -> str:
    if isinstance(part, str):
        return text(part)
    if isinstance(part, Badge):
        return rf"\textcolor{{{part.tone}}}{{\textbf{{{text(part.text)}}}}}"
    if isinstance(part, Link):
        return "" if part.back else rf"\hyperlink{{{_key(part.anchor)}}}{{\texttt{{{text(part.text)}}}}}"
    if isinstance(part, Styled) and part.style == "code":
        return rf"\texttt{{{text(part.text)}}}"
    inside = formula(part.text) if "formula" in part.style or part.style == "word" else text(part.text)
    return rf"\textbf{{{inside}}}" if part.style.startswith("strong") else inside


def formula(value: str) -> str:
    """Text in which x_i and 10^-6 are subscripts and superscripts."""
    parts, at = [], 0
    for match in FORMULA.finditer(value):
        low = match["low"]
        inside = low if low is not None else match["high"]
        inside = inside[1:-1] if inside.startswith("{") else inside
        command = "textsubscript" if low is not None else "textsuperscript"
        parts += [text(value[at : match.start()]), text(match["base"] or ""), rf"\{command}{{{formula(inside)}}}"]
        at = match.end()
    return "".join([*parts, text(value[at:])])


def text(value: str) -> str:
    """Text that LaTeX reads as text: nothing in it is a command, and every letter is one that its standard fonts have."""
    parts: list[str] = []
    for letter in unicodedata.normalize("NFD", " ".join(value.split(" "))):
        if letter in ACCENTS and parts:
            parts[-1] = _accented(parts[-1], letter)
        elif unicodedata.combining(letter):
            parts[-1:] = [_accented(parts[-1], letter)] if parts else []
        elif letter in "-'`" and parts and parts[-1].endswith(letter):
            parts.append(f"{{}}{letter}")  # two of them would become a dash or a quotation mark
        else:
            parts.append(_letter(letter))
    return "".join(parts)


def _accented(base: str, accent: str) -> str:
    inside = base.removeprefix(r"\ensuremath{").removesuffix("}") if base.startswith(r"\ensuremath{") else base
    if accent in ACCENTS:
        return rf"\ensuremath{{{ACCENTS[accent]}{{{inside}}}}}"
    return rf"\{ON_LETTERS[accent]}{{{base}}}" if accent in ON_LETTERS and base.isalpha() else base


def _letter(letter: str) -> str:
    if letter in PLAIN:
        return PLAIN[letter]
    if letter in GREEK:
        return rf"\ensuremath{{\{GREEK[letter]}}}"
    if letter in MATH or letter in DIGITS:
        return rf"\ensuremath{{{MATH.get(letter) or DIGITS[letter]}}}"
    if letter.isascii():
        return letter if letter.isprintable() or letter.isspace() else ""
    simpler = unicodedata.normalize("NFKD", letter)
    if simpler != letter:
        return "".join(_letter(each) for each in simpler if not unicodedata.combining(each))
    return rf"\texttt{{U+{ord(letter):04X}}}"  # shown, not lost
