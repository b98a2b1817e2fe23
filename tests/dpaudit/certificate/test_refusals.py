"""What is not certified, and that the message says why. Every refused ledger has an honest twin (conftest: deployment)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certificate import Refused, audit_subject, read_ledger, refuse, relied_upon
from dpaudit.certificate.facts.reliance import Reliance, changed_since
from dpaudit.channel import Channel
from dpaudit.ledger import Release
from dpaudit.papers.decisions import decide
from dpaudit.papers.installed_papers import find_checks
from dpaudit.sealed import Sealed
from dpaudit.subjects.subject import Subject, make_subject
from dpaudit.subjects.targets import code_of, make_algorithm

RECORDS = np.linspace(-1, 1, 100)


def sealed() -> Sealed:
    return dp.seal(RECORDS, -1, 1)


def reasons(path: Path) -> str:
    with pytest.raises(Refused) as refused:
        refuse(read_ledger(path), None, [])
    assert not refused.value.refuted
    return str(refused.value)


def test_an_honest_deployment_is_not_refused(deployment: Path) -> None:
    refuse(read_ledger(deployment), None, [])


def test_a_simulated_ledger_is_refused(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "s.ledger", kind="simulated") as ledger, dp.simulate(1, ledger=ledger, budget=1) as channel:
        channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
    assert "simulated ledger" in reasons(tmp_path / "s.ledger")


def test_declared_sensitivity_is_refused(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "d.ledger") as ledger, dp.live(ledger, 1) as channel:
        channel.release("sum", 0.5, dp.Laplace(scale=2), sensitivity=2)
    told = reasons(tmp_path / "d.ledger")
    assert "sensitivity only declared: release 'sum'" in told
    assert "proven=True" in told


def test_a_door_that_would_have_taken_declared_releases_is_refused(tmp_path: Path) -> None:
    """All releases of this path are proven, but on another path one might not have been."""
    with dp.open_ledger(tmp_path / "d.ledger") as ledger, dp.live(ledger, 1) as channel:
        channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
    told = reasons(tmp_path / "d.ledger")
    assert "proven=True" in told
    assert "sensitivity only declared" not in told


def test_without_a_budget_only_one_path_is_known(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "n.ledger") as ledger, dp.live(ledger, proven=True) as channel:
        channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
    assert "no budget" in reasons(tmp_path / "n.ledger")


def test_a_budget_chosen_after_the_first_release_promises_nothing(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "l.ledger") as ledger:
        with dp.live(ledger, proven=True) as channel:
            channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
        with dp.live(ledger, 1, proven=True):
            pass
    assert "after charge 1" in reasons(tmp_path / "l.ledger")


def test_a_budget_that_is_tightened_later_certifies_the_one_before(tmp_path: Path) -> None:
    """Whoever spends little on a lucky path and then lowers the budget has still promised the larger one."""
    with dp.open_ledger(tmp_path / "t.ledger") as ledger:
        with dp.live(ledger, 10, proven=True) as channel:
            channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
        ledger.limit(1)
    found = read_ledger(tmp_path / "t.ledger")
    refuse(found, None, [])
    assert found.opening is not None
    assert found.opening.budget.epsilon == 10
    with dp.open_ledger(tmp_path / "e.ledger") as ledger:  # the twin: before anything was released
        ledger.limit(10, proven=True)
        ledger.limit(1)
        with dp.live(ledger) as channel:
            channel.release("sum", sealed().sum(), dp.Laplace(scale=2), sensitivity=2)
    early = read_ledger(tmp_path / "e.ledger").opening
    assert early is not None
    assert (early.budget.epsilon, early.proven, early.charges_before) == (1, True, 0)


def test_an_empty_ledger_certifies_nothing(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "e.ledger") as ledger, dp.live(ledger, 1, proven=True):
        pass
    assert "holds no release" in reasons(tmp_path / "e.ledger")


@pytest.mark.parametrize(("scale", "refused"), [("1/4", True), ("4", False)])
def test_amplification_outside_its_theorem_is_refused(scale: str, refused: bool, tmp_path: Path) -> None:
    """A release that names the closed formula: ε0 = 8 with 1,000 reports is outside log(n/(16 log(2/δ))), ε0 = 1/2 inside."""
    batch = {"kind": "shuffled", "n": 1000, "to": "shuffled", "theorem": "closed", "relation": "replace-one"}
    laplace = {"mechanism": "laplace", "parameters": {"scale": scale}, "epsilon": 2 / Fraction(scale)}
    with dp.open_ledger(tmp_path / "o.ledger") as ledger:
        ledger.limit(dp.Claim("8", "1e-6"), proven=True)
        ledger.append(Release(name="batch", sensitivity=Fraction(2), derived=Fraction(2), **laplace, **batch))
    if refused:
        assert "out-of-domain amplification" in reasons(tmp_path / "o.ledger")
    else:
        refuse(read_ledger(tmp_path / "o.ledger"), None, [])


def test_an_understated_charge_is_found_by_reading_the_releases_again(tmp_path: Path) -> None:
    """The entry says ε = 1/10; its mechanism costs 1, which is over the budget."""
    with dp.open_ledger(tmp_path / "u.ledger") as ledger:
        ledger.limit("1/2", proven=True)
        laplace = {"mechanism": "laplace", "parameters": {"scale": "2"}, "epsilon": Fraction(1, 10)}
        ledger.append(Release(name="sum", sensitivity=Fraction(2), derived=Fraction(2), **laplace))
    assert "over budget" in reasons(tmp_path / "u.ledger")


def test_a_claim_of_a_paper_that_is_refuted_unchecked_or_stale_is_refused() -> None:
    for claim, word in (
        (Reliance("thm.x", "", "", "refuted", "s", "stored", {}), "thm.x is refuted"),
        (Reliance("thm.y", "", "", "unchecked", "s", "none", {}), "thm.y is unchecked"),
        (Reliance("thm.z", "", "", "verified", "s", "stored", {}, ("module",)), "stale"),
    ):
        with pytest.raises(Refused, match="unproven claim") as refused:
            refuse(None, None, [claim])
        assert word in str(refused.value)
    refuse(None, None, [Reliance("thm.x", "", "", "verified", "s", "stored", {})])


def test_an_unknown_claim_counts_as_unchecked() -> None:
    subject = make_subject(lambda data, channel: None, dp.Claim("1"), dp.replace_one(1, 0, 1), notes={"claims": "no.such"})
    (found,) = relied_upon(subject)
    assert (found.id, found.verdict) == ("no.such", "unchecked")


def test_stored_evidence_is_used_while_its_code_is_unchanged() -> None:
    subject = make_algorithm("central", {"epsilon": "1", "horizon": 300})
    stored = {"schema": "dpaudit.claims/1", "claims": [decide(find_checks()["fix.noise"], quick=True).to_dict()]}
    (fresh,) = relied_upon(subject, stored)
    assert (fresh.evidence, fresh.stale) == ("decided now, quick; stored evidence agrees", ())
    assert changed_since([fresh.to_dict()]) == []
    stored["claims"][0]["code"]["algorithms.elimination.central"] = "0" * 64
    (stale,) = relied_upon(subject, stored)
    assert stale.stale == ("algorithms.elimination.central",)
    assert changed_since([stale.to_dict()]) == ["fix.noise"]
    with pytest.raises(Refused, match=r"fix\.noise is stale, algorithms\.elimination\.central changed"):
        refuse(None, None, [stale])


def test_stored_evidence_is_not_believed_against_what_is_decided_now() -> None:
    """The printed algorithm rests on a refuted theorem; a file that says otherwise changes nothing, nor does its text."""
    subject = make_algorithm("central", {"epsilon": "1", "horizon": 300, "calibration": "printed"})
    entry = decide(find_checks()["thm1.privacy"], quick=True).to_dict()
    assert entry["verdict"] == "refuted"
    forged = {"schema": "dpaudit.claims/1", "claims": [{**entry, "verdict": "verified", "evidence": {"summary": "all is well"}}]}
    (found,) = relied_upon(subject, forged)
    with pytest.raises(Refused, match="stored as verified, decided now as refuted"):
        refuse(None, None, [found])
    assert "all is well" not in str(found.to_dict())
    (twin,) = relied_upon(subject, {"schema": "dpaudit.claims/1", "claims": [entry]})
    assert (twin.verdict, twin.evidence) == ("refuted", "decided now, quick; stored evidence agrees")


def test_the_printed_shuffled_algorithm_is_refused_by_name() -> None:
    """At this size its noise happens to suffice; it still declares too little and rests on a refuted theorem."""
    subject = make_algorithm("shuffled", {"epsilon": "1", "horizon": 300, "calibration": "printed"})
    with pytest.raises(Refused) as refused:
        refuse(None, audit_subject(subject, seed=1, samples=200), relied_upon(subject))
    assert "DPA003" in str(refused.value)
    assert "thm3.privacy is refuted" in str(refused.value)


def test_other_code_or_another_claim_than_the_ledgers_is_refused(deployment: Path, subject: Subject, tmp_path: Path) -> None:
    audited = audit_subject(subject, seed=1)
    refuse(read_ledger(deployment), audited, [])
    code = code_of(subject)
    assert code is not None
    code.write_text(code.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    with pytest.raises(Refused, match="the subject source differs"):
        refuse(read_ledger(deployment), audit_subject(subject, seed=1), [])
    with pytest.raises(Refused, match="the ledger's budget is ε=1, the subject's claim is ε=2"):
        refuse(read_ledger(deployment), audit_subject(subject, seed=1, epsilon="2"), [])


def test_two_versions_of_the_code_in_one_ledger_are_refused(deployment: Path, subject: Subject) -> None:
    code = code_of(subject)
    assert code is not None
    code.write_text(code.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    with dp.open_ledger(deployment, code=code) as ledger:  # noted, but it charges nothing
        pass
    assert not read_ledger(deployment).rewritten
    with dp.open_ledger(deployment, code=code) as ledger, dp.live(ledger) as channel:
        data = dp.seal(np.zeros(200), -1, 1)
        channel.release("more", data[150:].sum(), dp.Laplace(scale=2), sensitivity=2)
    assert read_ledger(deployment).rewritten
    with pytest.raises(Refused, match="more than one version"):
        refuse(read_ledger(deployment), audit_subject(subject, seed=1), [])


def test_a_refuted_subject_says_so() -> None:
    def half_noise(rewards: Sealed, channel: Channel) -> object:
        return channel.release("sum", rewards.sum(), dp.Laplace(scale=1), sensitivity=2)

    subject = make_subject(half_noise, dp.Claim("1"), dp.replace_one(n=10, low=-1, high=1))
    with pytest.raises(Refused) as refused:
        refuse(None, audit_subject(subject, seed=1), [])
    assert refused.value.refuted
