"""How much it matters that a claim fails, and what a claim that holds rests on. One rule for every paper.

Where a paper says two things, the reading under which the claim holds comes first, and its verdict is ``conditional``. A line
that has one reading, and is false in it, is ``refuted``, however small the slip; what the paper writes elsewhere is said first.
"""

from __future__ import annotations

RULES = {  # of claims that do not hold as printed, the gravest first
    "fatal": "a guarantee that the paper gives its reader, of privacy or of where a theorem applies, fails as printed",
    "repairable": "a wrong step, bound or condition; what it serves survives with another",
    "slip": "a symbol, index or quantifier; the sentence beside it, or the paper's own use, has the right one",
    "constant": "a wrong constant that the paper's O(·) absorbs",
    "measured": "a statement about a figure or an experiment that the measurement limits",
    "none": "it holds, or nothing here decides it",
}
SEVERITIES = tuple(RULES)

BASES = {
    "proven": "for all parameters: the argument is named, and its steps are checked",
    "range": "checked on the range that the evidence states, and nothing beyond",
    "measured": "measured in runs",
}
