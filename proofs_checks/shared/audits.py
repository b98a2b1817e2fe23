"""Privacy claims are decided by audits of the algorithm itself: the same code that a deployment runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dpaudit as dp
from dpaudit.papers.checks import Decision
from proofs_checks.shared.decisions import Row

_ONE = re.compile(r"ConstantExceptOne\(base=(?P<base>[^,]+), t=(?P<t>\d+), value=(?P<value>[^,]+),.*\)")


def decide_by_audits(
    make: Callable[..., Any],
    settings: Sequence[Mapping[str, Any]],
    observers: Sequence[str],
    calibration: str,
    *,
    deciding: Sequence[str] | None = None,
    correction: str | None = None,
    samples: int = 20_000,
    seed: int = 1,
) -> Decision:
    """Refuted if one audit refutes (exactly, or at confidence 1−10^-6); verified if all certify; else conditional.

    ``deciding``: the observers of the claim, if not all are. Who sees more may be told what they are not: no refutation.
    """
    verdicts: list[dp.Verdict] = []
    rows: list[Row] = []
    for setting in settings:
        subject = make(**setting, calibration=calibration)
        for observer in observers:
            verdicts.append(dp.audit(subject, observer=observer, samples=samples, seed=seed))
            rows.append(_row(setting, observer, verdicts[-1]))
    refuted = [(row, verdict) for row, verdict in zip(rows, verdicts, strict=True) if verdict.verdict == "refuted"]
    refuted = [pair for pair in refuted if deciding is None or pair[0]["observer"] in deciding]
    if refuted:
        return Decision("refuted", _refutation(refuted, rows), correction)
    certified = [row for row in rows if row["verdict"] == "certified"]
    if len(certified) == len(rows):
        summary = f"certified in all {len(rows)} audits"
        return Decision("verified", {"summary": summary, "range": "the audits listed", "audits": rows})
    summary = f"certified in {len(certified)} of {len(rows)} audits, refuted for the claim's observer in none"
    return Decision("conditional", {"summary": summary, "audits": rows}, correction)


def _row(setting: Mapping[str, Any], observer: str, verdict: dp.Verdict) -> Row:
    """One audit: what was asked, what came of it."""
    return {
        "ε": str(setting["epsilon"]), "δ": str(setting.get("delta", 0)), "T": setting["horizon"], "observer": observer,
        "verdict": str(verdict.verdict), "attacked ≥": round(verdict.lower.epsilon, 9),
        "proven ≤": None if verdict.upper is None else verdict.upper.epsilon, "by": verdict.lower.method,
    }  # fmt: skip


def _refutation(refuted: Sequence[tuple[Row, dp.Verdict]], rows: Sequence[Row]) -> Row:
    """The evidence: of the first observer's audits the one with a witness that is computed, if there is one."""
    alike = [pair for pair in refuted if pair[0]["observer"] == refuted[0][0]["observer"]]
    row, verdict = min(alike, key=lambda pair: (pair[1].witness or {}).get("kind") == "statistics")
    witness, shown = verdict.witness or {}, row["attacked ≥"]
    if row["by"].startswith("guessing"):
        shown = witness.get("epsilon", shown)
    summary = f"claimed ε = {row['ε']}, T = {row['T']}, observer {row['observer']}: true ε ≥ {float(shown):.6g}"
    summary += f" ({len(refuted)} of {len(rows)} audits)"
    return {"summary": summary, "counterexample": _in_words(witness), "reason": verdict.reason, "audits": rows}


def _in_words(witness: Mapping[str, Any]) -> Row:
    """A witness whose data is in words."""
    return {**witness, **{name: _data(str(witness[name])) for name in ("data", "neighbour") if name in witness}}


def _data(described: str) -> str:
    parts = _ONE.fullmatch(described)
    if parts is None:
        return described
    base, value = f"{float(parts['base']):g}", f"{float(parts['value']):g}"
    return f"every reward is {base}" + ("" if base == value else f", but that of round t = {parts['t']}, which is {value}")
