"""Strict JSON: what is ambiguous, huge, deep or wrongly encoded is refused, with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import DpauditError
from dpaudit.ledger import MalformedJson, canonical, load_file, load_releases, loads
from dpaudit.ledger.records import strict_json as jsonl
from dpaudit.noise import written_forms

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(values)
def test_canonical_text_reads_back_and_is_a_fixed_point(value: Any) -> None:
    read = loads(canonical(value))
    assert read == value
    assert canonical(read) == canonical(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"NaN", "NaN"),
        (b"[Infinity]", "Infinity"),
        (b'{"a": -Infinity}', "Infinity"),
        (b"1e999", "out of range"),
        (b"-1e999", "out of range"),
        (b'{"a": 1, "a": 2}', "repeats a key"),
        (b'[{"b": {"a": 1, "a": 1}}]', "repeats a key"),
        (b"[" * 65 + b"]" * 65, "64 levels"),
        (b'{"a":' * 100_000, "64 levels"),
        (b"9" * 4097, "4096 digits"),
        (b"-" + b"9" * 100_000, "4096 digits"),
        (b"", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1} x', "not JSON"),
        (b'"\xff"', "UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "UTF-16"),
        ('{"a": 1}'.encode("utf-32"), "UTF-16"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b'"\\ud800"', "surrogate"),
    ],
)
def test_bad_json_is_refused_with_a_reason(text: bytes, says: str) -> None:
    with pytest.raises(MalformedJson, match=says) as refusal:
        loads(text, line=3)
    assert refusal.value.line == 3


def test_what_is_allowed_up_to_the_limits_is_read() -> None:
    assert loads(b"[" * 64 + b"]" * 64) is not None
    assert loads(b"9" * 4096) == 10**4096 - 1
    assert loads(b'"' + b"[" * 1000 + b'"') == "[" * 1000
    assert loads(b'"' + b'\\"[' * 1000 + b'"') == '"[' * 1000
    assert loads(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


def test_an_unclosed_text_of_quotes_and_brackets_takes_one_pass_and_is_refused() -> None:
    with pytest.raises(MalformedJson):
        loads(b'["' + b'\\"[' * 1_000_000)


def test_the_line_of_the_fault_is_named(tmp_path: Path) -> None:
    (tmp_path / "document.json").write_bytes(b'{\n"a": 1,\n"b": x\n}')
    with pytest.raises(MalformedJson) as refusal:
        load_file(tmp_path / "document.json")
    assert refusal.value.line == 3
    (tmp_path / "lines.jsonl").write_bytes(b'{"a": 1}\n\n{"a": NaN}\n')
    with pytest.raises(MalformedJson) as refusal:
        list(jsonl.lines(tmp_path / "lines.jsonl"))
    assert refusal.value.line == 3


def test_the_message_does_not_print_what_it_read() -> None:
    for text in (b'{"a": canary}', b'["canary", canary]', b'{"x": "canary", "x": 1}'):
        with pytest.raises(MalformedJson) as refusal:
            loads(text)
        assert "canary" not in str(refusal.value)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LARGEST_FILE", 10**6)
    (tmp_path / "large.json").write_bytes(b" " * (10**6 - 2) + b"{}")
    assert load_file(tmp_path / "large.json") == {}
    (tmp_path / "large.json").write_bytes(b" " * 10**6 + b"{}")
    with pytest.raises(MalformedJson, match="larger than 1 MB"):
        load_file(tmp_path / "large.json")


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=60) | st.text(alphabet='{}[]",:\\u0123eE.-+ntfNaI \n', max_size=60).map(str.encode))
def test_any_bytes_give_a_value_or_a_typed_error(data: bytes) -> None:
    try:
        value = loads(data)
    except MalformedJson:
        return
    assert json.loads(data) == value


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200) | st.lists(values, max_size=3).map(lambda v: b"\n".join(map(canonical, v))))
def test_a_random_file_of_releases_is_refused_with_a_typed_error(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    with pytest.raises(DpauditError):
        load_releases(path, written_forms())
