"""In what a policy asks less than the base branch's: every such difference is a finding (DPA009) that only the base can allow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, show
from dpaudit.gate.baseline import WATCHED, read_baseline
from dpaudit.gate.policy import Config, GateBudget

Terms = Mapping[str, Any]  # of a subject, as ``subject_terms`` gives them
NAMED = ("horizon", "actions", "dim", "calibration")  # of a registered algorithm
VERDICTS = ("certified", "unproven")  # from best to worst; any other is worse


@dataclass(frozen=True)
class Loosening:
    """One difference, in words, and of which budget; None where it is about the policy as a whole."""

    budget: str | None
    what: str
    before: str
    after: str

    @property
    def message(self) -> str:
        return f"{self.what}: {self.before} → {self.after}"

    @property
    def fingerprint(self) -> str:
        """A waiver allows this change and no other."""
        parts = ["dpaudit.fingerprint/2", "DPA009", self.budget, self.what, self.before, self.after]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def policy_loosenings(base: Config, now: Config) -> Iterator[Loosening]:
    """What the policy as a whole asks less: budgets, waivers, the baseline, keys and the seed."""
    names = {budget.name for budget in now.budgets}
    for budget in base.budgets:
        if budget.name not in names:
            yield Loosening(None, f"budget {budget.name}", f"{budget.target}, {budget.claim}", "removed")
    if base.budgets and base.seed != now.seed:
        yield Loosening(None, "seed of the audits", str(base.seed), str(now.seed))
    if now.waiver_days > base.waiver_days:
        yield Loosening(None, "longest waiver", f"{base.waiver_days} days", f"{now.waiver_days} days")
    yield from _waivers(base, now)
    yield from _keys(base, now)
    yield from _baseline(base, now)


def _waivers(base: Config, now: Config) -> Iterator[Loosening]:
    ends = {(waiver.rule, waiver.fingerprint): waiver.expires for waiver in base.waivers}
    for waiver in now.waivers:
        before = ends.get((waiver.rule, waiver.fingerprint))
        if before is None or waiver.expires > before:
            until = "none" if before is None else f"until {before.isoformat()}"
            what = f"waiver of {waiver.rule} {waiver.fingerprint}"
            yield Loosening(None, what, until, f"until {waiver.expires.isoformat()}")


def _keys(base: Config, now: Config) -> Iterator[Loosening]:
    """Keys are compared by what the files hold."""
    known = {_digest(key) for key in base.trusted_keys}
    for key in now.trusted_keys:
        if _digest(key) not in known:
            yield Loosening(None, f"trusted key {key.name}", "not trusted", f"trusted ({_digest(key)[:16]})")

    revoked = {_digest(key) for key in now.revoked_keys}
    for key in base.revoked_keys:
        if _digest(key) not in revoked:
            yield Loosening(None, f"revoked key {key.name}", "revoked", "no longer")


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return f"unreadable {file.name}"


def _baseline(base: Config, now: Config) -> Iterator[Loosening]:
    """Figures that went up, verdicts that got worse, entries that are gone: a review must not miss them."""
    if base.baseline is None:
        return
    if now.baseline is None:
        yield Loosening(None, "baseline", base.baseline.name, "none")
        return
    try:
        old = read_baseline(base.baseline)
    except DpauditError:
        return  # the base has none that could be edited
    new = read_baseline(now.baseline)
    for name, entry in old.items():
        changed = new.get(name)
        if changed is None:
            yield Loosening(None, f"baseline of {name}", _entry(entry), "removed")
        elif _worse(entry, changed):
            yield Loosening(None, f"baseline of {name}", _entry(entry), _entry(changed))


def _worse(before: Terms, after: Terms) -> bool:
    rank = {verdict: place for place, verdict in enumerate(VERDICTS)}
    costs = [None if entry.get("epsilon") is None else Fraction(entry["epsilon"]) for entry in (before, after)]
    dearer = costs[1] is None if costs[0] is not None else False
    dearer = dearer or (costs[0] is not None and costs[1] is not None and costs[1] > costs[0])
    verdicts = [rank.get(str(entry.get("verdict")), len(VERDICTS)) for entry in (before, after)]
    watched = any(key in before and before[key] != after.get(key) for key in WATCHED)
    return dearer or verdicts[1] > verdicts[0] or watched


def _entry(entry: Terms) -> str:
    words = [f"ε {entry.get('epsilon') or 'none'}", str(entry.get("verdict")), *(str(entry[k]) for k in WATCHED if k in entry)]
    return ", ".join(words)


def budget_loosenings(base: GateBudget, now: GateBudget) -> Iterator[Loosening]:
    """What one budget's table asks less."""

    def changed(what: str, before: object, after: object) -> Loosening:
        return Loosening(now.name, what, _said(before), _said(after))

    for what, before, after in (
        ("ε", base.claim.epsilon, now.claim.epsilon),
        ("δ", base.claim.delta, now.claim.delta),
    ):
        if after > before:
            yield changed(what, show(before), show(after))
    if base.target != now.target:
        yield changed("what it is about", base.target, now.target)
    for key in NAMED:
        if getattr(base, key) != getattr(now, key):
            yield changed(key, getattr(base, key), getattr(now, key))
    for key in ("neighbours", "unit"):
        if getattr(base, key) is not None and getattr(base, key) != getattr(now, key):
            yield changed(key, getattr(base, key), getattr(now, key))
    if now.ledger is not None and base.claim.observer != now.claim.observer:  # of a subject: among its terms
        yield changed("observer", base.claim.observer, now.claim.observer)
    if base.require != now.require and now.require != "certified":
        yield changed("require", base.require, now.require)


def sample_loosenings(base: GateBudget, now: GateBudget, terms: Terms) -> Iterator[Loosening]:
    """Fewer runs of an audit; ``terms`` say how many there are where a budget does not."""
    default = int(terms["samples"])
    if (now.samples or default) < (base.samples or default):
        words = [str(samples) if samples else f"as many as dpaudit takes ({default})" for samples in (base.samples, now.samples)]
        yield Loosening(now.name, "samples", *words)


def term_loosenings(name: str, base: Terms, now: Terms) -> Iterator[Loosening]:
    """Where the claim that a subject is held to is about other people, other numbers or fewer data sets than at the base."""
    if base["observer"] != now["observer"]:
        yield Loosening(name, "observer of the claim", base["observer"], now["observer"])
    if base["arithmetic"] != now["arithmetic"] and now["arithmetic"] == "ideal":
        yield Loosening(name, "arithmetic of the claim", base["arithmetic"], now["arithmetic"])
    before, after = base["neighbours"], now["neighbours"]
    if before.keys() != after.keys() or before["relation"] != after["relation"]:
        yield Loosening(name, "neighbours", _relation(before), _relation(after))
        return
    if before.get("n") != after.get("n"):
        yield Loosening(name, "number of records", _said(before.get("n")), _said(after.get("n")))
    if "low" in before and not _covers(after, before):
        yield Loosening(name, "bounds of a record", _range(before), _range(after))
    for key in ("values", "pairs"):
        missing = set(before.get(key, ())) - set(after.get(key, ()))
        if missing:
            yield Loosening(name, f"{key} of the neighbours", f"{len(before[key])}", f"{len(missing)} of them gone")
    for name_of, column in before.get("columns", {}).items():
        if not _column_covers(after["columns"].get(name_of), column):
            yield Loosening(name, f"column {name_of}", _column_words(column), _column_words(after["columns"].get(name_of)))
    if before.get("digest") != after.get("digest"):
        yield Loosening(name, "neighbours", "those of the base", "others, which cannot be compared")


def _covers(after: Terms, before: Terms) -> bool:
    """Is every record that was allowed still allowed?"""
    old, new = [list(zip(_listed(terms["low"]), _listed(terms["high"]), strict=True)) for terms in (before, after)]
    return len(old) == len(new) and all(b[0] <= a[0] and b[1] >= a[1] for a, b in zip(old, new, strict=True))


def _column_covers(after: Terms | None, before: Terms) -> bool:
    """Is every entry that was allowed in this column still allowed?"""
    if after is None or after.keys() != before.keys() or after["missing"] < before["missing"]:
        return False
    return set(before["values"]) <= set(after["values"]) if "values" in before else _covers(after, before)


def _column_words(column: Terms | None) -> str:
    if column is None:
        return "gone"
    words = f"{len(column['values'])} values" if "values" in column else _range(column)
    return f"{words}, may be missing" if column["missing"] else words


def _listed(end: Any) -> list[float]:
    return end if isinstance(end, list) else [end]


def _range(terms: Terms) -> str:
    return f"[{terms['low']}, {terms['high']}]"


def _relation(terms: Terms) -> str:
    return terms["relation"] + (f" in {_range(terms)}" if "low" in terms else "")


def _said(value: object) -> str:
    return "not said" if value is None else str(value)
