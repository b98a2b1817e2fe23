"""``dpaudit certify`` and ``dpaudit verify``: exit codes, files, and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certificate import sign
from dpaudit.cli import main
from dpaudit.commands.gate.certify import write_new
from dpaudit.ledger.keys import read_private_key
from dpaudit.subjects.subject import Subject

Out = pytest.CaptureFixture[str]
Payload = Callable[[Path], dict[str, Any]]


@pytest.fixture
def cert(subject: Subject, tmp_path: Path, keys: tuple[str, str], capsys: Out) -> Path:
    path = tmp_path / "made.json"
    assert main(["certify", str(tmp_path / "mechanism.py"), "-o", str(path), "--key", keys[0], "--seed", "1"]) == 0
    assert "noisy_sum: CERTIFIED" in capsys.readouterr().out
    return path


@pytest.fixture
def of_ledger(deployment: Path, keys: tuple[str, str], capsys: Out) -> Path:
    path = deployment.with_name("of-ledger.json")
    assert main(["certify", str(deployment), "-o", str(path), "--key", keys[0]]) == 0
    capsys.readouterr()
    return path


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_an_existing_file_is_never_overwritten(cert: Path, keys: tuple[str, str], capsys: Out) -> None:
    held = cert.read_bytes()
    assert main(["certify", str(cert.with_name("mechanism.py")), "-o", str(cert), "--key", keys[0]]) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert cert.read_bytes() == held


def test_a_file_that_appears_meanwhile_is_not_overwritten_either(tmp_path: Path) -> None:
    place = tmp_path / "cert.json"
    write_new("one", place)
    with pytest.raises(dp.DpauditError, match="never overwritten"):
        write_new("two", place)
    assert place.read_text(encoding="utf-8") == "one\n"
    assert files(tmp_path) == {"cert.json"}


def test_a_file_with_several_subjects_needs_a_name(tmp_path: Path, keys: tuple[str, str], capsys: Out) -> None:
    body = "import dpaudit as dp\n" + "".join(
        f"@dp.subject(claim=dp.Claim('1'), neighbours=dp.replace_one(2, 0, 1))\ndef s{n}(data, channel):\n    return 1\n"
        for n in (1, 2)
    )
    (tmp_path / "two.py").write_text(body, encoding="utf-8")
    assert main(["certify", str(tmp_path / "two.py"), "-o", str(tmp_path / "c.json"), "--key", keys[0]]) == 2
    assert "name one of the 2" in capsys.readouterr().err


def test_a_tampered_ledger_exits_1_and_leaves_no_file(deployment: Path, keys: tuple[str, str], capsys: Out) -> None:
    copy = deployment.with_name("copy.jsonl")
    assert main(["export", str(deployment), "--output", str(copy)]) == 0
    text = copy.read_text(encoding="utf-8")
    copy.write_text(text.replace('"sum"', '"Sum"'), encoding="utf-8")
    before = files(deployment.parent)
    assert main(["certify", str(copy), "-o", str(copy.with_name("c.json")), "--key", keys[0]]) == 1
    assert "DPA007" in capsys.readouterr().err
    assert files(deployment.parent) == before
    copy.write_text(text, encoding="utf-8")  # the twin
    assert main(["certify", str(copy), "-o", str(copy.with_name("c.json")), "--key", keys[0]]) == 0


def test_a_refusal_names_its_reasons_as_json_too(tmp_path: Path, keys: tuple[str, str], capsys: Out) -> None:
    with dp.open_ledger(tmp_path / "d.ledger") as ledger, dp.live(ledger, 1) as channel:
        channel.release("sum", 0.5, dp.Laplace(scale=2), sensitivity=2)
    before = files(tmp_path)
    asked = ["certify", str(tmp_path / "d.ledger"), "-o", str(tmp_path / "c.json"), "--key", keys[0], "--format", "json"]
    assert main(asked) == 3
    said = capsys.readouterr()
    assert "sensitivity only declared" in said.err
    document = json.loads(said.out)
    assert document["certified"] is False
    assert any("sensitivity only declared" in reason for reason in document["refused"])
    assert files(tmp_path) == before


def test_options_that_do_not_fit_are_refused(deployment: Path, keys: tuple[str, str], capsys: Out) -> None:
    out = ["-o", str(deployment.with_name("c.json")), "--key", keys[0]]
    for wrong in (["--epsilon", "2"], ["--horizon", "10"], ["--seed", "1"]):
        assert main(["certify", str(deployment), *out, *wrong]) == 2
    assert main(["certify", "central", "--subject", "central", *out]) == 2
    assert main(["certify", "nothing-there", *out]) == 2
    assert not deployment.with_name("c.json").exists()


def test_verify_says_what_was_checked_and_what_was_not(cert: Path, keys: tuple[str, str], capsys: Out) -> None:
    assert main(["verify", str(cert), "--key", keys[1]]) == 0
    said = capsys.readouterr().out
    assert said.startswith("✓ ")
    assert "ε ≤ 1 for one record; attacked: ε ≥ 1" in said
    assert "skipped  the source: give --source" in said
    assert main(["verify", str(cert), "--key", keys[1], "--source", str(cert.with_name("mechanism.py"))]) == 0
    assert "checked  the source: as certified" in capsys.readouterr().out


def test_verify_without_a_trusted_key_exits_3(cert: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cert.parent)
    assert main(["verify", str(cert)]) == 3
    assert "NOT TRUSTED" in capsys.readouterr().out


def test_trusted_keys_may_stand_in_the_configuration(
    cert: Path, keys: tuple[str, str], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cert.parent / "pyproject.toml").write_text('[tool.dpaudit]\ntrusted_keys = ["auditor.pub"]\n', encoding="utf-8")
    monkeypatch.chdir(cert.parent)
    assert main(["verify", "made.json"]) == 0
    (cert.parent / "pyproject.toml").write_text('[tool.dpaudit]\ntrusted_keys = ["missing.pub"]\n', encoding="utf-8")
    assert main(["verify", "made.json"]) == 2
    capsys.readouterr()


def test_waivers_about_something_else_are_not_listed(
    subject: Subject, tmp_path: Path, keys: tuple[str, str], payload: Payload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those beside the certificate nor those of the project: none of them names a finding about this subject."""
    waiver = '[[tool.dpaudit.waive]]\nrule = "DPA003"\nfingerprint = "0123456789abcdef"\nreason = "known"\nowner = "us"\n'
    (tmp_path / "pyproject.toml").write_text(f"{waiver}expires = 2099-01-31\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for place in (tmp_path, elsewhere):
        monkeypatch.chdir(place)
        out = tmp_path / f"{place.name}.json"
        assert main(["certify", f"{tmp_path / 'mechanism.py'}:noisy_sum", "-o", str(out), "--key", keys[0], "--seed", "1"]) == 0
        assert payload(out)["predicate"]["waivers"] == []


def test_a_ledger_that_is_not_there_is_called_that(tmp_path: Path, keys: tuple[str, str], capsys: Out) -> None:
    out = ["-o", str(tmp_path / "c.json"), "--key", keys[0]]
    assert main(["certify", str(tmp_path / "missing.ledger"), "--subject", "mine.py:noisy_sum", *out]) == 2
    assert "missing.ledger: no such file" in capsys.readouterr().err


def test_verify_gives_json(cert: Path, keys: tuple[str, str], capsys: Out) -> None:
    assert main(["verify", str(cert), "--key", keys[1], "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["trusted"], found["verdict"]) == ("dpaudit.verify-certificate/1", True, "certified")
    assert found["guarantee"]["epsilon"] == "1"
    assert found["checked"]
    assert found["not_checked"]


def test_another_source_is_violated(cert: Path, keys: tuple[str, str], capsys: Out) -> None:
    source = cert.with_name("mechanism.py")
    source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert main(["verify", str(cert), "--key", keys[1], "--source", str(source)]) == 1
    assert "not the source that was certified" in capsys.readouterr().err


def test_the_ledger_beside_a_certificate_must_continue_it(
    of_ledger: Path, deployment: Path, keys: tuple[str, str], capsys: Out
) -> None:
    asked = ["verify", str(of_ledger), "--key", keys[1], "--ledger"]
    assert main([*asked, str(deployment)]) == 0
    assert "entries are as certified" in capsys.readouterr().out
    cut = deployment.with_name("cut.jsonl")
    assert main(["export", str(deployment), "--output", str(cut)]) == 0
    lines = cut.read_text(encoding="utf-8").splitlines(keepends=True)
    cut.write_text("".join(lines[:-1]), encoding="utf-8")
    assert main([*asked, str(cut)]) == 1
    with dp.open_ledger(deployment.with_name("other.ledger")) as other, dp.live(other, 1, proven=True) as channel:
        channel.release("sum", dp.seal(np.zeros(3), -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)
    capsys.readouterr()
    assert main([*asked, str(deployment.with_name("other.ledger"))]) == 1
    assert "DPA007" in capsys.readouterr().err
    with dp.open_ledger(deployment) as ledger:
        ledger.limit("1/2")  # it grows, and stays whole
    assert main([*asked, str(deployment)]) == 0
    assert "written to the ledger since (1 more)" in capsys.readouterr().out


def test_a_ledger_with_its_subject_is_certified_as_both(
    deployment: Path, keys: tuple[str, str], capsys: Out, payload: Payload
) -> None:
    out, code = deployment.with_name("both.json"), str(deployment.with_name("mechanism.py"))
    assert main(["certify", str(deployment), "--subject", code, "-o", str(out), "--key", keys[0], "--seed", "1"]) == 0
    assert payload(out)["predicate"]["assurance"]["level"] == "proven and enforced"
    assert main(["verify", str(out), "--key", keys[1], "--ledger", str(deployment), "--source", code]) == 0
    said = capsys.readouterr().out
    assert "level    proven and enforced" in said
    assert "door     dp.live_certified opens it" in said
    assert main(["verify", str(out), "--key", keys[1], "--checkpoint", str(out)]) == 2


def test_a_draft_for_the_registry_is_written_for_trusted_certificates_only(
    cert: Path, keys: tuple[str, str], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cert.parent)
    draft = cert.with_name("draft.yaml")
    assert main(["verify", str(cert), "--registry", str(draft)]) == 3
    assert not draft.exists()
    assert main(["verify", str(cert), "--key", keys[1], "--registry", str(draft)]) == 0
    assert json.loads(draft.read_text(encoding="utf-8"))["url_slug"] == "noisy-sum"
    assert "fill in" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "not json", '{"payload": 1}', '{"payload":"","payloadType":"","signatures":[]}']
)
def test_what_is_no_certificate_exits_2(content: str, tmp_path: Path, keys: tuple[str, str], capsys: Out) -> None:
    (tmp_path / "odd.json").write_text(content, encoding="utf-8")
    assert main(["verify", str(tmp_path / "odd.json"), "--key", keys[1]]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_certificate_options_are_not_for_ledgers(deployment: Path, capsys: Out) -> None:
    assert main(["verify", str(deployment), "--source", str(deployment)]) == 2
    assert "is for certificates" in capsys.readouterr().err


def test_a_signed_certificate_with_missing_parts_is_unreadable_not_a_crash(
    document: tuple[dict[str, Any], Path], tmp_path: Path, keys: tuple[str, str], capsys: Out
) -> None:
    for name in ("hazards", "observer", "trust_model", "horizon"):
        predicate = {key: value for key, value in document[0]["predicate"].items() if key != name}
        (tmp_path / "odd.json").write_text(
            sign({**document[0], "predicate": predicate}, read_private_key(keys[0])), encoding="utf-8"
        )
        code = main(["verify", str(tmp_path / "odd.json"), "--key", keys[1], "--registry", str(tmp_path / "r.yaml")])
        assert code == 2, name
        assert "internal error" not in capsys.readouterr().err


def test_what_a_revoked_key_signed_is_refused(
    cert: Path, keys: tuple[str, str], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = '[tool.dpaudit]\ntrusted_keys = ["auditor.pub"]\nrevoked_keys = ["auditor.pub"]\n'
    (cert.parent / "pyproject.toml").write_text(configuration, encoding="utf-8")
    monkeypatch.chdir(cert.parent)
    assert main(["verify", "made.json"]) == 1
    assert "revoked" in capsys.readouterr().err


def test_a_checkpoint_that_a_revoked_key_signed_is_refused(
    deployment: Path, keys: tuple[str, str], capsys: Out, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "mark.json"
    assert main(["checkpoint", str(deployment), "--key", keys[0], "--output", str(mark)]) == 0
    asked = ["verify", str(deployment), "--checkpoint", str(mark), "--key", keys[1]]
    assert main(asked) == 0
    (tmp_path / "pyproject.toml").write_text(f"[tool.dpaudit]\nrevoked_keys = [{json.dumps(keys[1])}]\n", encoding="utf-8")
    for written in (str.lower, str.upper):  # hexadecimal digits of either size name the same key
        data = json.loads(mark.read_text(encoding="utf-8"))
        mark.write_text(json.dumps({**data, "key": written(data["key"])}), encoding="utf-8")
        assert main(asked) == 1
        assert "revoked" in capsys.readouterr().err


def test_a_private_key_that_others_can_read_signs_nothing(tmp_path: Path, keys: tuple[str, str], capsys: Out) -> None:
    Path(keys[0]).chmod(0o640)
    target = f"{tmp_path / 'mechanism.py'}:noisy_sum"
    assert main(["certify", target, "-o", str(tmp_path / "c.json"), "--key", keys[0]]) == 2
    assert "others can read" in capsys.readouterr().err


def test_a_certificate_that_is_signed_for_one_ledger_opens_and_fits_no_other(
    subject: Subject, tmp_path: Path, keys: tuple[str, str], capsys: Out
) -> None:
    first, second, cert = tmp_path / "first.ledger", tmp_path / "second.ledger", tmp_path / "named.json"
    command = ["certify", str(tmp_path / "mechanism.py"), "-o", str(cert), "--key", keys[0], "--seed", "1", "--ledger"]
    assert main([*command, str(first)]) == 2  # there is none
    assert not cert.exists()
    dp.open_ledger(first).close()
    assert main([*command, str(first)]) == 0
    with dp.open_ledger(second) as ledger, pytest.raises(dp.DpauditError, match="names another ledger"):  # noqa: SIM117
        with dp.live_certified(ledger, cert, subject=subject, trusted_key=keys[1]):
            pass
    for place in (first, second):
        with dp.open_ledger(place) as ledger, dp.live(ledger, "1", proven=True):
            pass
    with dp.open_ledger(first) as ledger, dp.live_certified(ledger, cert, subject=subject, trusted_key=keys[1]) as channel:
        subject.run(dp.seal(np.zeros(100), -1, 1), channel)
    capsys.readouterr()
    assert main(["verify", str(cert), "--key", keys[1], "--ledger", str(second)]) == 1
    assert "names another ledger" in capsys.readouterr().err


def test_a_certificate_of_a_ledger_is_signed_for_that_one(deployment: Path, keys: tuple[str, str], capsys: Out) -> None:
    place = deployment.with_name("twice.json")
    assert main(["certify", str(deployment), "-o", str(place), "--key", keys[0], "--ledger", str(deployment)]) == 2
    assert "names that ledger itself" in capsys.readouterr().err
