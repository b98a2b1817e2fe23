"""Privacy claims are decided by audits of the algorithm itself: the same code that a deployment runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dpaudit as dp
from dpaudit.papers.checks import Decision

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
    rows, verdicts = [], []
    for setting in settings:
        subject = make(**setting, calibration=calibration)
        for observer in observers:
            found = dp.audit(subject, observer=observer, samples=samples, seed=seed)
            upper = None if found.upper is None else found.upper.epsilon
            asked = {
                "ε": str(setting["epsilon"]),
                "δ": str(setting.get("delta", 0)),
                "T": setting["horizon"],
                "observer": observer,
            }
            bounds = {"attacked ≥": round(found.lower.epsilon, 9), "proven ≤": upper, "by": found.lower.method}
            rows.append({**asked, "verdict": str(found.verdict), **bounds})
            verdicts.append(found)
    refuted = [(row, found) for row, found in zip(rows, verdicts, strict=True) if found.verdict == "refuted"]
    refuted = [pair for pair in refuted if deciding is None or pair[0]["observer"] in deciding]
    certified = [row for row in rows if row["verdict"] == "certified"]
    if refuted:
        alike = [pair for pair in refuted if pair[0]["observer"] == refuted[0][0]["observer"]]
        row, found = min(
            alike, key=lambda pair: (pair[1].witness or {}).get("kind") == "statistics"
        )  # what is computed comes first
        shown = (found.witness or {}).get("epsilon", row["attacked ≥"]) if row["by"].startswith("guessing") else row["attacked ≥"]
        summary = f"claimed ε = {row['ε']}, T = {row['T']}, observer {row['observer']}: true ε ≥ {float(shown):.6g}"
        summary += f" ({len(refuted)} of {len(rows)} audits)"
        told = {"summary": summary, "counterexample": _told(found.witness or {}), "reason": found.reason, "audits": rows}
        return Decision("refuted", told, correction)
    if len(certified) == len(rows):
        told = {"summary": f"certified in all {len(rows)} audits", "range": "the audits listed", "audits": rows}
        return Decision("verified", told)
    summary = f"certified in {len(certified)} of {len(rows)} audits, refuted for the claim's observer in none"
    return Decision("conditional", {"summary": summary, "audits": rows}, correction)


def _told(witness: Mapping[str, Any]) -> dict[str, Any]:
    """A witness whose data is in words."""
    return {**witness, **{name: _data(str(witness[name])) for name in ("data", "neighbour") if name in witness}}


def _data(described: str) -> str:
    found = _ONE.fullmatch(described)
    if found is None:
        return described
    base, value = f"{float(found['base']):g}", f"{float(found['value']):g}"
    return f"every reward is {base}" + ("" if base == value else f", but that of round t = {found['t']}, which is {value}")
