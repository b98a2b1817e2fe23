"""The door opens for the function in the certified file, not for one put in its place; ledgers of other code do not pass."""

from __future__ import annotations

import functools
import importlib.util
import py_compile
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.certificate import NotAsCertified, Refused, audit_subject, refuse, sign, statement
from dpaudit.certificate.envelope import open_certificate
from dpaudit.certificate.source.running_code import not_its_code
from dpaudit.certificate.validity import check
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import make_algorithm, subjects_of

TWO = """
import dpaudit as dp

people = dp.replace_one(n=100, low=-1, high=1)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def noisy_sum(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=2), sensitivity=2)

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def another(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=20), sensitivity=2)

class Called:
    def __call__(self, ratings, channel):
        return channel.release("sum", ratings.sum(), dp.Laplace(scale=2), sensitivity=2)

called = dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)(Called())
"""

Opens = Callable[[Subject], None]


@pytest.fixture
def subjects(tmp_path: Path) -> dict[str, Subject]:
    (tmp_path / "two.py").write_text(TWO, encoding="utf-8")
    return {subject.name: subject for subject in subjects_of(str(tmp_path / "two.py"))}


@pytest.fixture
def certified(subjects: dict[str, Subject], key: Ed25519PrivateKey, tmp_path: Path) -> Path:
    path = tmp_path / "two.json"
    path.write_text(sign(statement(None, audit_subject(subjects["noisy_sum"], seed=1), [], []), key), encoding="utf-8")
    return path


@pytest.fixture
def opens(certified: Path, key: Ed25519PrivateKey, tmp_path: Path) -> Opens:
    def open_for(subject: Subject) -> None:
        door = {"certificate": certified, "subject": subject, "trusted_key": key.public_key()}
        with dp.open_ledger(tmp_path / "live.ledger") as ledger, dp.live_certified(ledger, **door):
            pass

    return open_for


def in_place_of(subject: Subject) -> Any:
    """A function that says it is the certified one."""

    @functools.wraps(subject.function)
    def other(ratings: Any, channel: Any) -> Any:
        return channel.release("other", ratings.sum(), dp.Laplace(scale=4), sensitivity=2)

    return other


def test_a_wrapped_function_opens_nothing_and_is_not_certified(subjects: dict[str, Subject], opens: Opens) -> None:
    honest = subjects["noisy_sum"]
    wrapped = replace(honest, function=in_place_of(honest))
    with pytest.raises(NotAsCertified, match="wrapped"):
        opens(wrapped)
    with pytest.raises(Refused, match="wrapped"):
        refuse(None, audit_subject(wrapped, seed=1), [])
    opens(honest)  # the twin


def test_a_function_that_hides_that_it_is_another_opens_nothing(subjects: dict[str, Subject], opens: Opens) -> None:
    honest = subjects["noisy_sum"]
    other = in_place_of(honest)
    del other.__wrapped__
    with pytest.raises(NotAsCertified, match="is not the one"):
        opens(replace(honest, function=other))
    honest.function.__code__ = other.__code__  # type: ignore[attr-defined]
    with pytest.raises(NotAsCertified, match="is not the one"):
        opens(honest)


def test_another_function_of_the_same_file_under_its_name_opens_nothing(subjects: dict[str, Subject], opens: Opens) -> None:
    with pytest.raises(NotAsCertified, match="configuration"):
        opens(replace(subjects["another"], name="noisy_sum"))


def test_a_partial_function_has_no_source_of_its_own(subjects: dict[str, Subject]) -> None:
    honest = subjects["noisy_sum"]
    assert not_its_code(replace(honest, function=functools.partial(honest.function))) is not None


def test_functions_objects_and_algorithms_are_found_in_their_files(subjects: dict[str, Subject]) -> None:
    assert len(subjects) == 3
    for subject in (*subjects.values(), make_algorithm("central", {"epsilon": "1", "horizon": 300})):
        assert not_its_code(subject) is None, subject.name


def test_verify_refuses_a_ledger_that_other_code_wrote_to_first(
    subjects: dict[str, Subject], certified: Path, key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    honest, other = subjects["noisy_sum"], tmp_path / "other.py"
    other.write_text("# other code\n", encoding="utf-8")
    data = dp.seal(np.zeros(200), -1, 1)
    door = {"certificate": certified, "subject": honest, "trusted_key": key.public_key()}
    for before in (True, False):
        path = tmp_path / f"{before}.ledger"
        if before:
            with dp.open_ledger(path, code=other) as ledger, dp.live(ledger, 1, proven=True) as channel:
                channel.release("not certified", data[100:].sum(), dp.Laplace(scale=2), sensitivity=2)
        with dp.open_ledger(path) as ledger, dp.live_certified(ledger, **door) as channel:
            honest.run(data[:100], channel)
        opened = open_certificate(certified, [key.public_key()])
        if before:
            with pytest.raises(NotAsCertified, match="opened for other code, too"):
                check(opened, ledger=path)
        else:
            check(opened, ledger=path)  # the twin


HELPED = """
import dpaudit as dp
import helper_of_running_code

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=100, low=-1, high=1))
def noisy_sum(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=helper_of_running_code.scale()), sensitivity=2)
"""


def test_a_helper_that_was_changed_after_its_import_is_not_what_is_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "helper_of_running_code", raising=False)
    helper = tmp_path / "helper_of_running_code.py"
    helper.write_text("def scale():\n    return 1\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(HELPED, encoding="utf-8")
    (subject,) = subjects_of(str(tmp_path / "mine.py"))
    assert not_its_code(subject) is None
    helper.write_text("def scale():\n    return 2  # what a reader sees\n", encoding="utf-8")
    assert "changed after it was imported" in (not_its_code(subject) or "")
    monkeypatch.delitem(sys.modules, "helper_of_running_code")  # the twin: loaded again
    (subject,) = subjects_of(str(tmp_path / "mine.py"))
    assert not_its_code(subject) is None


def test_foreign_bytecode_of_a_helper_is_not_what_is_certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "helper_of_running_code", raising=False)
    helper = tmp_path / "helper_of_running_code.py"
    helper.write_text("def scale():\n    return 2\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(HELPED, encoding="utf-8")
    (subject,) = subjects_of(str(tmp_path / "mine.py"))
    other = tmp_path / "other.py"
    other.write_text("def scale():\n    return 1\n", encoding="utf-8")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    cache = importlib.util.cache_from_source(str(helper))
    py_compile.compile(str(other), cfile=cache, doraise=True, invalidation_mode=unchecked)
    assert "bytecode" in (not_its_code(subject) or "")
    Path(cache).unlink()
    assert not_its_code(subject) is None
